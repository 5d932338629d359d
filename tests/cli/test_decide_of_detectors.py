"""``decide`` beside a detector: in the shell, in a file, and what is said of rules that it has not."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.shell import typed


@pytest.mark.parametrize("words", [("--decide", "top 3"), ("-p", "decide={top: 3}"), ("-p", "decide=top: 3")])
def test_the_shell_says_how_many_rows_are_flagged(words: tuple[str, ...]) -> None:
    cell = json.loads(typed("eval", "faithful", "--task", "anomaly", "-m", "lof", *words, "--json").stdout)
    assert len(cell["cells"][1]["flagged"]) == 3


def test_a_file_says_it_beside_the_model(tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(
        "name: odd\ndata: [{name: faithful, task: anomaly}]\n"
        "models: [{use: lof, decide: {top: 2}}, {use: mahalanobis, decide: p < 0.05}]\n"
    )
    shown = typed("run", str(file)).stdout
    assert "2 of 272" in shown
    assert typed("check", str(file)).exit_code == 0


def test_a_rule_that_detectors_have_not_is_refused() -> None:
    shown = typed("eval", "faithful", "--task", "anomaly", "-m", "lof", "--decide", "youden")
    assert shown.exit_code != 0
    assert "top: 5" in shown.stdout + shown.stderr


def test_predictions_have_score_flagged_and_because(tmp_path: Path) -> None:
    model = tmp_path / "odd.mlcli"
    words = ("-m", "prediction-error", "-p", "decide=top 4", "-o", str(model))
    typed("train", "faithful", "--task", "anomaly", *words)
    rows = list(csv.DictReader(io.StringIO(typed("predict", str(model), "faithful").stdout)))
    assert {"score", "flagged", "because"} <= set(rows[0])
    flagged = [row for row in rows if row["flagged"] == "yes"]
    assert 1 <= len(flagged) <= 8
    assert all("higher" in row["because"] or "lower" in row["because"] for row in flagged)
