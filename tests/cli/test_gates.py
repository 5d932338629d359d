"""Gates: what is expected of models, what comes of it, and what CI is told."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.shell import document, typed

HEAD = "data: [iris]\nmodels: [lda, one-r]\nprotocol: {folds: 5}\nmetrics: [accuracy]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gates(*expected: str) -> tuple[int, dict[tuple[str, str], bool]]:
    """The exit code of an experiment that expects this, and which gates have passed."""
    lines = "".join(f"  - {one}\n" for one in expected)
    Path("gates.yaml").write_text(f"{HEAD}expect:\n{lines}")
    result = typed("run", "gates.yaml", "--json")
    passed = {(gate["model"], gate["expected"]): gate["passed"] for gate in document(result)["gates"]}
    return result.exit_code, passed


def test_a_bound_is_of_the_cautious_end_unless_said(folder: Path) -> None:
    cell = document(typed("eval", "iris", "-m", "lda", "--folds", "5", "--metric", "accuracy", "--json"))["cells"][
        -1
    ]
    score = cell["metrics"]["accuracy"]
    between = (score["low"] + score["mean"]) / 2
    code, passed = gates(
        f"{{score: accuracy >= {between}, model: lda}}",
        f"{{score: accuracy.mean >= {between}, model: lda}}",
        f"{{score: error-rate < {1 - between}, model: lda}}",
        f"{{score: error-rate.mean < {1 - between}, model: lda}}",
    )
    assert code == 8
    assert list(passed.values()) == [False, True, False, True]
    assert [expected.split()[0] for _, expected in passed] == [
        "accuracy.low",
        "accuracy.mean",
        "error-rate.high",
        "error-rate.mean",
    ]


def test_every_model_that_was_asked_for_is_judged_and_the_baseline_is_not(folder: Path) -> None:
    code, passed = gates("accuracy.low >= 0.5")
    assert code == 0
    assert passed == {("lda", "accuracy.low >= 0.5"): True, ("one-r", "accuracy.low >= 0.5"): True}


def test_a_model_beats_another_only_where_that_is_no_chance(folder: Path) -> None:
    code, passed = gates("beats: zero-r", "{beats: lda, model: one-r}", "{beats: knn, model: lda}")
    assert code == 8
    assert passed[("lda", "beats zero-r")]
    assert passed[("one-r", "beats zero-r")]
    assert not passed[("one-r", "beats lda")]
    assert not passed[("lda", "beats knn")]


def test_a_run_does_not_fall_behind_another(folder: Path) -> None:
    assert gates("accuracy >= 0.1")[0] == 0
    assert gates("not-worse-than: {run: 1, by: 0.01}") == (
        0,
        {
            ("lda", "not worse than in run 1 by 0.01"): True,
            ("one-r", "not worse than in run 1 by 0.01"): True,
        },
    )
    worse = HEAD.replace("[lda, one-r]", "[{use: knn, params: {k: 120}, as: lda}]")
    Path("worse.yaml").write_text(worse + "expect: [{not-worse-than: {run: gates.yaml, by: 0.01}}]\n")
    result = typed("run", "worse.yaml")
    assert result.exit_code == 8
    assert "95 % interval" in result.stdout.partition("Gates")[2]
    Path("worse.yaml").write_text(worse.replace("5", "4") + "expect: [{not-worse-than: 1}]\n")
    assert "on other rows" in typed("run", "worse.yaml").stdout


def test_what_nothing_can_be_judged_by_has_failed(folder: Path) -> None:
    code, passed = gates("{score: accuracy >= 0.1, model: knn}")
    assert (code, passed) == (8, {("knn", "accuracy.low >= 0.1"): False})


def test_fail_under_knows_which_side_is_worse() -> None:
    told = typed("eval", "cpu", "-m", "linear-regression", "--metric", "rmse", "--fail-under", "rmse=1")
    assert told.exit_code == 8
    assert "rmse.high <= 1" in told.stdout
    assert "1 gate failed" in told.stderr
    assert typed("eval", "iris", "-m", "lda", "--fail-under", "accuracy.mean=0.9").exit_code == 0
    assert "it has no worse side" in typed("eval", "cpu", "-m", "ridge", "--fail-under", "bias=1").stdout


def test_ci_reads_junit_and_a_summary(folder: Path) -> None:
    (folder / "spec.yaml").write_text("data: [iris]\nmodels: [lda, linear-regression]\n")
    words = ("run", "spec.yaml", "--fail-under", "accuracy=0.999")
    for force in ((), ("--force",)):
        assert typed(*words, "--junit", "out/junit.xml", "--summary", "out/summary.md", *force).exit_code == 5
    suite = ET.parse(folder / "out" / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    failed = {case.get("name"): case[0].get("message") for case in suite if len(case)}
    assert "linear-regression does regression" in str(failed["linear-regression"])
    assert str(failed["lda: accuracy.low >= 0.999"]).startswith("found 0.9")
    summary = (folder / "out" / "summary.md").read_text()
    assert summary.count("## Gates") == 2
    assert "| iris | lda | accuracy.low \\>= 0.999 |" in summary
    assert "| model | accuracy |" in summary


WRONG = [
    ("accuracy is good", "this is no bound of a score"),
    ("{beats: 3}", "'beats' takes the name of a model"),
    ("{not-worse-than: {by: 0.1}}", "'not-worse-than' takes a run and a margin"),
    ("{not-worse-than: {run: 1, by: -1}}", "'not-worse-than' takes a run and a margin"),
    ("{model: lda}", "takes one of score, beats, not-worse-than"),
    ("{score: accuracy > 1, modle: lda}", "there is no key 'modle' here"),
    ("acuracy >= 0.9", "did you mean 'accuracy'"),
    ("7", "an expectation is text or a mapping"),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=lambda part: part)
def test_what_cannot_be_expected_is_told_with_its_place(folder: Path, line: str, said: str) -> None:
    Path("gates.yaml").write_text(f"{HEAD}expect:\n  - {line}\n")
    result = typed("run", "gates.yaml")
    assert result.exit_code == 3
    assert said in result.stderr
    assert "gates.yaml:6:" in result.stderr


def test_fail_under_takes_a_metric_and_a_number() -> None:
    for text in ("accuracy", "accuracy=high"):
        result = typed("eval", "iris", "-m", "lda", "--fail-under", text)
        assert (result.exit_code, "such as accuracy=0.9" in result.stderr) == (2, True)
    assert typed("eval", "iris", "-m", "lda", "--fail-under", "acuracy=0.9").exit_code == 2


SPEC = "models: [lda]\nprotocol: {folds: 3}\nmetrics: [accuracy]\n"


def run_gates(data: str, gates: str, spec: str = SPEC) -> tuple[dict[str, str], list[dict[str, object]]]:
    Path("gates.yaml").write_text(f"data: [{data}]\n{spec}expect: [{gates}]\n")
    results = document(typed("run", "gates.yaml", "--json", "-j", "1"))
    return {cell["model"]: cell["status"] for cell in results["cells"]}, results["gates"]


def test_a_gate_runs_one_r_on_a_table_that_is_too_large_for_it_otherwise(folder: Path) -> None:
    cells, (gate,) = run_gates("digits", "beats: one-r")
    assert cells == {"zero-r": "done", "one-r": "done", "lda": "done"}
    assert (gate["model"], gate["passed"]) == ("lda", True)


def test_a_gate_runs_any_method_that_is_not_among_the_models(folder: Path) -> None:
    cells, gates = run_gates("iris", "beats: knn")
    assert cells["knn"] == "done"
    assert [(gate["model"], gate["passed"]) for gate in gates] == [("lda", False)]
    assert "knn" not in run_gates("iris, wine", "{data: wine, beats: zero-r}")[0]


def test_a_gate_runs_its_method_where_models_are_chosen_by_a_validation_part(folder: Path) -> None:
    spec = "models: [lda, naive-bayes]\nprotocol: train-validation-test\nmetrics: [accuracy]\n"
    cells, gates = run_gates("iris", "beats: one-r", spec)
    assert cells["one-r"] == "done"
    assert [gate["model"] for gate in gates] == ["chosen"]


def test_a_gate_with_an_unknown_name_is_refused_before_anything_is_run(folder: Path) -> None:
    Path("gates.yaml").write_text(f"data: [iris]\n{SPEC}expect:\n  - beats: one-rr\n")
    result = typed("run", "gates.yaml")
    assert result.exit_code == 3
    assert "gates.yaml:6:5: 'beats': there is no model 'one-rr'" in result.stderr
    assert "did you mean 'one-r'?" in result.stderr


def test_one_r_that_is_left_out_of_a_large_table_is_named(folder: Path) -> None:
    shown = typed("eval", "digits", "-m", "lda", "--metric", "accuracy", "--folds", "3", "-j", "1")
    assert shown.exit_code == 0
    line = next(line for line in shown.stdout.splitlines() if line.startswith("one-r"))
    assert line.split()[1] == "skipped"
    assert line.endswith("add it with -m one-r")


def test_a_reference_model_that_compare_leaves_out_is_not_called_unscored(folder: Path) -> None:
    Path("two.yaml").write_text("data: [iris]\nmodels: [lda, knn]\nprotocol: {folds: 3}\n")
    assert typed("run", "two.yaml").exit_code == 0
    assert "no score to compare" not in typed("compare", "two.yaml").stdout
    assert "one-r" in typed("compare", "two.yaml", "--against", "one-r").stdout
