"""The commands in every guide run as they stand, and print what the guide shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_guides import PAGES, assert_page_is_true

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_page_is_true(page, tmp_path, monkeypatch)
