"""Every repair that ``audit`` prints about a shipped dataset resolves its issue, with and without its sidecar."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.data.shipped import shipped_paths
from tests.checks.repairs import apply_to_shipped

pytestmark = pytest.mark.slow

WORSE_WITHOUT_SIDECAR = (
    "breast_cancer",
    "cmudict_stress",
    "housing_satisfaction",
    "olive",
    "supermarket_2000",
    "travelmode",
)
"""Datasets with more issues where only their target is declared."""


@pytest.mark.parametrize("name", shipped_paths())
def test_repairs_of_a_shipped_dataset(name: str, tmp_path: Path) -> None:
    apply_to_shipped(name, tmp_path)


@pytest.mark.parametrize("name", WORSE_WITHOUT_SIDECAR)
def test_repairs_of_a_shipped_dataset_without_its_sidecar(name: str, tmp_path: Path) -> None:
    apply_to_shipped(name, tmp_path, with_sidecar=False)
