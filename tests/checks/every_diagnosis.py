"""Every option that ``diagnose`` prints about a model of each shipped dataset can be typed as it stands.

It takes minutes, so that ``make test-repairs`` runs it and ``make test`` does not.
"""

from __future__ import annotations

import pytest

from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from tests.repairs.test_18_repairs_of_a_diagnosis import test_every_option_of_a_diagnosis_can_be_typed as check

METHODS = {
    "classification": "decision-tree",
    "regression": "ridge",
    "clustering": "k-means",
    "anomaly": "z-score",
    "ranking": "ranking-svm",
    "recommendation": "user-item-bias",
    "sequence-labelling": "hmm",
    "association": "fp-growth",
}
"""A method for each kind of task that a shipped dataset has."""


@pytest.mark.parametrize("name", shipped_paths())
def test_options_of_a_diagnosis_of_a_shipped_dataset(name: str) -> None:
    check(name, METHODS[str(load(name).task)])
