"""``--decide`` and ``--cost`` for classifiers and detectors, and the same in experiment files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import ExperimentError
from mlcli.experiment.spec.file import check, read_experiment
from tests.support.shell import document, typed

COST = "{malignant: {benign: 20}}"


def recall_of(cell: Any) -> float:
    (counts,) = (row for row, label in zip(cell["confusion"]["counts"], ("b", "m"), strict=True) if label == "m")
    return float(counts[1] / sum(counts))


def test_a_dear_error_is_made_less_often() -> None:
    plain, decided = (
        document(typed("eval", "wdbc", "-m", "naive-bayes", "--cost", COST, *more, "--json"))["cells"][-1]
        for more in ((), ("--decide", "cost"))
    )
    assert decided["label"] == "naive-bayes (by cost)"
    assert decided["params"]["cost"] == {"malignant": {"benign": 20}}
    assert recall_of(decided) > recall_of(plain)
    counts = decided["confusion"]["counts"]
    mean = (20 * counts[1][0] + counts[0][1]) / 569
    assert decided["metrics"]["cost"]["mean"] == pytest.approx(mean, abs=0.02)
    assert decided["metrics"]["cost"]["low"] >= 0
    assert decided["metrics"]["auc"]["mean"] == pytest.approx(plain["metrics"]["auc"]["mean"])


def test_an_experiment_says_the_same(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        f"data: [wdbc]\ncost: {COST}\nmodels:\n  - {{use: naive-bayes, decide: cost}}\n"
        "  - {use: knn, grid: {k: [3, 9]}, decide: {by: youden, folds: 3}}\nmetrics: [cost, accuracy]\n"
        "protocol: {folds: 3}\n"
    )
    assert check(spec) == []
    result = typed("run", str(spec), "--json")
    cells = document(result)["cells"]
    assert [cell["params"]["by"] for cell in cells[2:]] == ["cost", "youden", "youden"]
    assert [cell["label"] for cell in cells[2:]] == [
        "naive-bayes (by cost)",
        *(f"knn (by youden) base.k={k}" for k in (3, 9)),
    ]
    assert list(cells[1]["metrics"]) == ["cost", "accuracy"]
    again = document(typed("runs", "show", "1", "--store", str(tmp_path / ".mlcli" / "runs.db"), "--json"))[
        "cells"
    ]
    assert again[1]["metrics"] == cells[1]["metrics"]


@pytest.mark.parametrize(
    ("line", "place", "said"),
    [
        ("models: [{use: knn, decide: f2}]", "2:21", "by is one of f1, youden"),
        ("models: [{use: knn, decide: {by: f1, folds: 1}}]", "2:38", "at least 2"),
        ("models: [{use: knn, decide: 3}]", "2:21", "such as decide: f1"),
        ("models: [{use: knn, decide: {base: knn}}]", "2:21", "leave out 'base'"),
        ("models: [{use: ridge, decide: f1}]", "2:23", "ridge is no classifier"),
        ("models: [{use: knn, decide: {by: f1, cost: {a: {b: 1}}}}]", "2:21", "by cost or expected-cost"),
        ("cost: {malignant: 3}", "2:1", "mapping of predicted classes"),
        ("cost: {malignent: {benign: 3}}", "", "no class 'malignent'"),
    ],
)
def test_mistakes_are_found_where_they_stand(tmp_path: Path, line: str, place: str, said: str) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"data: [wdbc]\n{line}\n")
    found = "\n".join(map(str, check(spec)))
    assert said in found
    assert f"spec.yaml:{place}" in found or not place
    with pytest.raises(ExperimentError):
        typed_plan(spec)


def typed_plan(spec: Path) -> None:
    from mlcli.experiment.spec.plan import plan

    plan(read_experiment(spec))


def test_a_decided_model_is_saved_and_asked(tmp_path: Path) -> None:
    model = tmp_path / "rule.mlcli"
    rule = "{use: decision-rule, params: {base: naive-bayes, by: youden}}"
    assert typed("train", "wdbc", "-m", rule, "-o", str(model)).exit_code == 0
    shown = typed("predict", str(model), "wdbc")
    assert shown.exit_code == 0
    assert "malignant" in shown.stdout


def test_options_that_cannot_be_followed() -> None:
    assert "no model to decide for" in typed("eval", "wdbc", "--decide", "f1").output
    assert "mapping of predicted classes" in typed("eval", "wdbc", "-m", "knn", "--cost", "{a: 3}").output
    assert "no class 'a'" in typed("eval", "wdbc", "-m", "knn", "--cost", "{a: {b: 3}}").output


def test_curves_of_probabilities_are_drawn_and_written() -> None:
    words = ("eval", "wdbc", "-m", "naive-bayes", "--show", "curves")
    shown = typed(*words).stdout
    for title in ("ROC, class malignant", "Precision and recall, class malignant", "Calibration, class malignant"):
        assert title in shown
    cell = document(typed(*words, "--json"))["cells"][1]
    roc, recall, calibration = cell["curves"]
    assert roc["title"] == "ROC of malignant"
    assert (roc["points"][0], roc["points"][-1]) == (0.0, 1.0)
    assert dict(recall["series"])["precision"][0] == 1.0
    assert len(calibration["points"]) <= 10
    several = typed("eval", "wine", "-m", "naive-bayes", "--show", "curves", "--json")
    titles = [curve["title"] for curve in document(several)["cells"][1]["curves"]]
    assert titles[::3] == ["ROC of class_0", "ROC of class_1", "ROC of class_2"]
    assert "curves" not in document(typed("eval", "wdbc", "-m", "naive-bayes", "--json"))["cells"][1]


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
