"""``decide`` beside a detector: in the shell, in a file, and what is said of rules that it has not."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.shell import typed


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
    assert typed("run", str(file), "--dry-run").exit_code == 0


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


def test_the_oddest_of_the_judged_rows_are_flagged() -> None:
    words = ("eval", "wdbc", "--task", "anomaly", "-m", "z-score", "--decide", "top 7", "--json")
    assert len(json.loads(typed(*words).stdout)["cells"][1]["flagged"]) == 7


SENSORS = "target: odd\nanomaly: bad\ntask: anomaly\ncolumns:\n"


def sensors(folder: Path, roles: str) -> str:
    """Two sensors, hour by hour, in an order of the file that says nothing; one is silent for a while."""
    rng = np.random.default_rng(1)
    rows = [
        f"{sensor},{hour},{season},{warm + rng.normal():.2f},"
        + (f"{rng.poisson(4)},good" if sensor == "a" or not 50 <= hour < 60 else "0,bad")
        for sensor in "ab"
        for hour in range(80)
        for season, warm in [("summer", 20) if hour < 40 else ("winter", 0)]
    ]
    text = "\n".join(["sensor,hour,season,degrees,calls,odd", *rng.permutation(rows)])
    (folder / "sensors.csv").write_text(text + "\n")
    (folder / "sensors.yaml").write_text(SENSORS + roles)
    return str(folder / "sensors.csv")


def test_windows_follow_the_order_and_end_with_their_sequence(tmp_path: Path) -> None:
    data = sensors(tmp_path, "  sensor: {role: sequence}\n  hour: {role: order}\n  season: {role: context}\n")
    words = ("--protocol", "whole", "-m", "collective", "-p", "base=mahalanobis", "--json")
    cells = json.loads(typed("eval", data, *words).stdout)["cells"]
    assert cells[1]["metrics"]["auc"]["mean"] > 0.9
    model = tmp_path / "odd.mlcli"
    typed("train", data, *words[2:-1], "-o", str(model))
    rows = list(csv.DictReader(io.StringIO(typed("predict", str(model), data).stdout)))
    assert np.mean([float(row["score"]) for row in rows if row["odd"] == "bad"]) > np.mean(
        [float(row["score"]) for row in rows if row["odd"] == "good"]
    )


def test_columns_of_context_are_compared_by_and_hidden_from_others(tmp_path: Path) -> None:
    data = sensors(tmp_path, "  sensor: {role: ignore}\n  hour: {role: ignore}\n  season: {role: context}\n")
    shown = typed("eval", data, "--protocol", "whole", "-m", "contextual", "-m", "lof").stdout
    assert "steps before lof: drop (columns=season)" in shown
    model = tmp_path / "odd.mlcli"
    typed("train", data, "-m", "contextual", "-o", str(model))
    (tmp_path / "new.csv").write_text("season,degrees,calls\nsummer,20,4\nwinter,20,4\n")
    usual, odd = csv.DictReader(io.StringIO(typed("predict", str(model), str(tmp_path / "new.csv")).stdout))
    assert float(odd["score"]) > 5 * float(usual["score"])
