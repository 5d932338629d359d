"""Fairness in the shell: what --fair shows, in text and JSON, and who sees sensitive columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.metrics.fairness import individual_fairness
from tests.support.shell import document, typed


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    """Who gets a loan: income decides, and one group earns less; the smallest group has five rows."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], [120, 75, 5])
    income = rng.normal(0, 1, 200) + np.where(group == "a", 0.8, 0.0)
    paid = np.where(income + rng.normal(0, 0.7, 200) > 0.3, "yes", "no")
    lines = (f"{x:.3f},{g},{y}" for x, g, y in zip(income, group, paid, strict=True))
    path = tmp_path / "loans.csv"
    path.write_text("income,origin,paid\n" + "\n".join(lines) + "\n")
    return path


ASKED = ("--sensitive", "origin", "--show", "fairness", "--folds", "3", "-m", "naive-bayes")


def test_text_shows_groups_gaps_similar_rows_and_costs(loans: Path) -> None:
    done = typed("eval", str(loans), *ASKED)
    assert done.exit_code == 0
    for heading in (
        "Groups",
        "Fairness by origin: yes",
        "Differences between groups",
        "Individual fairness: similar rows, similar answers",
        "Trade-off of fairness and accuracy",
    ):
        assert heading in done.stdout
    assert "too few" in done.stdout
    assert "drop (columns=origin)" in done.stdout


def test_rates_of_few_rows_are_fractions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SOURCES.md, 1.4: One-R on outlook by group windy."""
    monkeypatch.chdir(tmp_path)
    asked = ("--sensitive", "windy", "--positive", "yes")
    typed("train", "weather_nominal", "-m", "one-r", *asked, "-o", "rule.mlcli")
    lines = typed("eval", "weather_nominal", "-m", "rule.mlcli", *asked, "--show", "fairness").stdout.splitlines()
    rates = {words[0]: words[3:7] for line in lines if (words := line.split())[1:2] in (["6"], ["8"])}
    # selected, true and false positive rate, precision
    assert rates == {"TRUE": ["4/6", "2/3", "2/3", "2/4"], "FALSE": ["5/8", "5/6", "0/2", "5/5"]}


def test_json_has_every_rate_and_says_where_there_are_too_few_rows(loans: Path) -> None:
    done = typed(
        "eval", str(loans), *ASKED, "--format", "json", "--average", "pooled", "--metric", "demographic-parity"
    )
    cell = json.loads(done.stdout)["cells"][1]
    (by,) = cell["fairness"]["groups"]
    assert (by["columns"], by["class"]) == (["origin"], "yes")
    assert [(one["label"], one["rows"]) for one in by["groups"]] == [("a", 120), ("b", 75), ("c", 5)]
    selected = [one["rates"]["selected"]["value"] for one in by["groups"]]
    assert selected[2] is None
    assert by["gaps"]["demographic-parity"]["difference"] == pytest.approx(abs(selected[0] - selected[1]))
    assert cell["metrics"]["demographic-parity"]["mean"] == pytest.approx(abs(selected[0] - selected[1]))
    assert 0 <= cell["fairness"]["individual"]["consistency"] <= 1


def test_a_criterion_decides_by_thresholds_of_groups(loans: Path) -> None:
    done = typed("eval", str(loans), *ASKED, "--decide", "demographic-parity", "--format", "json")
    cell = json.loads(done.stdout)["cells"][-1]
    assert (cell["model"], cell["params"]["by"]) == ("fair-thresholds", "demographic-parity")
    assert cell["steps"] == []


def test_a_saved_model_needs_no_hidden_column(loans: Path, tmp_path: Path) -> None:
    saved, new = tmp_path / "m.mlcli", tmp_path / "new.csv"
    assert (
        typed("train", str(loans), "--sensitive", "origin", "-m", "naive-bayes", "-o", str(saved)).exit_code == 0
    )
    new.write_text("income\n0.1\n2.5\n")
    done = typed("predict", str(saved), str(new))
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 3
    assert "origin" not in done.stdout


@pytest.mark.parametrize(
    ("name", "said"), [("orgin", "there is no column 'orgin' to be sensitive"), ("paid", "'paid' is the target")]
)
def test_what_cannot_be_sensitive_is_refused(loans: Path, name: str, said: str) -> None:
    done = typed("eval", str(loans), "--sensitive", name)
    assert done.exit_code != 0
    assert said in done.stderr


def test_without_groups_fair_says_how_to_get_some(loans: Path) -> None:
    done = typed("eval", str(loans), "--show", "fairness", "--folds", "3", "-m", "naive-bayes")
    assert "name one with --sensitive COLUMN" in done.stdout


def test_an_experiment_file_names_sensitive_columns(loans: Path) -> None:
    spec = loans.with_name("spec.yaml")
    spec.write_text(
        "data: [{path: loans.csv, sensitive: [origin]}]\nmodels: [naive-bayes]\nprotocol: {folds: 3}\n"
    )
    done = typed("run", str(spec), "--show", "fairness")
    assert "Fairness by origin: yes" in done.stdout
    spec.write_text("data: [{path: loans.csv, sensitive: [1]}]\nmodels: [naive-bayes]\n")
    assert "takes names of columns" in typed("run", str(spec), "--dry-run").stderr


def test_a_file_asks_for_it_and_numbers_make_groups_by_quarters(loans: Path) -> None:
    file = loans.parent / "fair.yaml"
    file.write_text(
        "data: [{path: loans.csv, target: paid, sensitive: [income]}]\nfair: true\nprotocol: {folds: 3}\n"
        "models: [{use: fair-thresholds, params: {base: naive-bayes, lots: true}}]\n"
    )
    done = typed("run", str(file))
    assert "'income' holds numbers: its groups are quarters of the rows (below" in done.stdout + done.stderr
    assert "Fairness by income: yes" in done.stdout


def test_pairs_by_hand() -> None:
    # Similarities: 0.95 (answered alike), 0.85 (differently), 0.8 (differently).
    distances = np.array([[0.0, 0.05, 0.15], [0.05, 0.0, 0.2], [0.15, 0.2, 0.0]])
    answers = np.array([1.0, 1.0, 0.0])
    for similarity, pairs, different in ((0.9, 1, 0.0), (0.82, 2, 1 / 2), (0.5, 3, 2 / 3)):
        found = individual_fairness(distances, answers, None, np.ones(3), similarity)
        assert (found.similarity, found.pairs) == (similarity, pairs)
        assert found.decided_differently == pytest.approx(different)


def individual(*words: str) -> Any:
    result = typed(*words, "--json")
    assert result.exit_code == 0, result.output
    return next(cell for cell in document(result)["cells"] if cell["model"] == "naive-bayes")["fairness"][
        "individual"
    ]


def test_a_file_sets_the_threshold(tmp_path: Path) -> None:
    usual = individual("eval", "arrests", "-m", "naive-bayes", "--protocol", "holdout", "--show", "fairness")
    file = tmp_path / "spec.yaml"
    file.write_text("data: [arrests]\nmodels: [naive-bayes]\nprotocol: holdout\nsimilarity: 0.99\n")
    strict = individual("run", str(file))
    assert (usual["similarity"], strict["similarity"]) == (0.9, 0.99)
    assert strict["pairs"] < usual["pairs"]
    assert "more than 0.99 alike" in " ".join(typed("run", str(file)).output.split())


@pytest.mark.parametrize("share", ["1", "-0.1", "2"])
def test_what_is_no_similarity_is_refused(share: str, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(f"data: [arrests]\nsimilarity: {share}\n")
    assert typed("run", str(file)).exit_code == 3


def test_files_that_differ_are_not_shown_together(tmp_path: Path) -> None:
    for name, share in (("one", 0.8), ("two", 0.95)):
        text = f"data: [arrests]\nmodels: [naive-bayes]\nsimilarity: {share}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    result = typed("run", str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"))
    assert result.exit_code == 2
    assert "differ in 'similarity': 0.8, 0.95" in result.output
