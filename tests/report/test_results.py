"""Tables from hand-made results: what is best, what is undefined, what went wrong and what is told below."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.answers import Answers, Header
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.serialise import plain
from mlcli.experiment.results import SplitResult
from mlcli.experiment.spec.cells import Cell, CellResult, DatasetFacts, ModelSpec, ProtocolSpec, StepSpec
from mlcli.metrics.confusion import Confusion
from mlcli.metrics.scores.labels import ClassRates
from mlcli.report.formats.text import text_of
from mlcli.report.page import Page
from mlcli.report.views.classification import confusion_of
from mlcli.report.views.results import Details, results_of
from mlcli.scoring.model_results import score_result
from mlcli.scoring.records import experiment_record
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers

CLASSES = ("red", "blue", "gold")
TRUTH = (0, 1, 0, 1, 2)
"""Red, blue, gold: SOURCES.md, section 3."""
PREDICTED = (0, 0, 1, 0, 1)
DATA = DatasetFacts(
    name="colours",
    content="c",
    rows=5,
    schema=Schema((SchemaField(Column("x")), SchemaField(Column("colour", "nominal", CLASSES), "target"))),
    notes=("the target was guessed",),
)
NUMBERS = replace(
    DATA, name="sizes", schema=Schema((SchemaField(Column("x")), SchemaField(Column("size"), "target")))
)


def cell(model: str, kind: str = "classification", label: str = "", steps: tuple[StepSpec, ...] = ()) -> Cell:
    data = DATA if kind == "classification" else NUMBERS
    spec = ModelSpec(model, label=label)
    return Cell(data, kind, spec, steps, ProtocolSpec("holdout", {"test_share": 0.3, "repeats": 1}), seed=1)


def labels(predicted: tuple[int, ...], truth: tuple[int, ...] = TRUTH) -> LabelAnswers:
    codes = np.array(predicted, np.int32)
    return LabelAnswers(
        header=Header(rows=np.arange(len(truth))),
        truth=np.array(truth, np.int32),
        predicted=codes,
        classes=CLASSES,
        probabilities=np.eye(3)[codes],
    )


def result(of: Cell, *answers: Answers, warnings: tuple[str, ...] = ()) -> CellResult:
    splits = tuple(
        SplitResult(place, f"split {place}", 10, {"test": one}, 0.25, 0.5, warnings=warnings if place == 0 else ())
        for place, one in enumerate(answers)
    )
    return CellResult(of, "done", splits=splits)


def text(*results: CellResult, metrics: tuple[str, ...] = ("accuracy",), width: int | None = None) -> str:
    return text_of(results_of([score_result(one, metrics) for one in results]), Page(width))


def test_the_matrix_is_that_of_the_notes() -> None:
    """SOURCES.md, section 3: red 1 1 0, blue 2 0 0, gold 0 1 0; precision 1/3, 0, 0/0; F1 0.4, 0, 0."""
    said = text(result(cell("one-r"), labels(PREDICTED)))
    lines = [line.split() for line in said.splitlines()]
    assert ["red", "1", "(50", "%)", "1", "(50", "%)", "0", "2", "0.333", "0.400"] in lines
    assert ["blue", "2", "(100", "%)", "0", "0", "2", "0.000", "0.000"] in lines
    assert ["gold", "0", "1", "(100", "%)", "0", "1", "0/0", "0.000"] in lines


def test_the_document_is_that_of_the_notes() -> None:
    """SOURCES.md, section 3: accuracy 0.2, macro F1 0.133333, weighted precision 0.133333."""
    names = ("accuracy", "f1-macro", "precision-weighted")
    found = plain(experiment_record([score_result(result(cell("one-r"), labels(PREDICTED)), names)]))["cells"][0]
    means = [found["metrics"][name]["mean"] for name in names]
    assert means == pytest.approx([0.2, 0.133333, 0.133333], abs=5e-7)
    assert found["confusion"] == {"labels": list(CLASSES), "counts": [[1, 1, 0], [2, 0, 0], [0, 1, 0]]}
    assert [(one["label"], one["precision"]) for one in found["classes"]] == [
        ("red", pytest.approx(1 / 3)),
        ("blue", 0.0),
        ("gold", None),
    ]
    assert found["seconds"] == {"fit": 0.25, "predict": 0.5}
    assert found["notes"] == ["the target was guessed"]


def test_zero_by_zero_is_marked() -> None:
    said = text(result(cell("one-r"), labels(PREDICTED)), metrics=("precision-macro",))
    assert "one-r: precision-macro: " in said
    assert "gold" in said.partition("one-r: precision-macro: ")[2].splitlines()[0]
    assert "0/0 counts as 0" in said


def test_the_best_of_each_metric_is_marked_whichever_way_it_goes() -> None:
    good, bad = result(cell("one-r"), labels(TRUTH)), result(cell("knn"), labels(PREDICTED))
    said = text(bad, good, metrics=("accuracy", "error-rate"))
    line = next(line for line in said.splitlines() if line.startswith("one-r"))
    assert "*1.000" in line
    assert "*0.000" in line
    assert "*" not in next(line for line in said.splitlines() if line.startswith("knn"))


def test_a_score_that_is_undefined_says_why_and_is_no_zero() -> None:
    said = text(result(cell("zero-r"), labels((0,) * 5)), metrics=("mcc",))
    assert "undefined" in next(line for line in said.splitlines() if line.startswith("zero-r"))
    assert "zero-r: mcc: the same class is predicted for every row" in said


@pytest.mark.parametrize("status", ["failed", "over-budget", "died", "skipped"])
def test_a_cell_that_did_not_end_well_stands_there_with_its_reason(status: str) -> None:
    broken = CellResult(cell("knn"), status, why="for a reason")
    said = text(result(cell("one-r"), labels(TRUTH)), broken)
    assert [status, "for", "a", "reason"] == next(
        line.split()[1:] for line in said.splitlines() if line.startswith("knn")
    )
    document = plain(experiment_record([score_result(broken)]))["cells"][0]
    assert (document["status"], document["why"], document["metrics"]) == (status, "for a reason", {})


def test_rows_without_a_target_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    of = replace(cell("one-r"), dataset=replace(DATA, rows=7, unlabelled=2))
    found = result(of, labels(TRUTH))
    assert "7 rows (2 without a target left out), 1 feature" in text(found)
    document = plain(experiment_record([score_result(found)]))["cells"][0]
    assert (document["rows"], document["rows_without_target"]) == (5, 2)


def test_it_is_told_which_models_learn_from_rows_without_a_target() -> None:
    few = replace(DATA, rows=7, unlabelled=2)
    both = [result(replace(cell(use), dataset=few), labels(TRUTH)) for use in ("one-r", "self-training")]
    assert "7 rows (2 without a target, used by self-training only), 1" in text(*both)


def test_weights_and_groups_are_told_and_weights_are_not_called_rows() -> None:
    roles = (SchemaField(Column("w"), "weight"), SchemaField(Column("ward", "nominal", ("a", "b")), "group"))
    of = replace(cell("one-r"), dataset=replace(DATA, schema=Schema((*DATA.schema.fields, *roles))))
    said = text(result(of, labels(PREDICTED)))
    assert "rows kept together by 'ward'; rows weighted by 'w'; holdout" in said
    header = next(line for line in said.splitlines() if line.startswith("true"))
    assert header.split()[-3:] == ["weight", "precision", "f1"]


def test_no_interval_has_no_width() -> None:
    said = text(result(cell("one-r"), *[labels(PREDICTED)] * 3), metrics=("f1-macro",))
    assert "0.133" in said
    assert "±0.000" not in said


def test_what_is_as_good_as_all_others_is_not_called_best() -> None:
    said = text(result(cell("one-r"), labels(TRUTH)), result(cell("knn"), labels(TRUTH)))
    assert "*" not in said


def test_scores_of_very_different_sizes_are_never_shown_as_zero() -> None:
    truth = np.array([1e6, 2e6, 3e6])
    results = [
        result(
            cell(name, "regression"),
            ValueAnswers(
                header=Header(rows=np.arange(3)),
                truth=truth,
                predicted=truth + error * np.array([0.8, 1.0, 1.2]),
            ),
        )
        for name, error in (("knn", 1e6), ("ridge", 0.25))
    ]
    lines = text(*results, metrics=("mae",)).splitlines()
    assert "*0.25 ±" in next(line for line in lines if line.startswith("ridge"))
    assert " 1e+06 ±" in next(line for line in lines if line.startswith("knn"))


def test_what_looks_equally_good_is_equally_marked() -> None:
    values = ValueAnswers(
        header=Header(rows=np.arange(3)),
        truth=np.array([1.0, 2, 3]),
        predicted=np.array([2.0, 2, 4]),
    )
    noise = replace(values, predicted=values.predicted + 1e-13)
    worse = replace(values, predicted=values.predicted + 1)
    results = [
        result(cell(name, "regression"), one) for name, one in zip("abc", (values, noise, worse), strict=True)
    ]
    lines = text(*results, metrics=("bias",)).splitlines()
    assert ["*" in next(line for line in lines if line.startswith(f"{name} ")) for name in "abc"] == [
        True,
        True,
        False,
    ]


def test_rounding_noise_looks_like_zero() -> None:
    values = ValueAnswers(
        header=Header(rows=np.arange(3)),
        truth=np.array([1.0, 2, 3]),
        predicted=np.array([2.0, 1, 3 - 2.66e-16]),
    )
    line = next(
        line
        for line in text(result(cell("knn", "regression"), values), metrics=("bias",)).splitlines()
        if "knn" in line
    )
    assert "  0.000 ±" in line


def test_an_undefined_score_keeps_what_its_splits_say() -> None:
    same = labels((0,) * 5)
    found = plain(experiment_record([score_result(result(cell("knn"), same, labels(TRUTH)), ("mcc",))]))["cells"][
        0
    ]
    assert found["metrics"]["mcc"]["mean"] is None
    assert found["metrics"]["mcc"]["splits"] == [None, 1.0]


def test_many_remarks_of_one_kind_are_counted() -> None:
    names = tuple(f"class-{place}" for place in range(20))
    schema = Schema((SchemaField(Column("x")), SchemaField(Column("colour", "nominal", names), "target")))
    of = replace(cell("knn"), dataset=replace(DATA, schema=schema))
    codes = np.zeros(5, np.int32)
    few = LabelAnswers(
        header=Header(rows=np.arange(5)),
        truth=codes,
        predicted=codes,
        classes=names,
        probabilities=np.eye(20)[codes],
    )
    said = text(result(of, few), metrics=("recall-macro",))
    assert said.count("knn: recall-macro: no test row is") == 3
    assert "knn: recall-macro: 16 more like these" in said


def test_folds_that_disagree_are_told_and_others_are_not() -> None:
    """The rule of mlcli/metrics/interval_rules.py: a fold of 100 rows at 0 among perfect ones stands apart."""
    truth = (0, 1) * 50
    good, bad = labels(truth, truth), labels(tuple(1 - code for code in truth), truth)
    apart = text(result(cell("knn"), good, good, good, good, bad))
    assert "knn: accuracy varies between the splits: outlier split: fold 5 (0.000)" in apart
    assert "consistent" not in text(result(cell("knn"), good, good, good))


def test_each_class_is_shown_against_the_rest_where_asked() -> None:
    """SOURCES.md, section 3: red precision 1/3, recall 1/2; gold has no answer."""
    asked = [score_result(result(cell("one-r"), labels(PREDICTED)), ("accuracy",))]
    lines = [line.split() for line in text_of(results_of(asked, Details(classes=True)), Page(None)).splitlines()]
    assert [
        "red",
        "0.333",
        "0.500",
        "0.400",
        "0.333",
        "0.667",
        "0.500",
        "2",
        "3",
        "1",
        "2",
        "1",
        "1",
        "+0.200",
    ] in lines
    assert [
        "gold",
        "0/0",
        "0.000",
        "0.000",
        "1.000",
        "0.000",
        "1.000",
        "1",
        "0",
        "0",
        "0",
        "1",
        "4",
        "-0.200",
    ] in lines


def test_a_reason_of_several_lines_is_one_paragraph() -> None:
    broken = CellResult(cell("knn"), "failed", why="it broke\n  repair it")
    assert "it broke; repair it" in text(broken)


def test_a_split_that_is_missing_is_in_no_average() -> None:
    half = replace(result(cell("knn"), labels(TRUTH)), status="failed", why="split 1: it broke")
    assert "1.000" not in text(half)


def test_steps_and_warnings_are_told_once_for_all_they_concern() -> None:
    standardise = (StepSpec("standardise", {"ddof": 0}),)
    results = [
        result(cell(name, steps=standardise), labels(TRUTH), labels(TRUTH), warnings=("it stopped early",))
        for name in ("knn", "logistic-regression")
    ]
    said = text(result(cell("one-r"), labels(TRUTH), labels(TRUTH)), *results)
    assert "steps before knn, logistic-regression: standardise" in said
    assert "warning from knn, logistic-regression: it stopped early (1 of 2 splits)" in said


def test_what_holds_for_every_model_and_several_metrics_is_said_once() -> None:
    one_class = labels((0, 0, 1, 0, 1), truth=(0, 1, 0, 1, 1))
    said = text(
        result(cell("one-r"), one_class), result(cell("knn"), one_class), metrics=("f1-macro", "recall-macro")
    )
    remarks = [line for line in said.splitlines() if line.startswith("all models: f1-macro, recall-macro: ")]
    assert len(remarks) == 1
    assert "gold" in remarks[0]


def test_models_of_one_name_are_told_apart() -> None:
    first, second = cell("knn"), cell("knn")
    first = replace(first, model=replace(first.model, params={"k": 1}))
    second = replace(second, model=replace(second.model, params={"k": 3}))
    said = text(result(first, labels(TRUTH)), result(second, labels(TRUTH)))
    assert "\nknn k=1 " in said
    assert "\nknn k=3 " in said


def test_datasets_stand_apart() -> None:
    values = ValueAnswers(
        header=Header(rows=np.arange(3)),
        truth=np.array([1.0, 2, 3]),
        predicted=np.array([2.0, 2, 4]),
    )
    results = [result(cell("one-r"), labels(TRUTH)), result(cell("ridge", "regression"), values)]
    said = text(*results, metrics=("accuracy", "bias"))
    assert said.index("colours: classification of colour") < said.index("sizes: regression of size")
    # SOURCES.md, section 4: mean(ŷ − y) = +0.666667
    assert " 0.667 ±" in said.partition("sizes: ")[2]


def baseline_and(predicted: tuple[int, ...], rows: int) -> str:
    truth = (0, 1) * (rows // 2)
    zero_r = result(cell("zero-r"), labels((0,) * rows, truth))
    return text(zero_r, result(cell("one-r"), labels(predicted, truth))).rstrip().splitlines()[-1]


def test_the_verdict_says_what_is_better_than_the_baseline() -> None:
    verdict = baseline_and((0, 1) * 50, 100)
    # Wilson 1927 for 100 of 100: 100 / (100 + 1.96²) = 0.963
    assert verdict == ("By accuracy: one-r with 1.000 (95 % CI 0.963 to 1.000), 0.500 above the baseline zero-r.")


def test_the_verdict_says_when_a_gain_may_be_chance() -> None:
    """One row more of ten: the exact McNemar test of 1 against 0 has p = 1."""
    assert baseline_and((0, 1, 0, 0, 0, 0, 0, 0, 0, 0), 10).endswith(
        "0.100 above the baseline zero-r (not significant)."
    )


def test_the_verdict_says_when_nothing_beats_the_baseline() -> None:
    assert baseline_and((0,) * 10, 10).startswith("By accuracy, no model beats the baseline: zero-r with 0.500")


def test_where_the_baseline_is_best_the_matrix_is_of_the_best_of_the_others() -> None:
    truth = (0,) * 6 + (1,) * 4
    guesses = {"zero-r": (0,) * 10, "one-r": (1,) * 10, "knn": (1, *(0,) * 9)}
    found = [
        score_result(result(cell(name), labels(codes, truth)), ("accuracy",)) for name, codes in guesses.items()
    ]
    shown = text_of(results_of(found, Details(verbose=False)), Page(None)).splitlines()
    assert shown[next(place for place, line in enumerate(shown) if line.startswith("true")) - 1] == "knn"


def test_the_verdict_names_what_cannot_be_told_apart() -> None:
    truth = (0, 1) * 50
    near = (1, 1, *truth[2:])
    results = [
        result(cell("zero-r"), labels((0,) * 100, truth)),
        result(cell("knn"), labels(near, truth)),
        result(cell("one-r"), labels(truth, truth)),
    ]
    verdict = text(*results).rstrip().splitlines()[-1]
    assert verdict.startswith("Best by accuracy: one-r with 1.000")
    assert verdict.endswith("; not significantly different: knn.")


def test_rows_that_were_judged_twice_are_no_twice_as_many_rows() -> None:
    once, twice = (text(result(cell("knn"), *[labels(TRUTH)] * times)) for times in (1, 2))
    assert "a row counts each time it is predicted" not in once
    assert "a row counts each time it is predicted" in twice


def test_long_names_of_classes_do_not_cut_the_matrix() -> None:
    names = tuple(f"{'a class name that goes on and on ' * 2}{place}" for place in range(3))
    rates = tuple(ClassRates(name, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.0) for name in names)
    said = text_of(confusion_of("knn", Confusion(names, np.diag([7, 8, 9])), rates), Page(100))
    assert said.count("true \\ predicted") == 1
    assert said.splitlines()[1].split()[3:] == ["1", "2", "3", "rows", "precision", "f1"]
    assert "2 a class name" in said


@pytest.mark.parametrize("count", [2, 12, 13, 60])
def test_every_class_and_every_count_is_shown_in_80_columns(count: int) -> None:
    names = tuple(f"class-number-{place}" for place in range(count))
    counts = np.diag(np.arange(1000, 1000 + count))
    counts[0, -1] = 777
    rates = tuple(ClassRates(name, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.0) for name in names)
    said = text_of(confusion_of("knn", Confusion(names, counts), rates), Page(80))
    assert max(map(len, said.splitlines())) <= 80
    for place, name in enumerate(names):
        assert name in said
        assert str(1000 + place) in said
    assert "777" in said


def test_the_spread_over_splits_is_shown_where_it_is_asked_for() -> None:
    known = score_result(result(cell("one-r"), *[labels(PREDICTED)] * 3), ("accuracy",))
    said = text_of(results_of([known], Details(spread=True)), Page(width=None))
    assert "accuracy over the splits" in said
    assert "consistent" in said
    assert "over the splits" not in text(known.cell_result)
