"""The codes of verdicts and remarks, as ``--json`` writes them beside the messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import document, typed


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No store of an earlier run."""
    monkeypatch.chdir(tmp_path)


def test_the_verdict_names_the_best_and_those_that_do_not_differ() -> None:
    (verdict,) = document(typed("eval", "iris", "-m", "lda", "-m", "knn", "-m", "one-r", "--json"))["verdicts"]
    assert (verdict["code"], verdict["metric"], verdict["dataset"]) == ("best", "accuracy", "iris")
    assert verdict["best"]["model"] == "lda"
    assert verdict["baseline"]["model"] == "zero-r"
    assert verdict["gain"] == pytest.approx(verdict["best"]["mean"] - verdict["baseline"]["mean"])
    assert verdict["gain_is_significant"]
    assert "knn" in verdict["alike"]
    assert verdict["selection"] == {"code": "best-of-several", "among": 3}


def test_a_baseline_that_leave_one_out_misleads_has_a_remark() -> None:
    found = document(typed("eval", "iris", "-m", "knn", "--protocol", "leave-one-out", "--json"))
    remarks = {cell["label"]: cell.get("remarks", []) for cell in found["cells"]}
    assert {"code": "largest-class", "share": pytest.approx(1 / 3)} in remarks["zero-r"]
    assert remarks["knn"][0]["code"] == "closed-form"
    assert (remarks["knn"][0]["splits"], remarks["knn"][0]["of_splits"]) == (150, 150)
    (verdict,) = found["verdicts"]
    assert verdict["is_largest_class"]
