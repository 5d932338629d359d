"""Naive Bayes on the weather table (SOURCES.md, section 1.2; weather_nb.csv) and beside scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build, learned_fields
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded
from mlcli.core.tables import Table
from mlcli.models.bayes.naive_bayes import NaiveBayes
from mlcli.tasks.supervised import Classifier, LabelledRows
from tests.golden.asking import answered, asked, fitted, right_by_leave_one_out
from tests.golden.weather import printed, weather
from tests.support.rows import labelled, table_of
from tests.support.shell import document, typed

VARIANTS: dict[str, dict[str, Any]] = {
    "p_yes_mle": {"smoothing": "none"},
    "p_yes_laplace1": {},
    "p_yes_laplace1_prior1": {"smooth_prior": True},
    "p_yes_mestimate_m1": {"smoothing": "m-estimate", "m": 1.0},
    "p_yes_eps1e-9": {"smoothing": "epsilon", "epsilon": 1e-9},
    "p_yes_eps0.01": {"smoothing": "epsilon", "epsilon": 0.01},
}


@pytest.mark.parametrize("column", VARIANTS)
def test_posteriors_of_the_weather_table(column: str) -> None:
    said = answered(NaiveBayes(**VARIANTS[column]), weather()).probabilities
    assert said[:, 1] == pytest.approx(printed(column), abs=1e-9)
    assert said.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(("smoothing", "name"), [("none", "mle"), ("alpha", "laplace1")])
def test_joint_values_of_the_weather_table(smoothing: str, name: str) -> None:
    joint = np.exp(fitted(NaiveBayes(smoothing=smoothing), weather()).log_joint(weather().table))
    assert joint[:, 0] == pytest.approx(printed(f"joint_no_{name}"), abs=1e-9)
    assert joint[:, 1] == pytest.approx(printed(f"joint_yes_{name}"), abs=1e-9)


@pytest.mark.parametrize(("smoothing", "right"), [("none", 8), ("alpha", 7)])
def test_right_in_sample_and_by_leave_one_out(smoothing: str, right: int) -> None:
    answers = answered(NaiveBayes(smoothing=smoothing), weather())
    assert np.flatnonzero(answers.predicted != answers.truth).tolist() == [5]
    assert right_by_leave_one_out(NaiveBayes(smoothing=smoothing), weather()) == right


@pytest.mark.parametrize(
    ("smoothing", "auc", "loss"), [("none", 43 / 45, 0.305213), ("alpha", 41.5 / 45, 0.384984)]
)
def test_scores_of_the_weather_table_in_sample(smoothing: str, auc: float, loss: float) -> None:
    answers = answered(NaiveBayes(smoothing=smoothing), weather())
    yes = answers.probabilities[:, 1]
    assert roc_auc_score(answers.truth, yes) == pytest.approx(auc, abs=1e-12)
    assert log_loss(answers.truth, yes) == pytest.approx(loss, abs=1e-6)
    if smoothing == "alpha":
        assert brier_score_loss(answers.truth, yes) == pytest.approx(0.115077, abs=1e-6)


def test_rows_2_and_6_tie_to_the_bit_under_laplace() -> None:
    said = answered(NaiveBayes(), weather()).probabilities
    assert said[1, 1] == said[5, 1]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"smoothing": "none"}, 0.0),
        ({}, 1 / 8),
        ({"smoothing": "m-estimate", "m": 1.0}, 1 / 18),
        ({"smoothing": "m-estimate", "m": 3.0}, 1 / 8),
        ({"smoothing": "epsilon", "epsilon": 0.01}, 0.01),
    ],
)
def test_overcast_given_no(params: dict[str, Any], expected: float) -> None:
    model = fitted(NaiveBayes(**params), weather())
    overcast_given_no = model.likelihoods_[0][0, 0]
    assert overcast_given_no == pytest.approx(expected, abs=1e-15)


def numeric(X: Any, y: Any, weight: Any = None) -> LabelledRows:
    table = table_of({f"x{j}": cells.tolist() for j, cells in enumerate(X.T)})
    return labelled(table, [f"class {k}" for k in y], weight=weight)


@pytest.mark.parametrize(("zero_variance", "smoothing"), [("floor", 0.0), ("add", 1e-9)])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_gaussian_columns_agree_with_scikit_learn(load: Any, zero_variance: str, smoothing: float) -> None:
    X, y = load(return_X_y=True)
    theirs = GaussianNB(var_smoothing=smoothing).fit(X, y)
    model = fitted(NaiveBayes(zero_variance=zero_variance), numeric(X, y))
    assert model.variances_ == pytest.approx(theirs.var_, rel=1e-9)
    assert model.log_joint(model_table(model, X)) == pytest.approx(theirs.predict_joint_log_proba(X), rel=1e-9)
    assert model.predict_proba(model_table(model, X)) == pytest.approx(theirs.predict_proba(X), abs=1e-9)


def test_weighted_gaussian_columns_agree_with_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    model, theirs = fitted(NaiveBayes(), numeric(X, y, weight)), GaussianNB().fit(X, y, sample_weight=weight)
    assert model.means_ == pytest.approx(theirs.theta_, rel=1e-9)
    # What is added, 1e-9 of a variance, is weighted here and not there.
    assert model.variances_ == pytest.approx(theirs.var_, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.5])
def test_coded_columns_agree_with_scikit_learn(alpha: float) -> None:
    rng = np.random.default_rng(3)
    codes, y = rng.integers(0, 4, (200, 5)), rng.integers(0, 3, 200)
    kinds = ("nominal", "ordinal", "nominal", "ordinal", "nominal")
    columns = [Column(f"x{j}", kind, ("a", "b", "c", "d", "e")) for j, kind in enumerate(kinds)]
    data = labelled(Table.of(zip(columns, codes.T, strict=True), 200), ["pqr"[k] for k in y])
    theirs = CategoricalNB(alpha=alpha, min_categories=5).fit(codes, y)
    said = fitted(NaiveBayes(alpha=alpha), data).predict_proba(data.table)
    assert said == pytest.approx(theirs.predict_proba(codes), abs=1e-9)


def test_coded_and_gaussian_columns_multiply() -> None:
    rng = np.random.default_rng(5)
    X, codes, y = rng.normal(size=(60, 2)), rng.integers(0, 3, (60, 2)), np.resize([0, 1], 60)
    parts = [
        (Column("a"), X[:, 0]),
        (Column("b", "nominal", ("u", "v", "w")), codes[:, 0]),
        (Column("c"), X[:, 1]),
        (Column("d", "nominal", ("u", "v", "w")), codes[:, 1]),
    ]
    data = labelled(Table.of(parts, 60), ["pq"[k] for k in y])
    gaussian, categorical = GaussianNB(var_smoothing=0).fit(X, y), CategoricalNB(min_categories=3).fit(codes, y)
    joint = gaussian.predict_joint_log_proba(X) + categorical.predict_joint_log_proba(codes) - np.log(0.5)
    assert fitted(NaiveBayes(), data).log_joint(data.table) == pytest.approx(joint, rel=1e-9)


def test_missing_and_undeclared_cells_are_left_out_of_the_product() -> None:
    data = labelled(table_of({"x": [1.0, 2.0, 4.0, 6.0, None], "y": ["u", "u", "v", "u", "v"]}), list("aabba"))
    alone = data.with_table(data.table.select(["y"]))
    rows = table_of({"x": [None], "y": ["v"]}, data.table.columns)
    only_y = fitted(NaiveBayes(), alone).predict_proba(rows.select(["y"]))
    model = fitted(NaiveBayes(), data)
    assert model.predict_proba(rows) == pytest.approx(only_y, abs=1e-15)
    assert model.means_[:, 0] == pytest.approx([1.5, 5.0])
    nothing = table_of({"x": [None], "y": [None]}, data.table.columns)
    assert model.predict_proba(nothing) == pytest.approx(np.array([[0.6, 0.4]]))


def test_a_class_that_training_lacks_has_probability_0() -> None:
    data = numeric(*load_iris(return_X_y=True))
    two = data.take(np.flatnonzero(data.y != 1))
    variants: list[dict[str, Any]] = [{}, {"smooth_prior": True}]
    variants += [{"zero_variance": "drop"}, {"zero_variance": "add"}]
    for params in variants:
        said = asked(fitted(NaiveBayes(**params), two), data).probabilities
        assert (said[:, 1] == 0).all()
        assert said.sum(axis=1) == pytest.approx(1.0)


def test_given_priors_take_the_place_of_the_counted_ones() -> None:
    data = numeric(*load_iris(return_X_y=True))
    priors = (0.2, 0.5, 0.3)
    theirs = GaussianNB(priors=priors, var_smoothing=0).fit(data.table.numbers, data.y)
    said = fitted(NaiveBayes(priors=priors), data).predict_proba(data.table)
    assert said == pytest.approx(theirs.predict_proba(data.table.numbers), abs=1e-9)
    absent = fitted(NaiveBayes(priors=priors), data.take(np.flatnonzero(data.y != 1)))
    assert (absent.predict_proba(data.table)[:, 1] > 0).all()
    with pytest.raises(FitError, match=r"2 priors were given for 3 classes"):
        fitted(NaiveBayes(priors=(0.5, 0.5)), data)
    with pytest.raises(UsageError, match=r"add up to 0.9"):
        build(NaiveBayes, {"priors": [0.5, 0.4]})
    with pytest.raises(UsageError, match="not smoothed"):
        build(NaiveBayes, {"priors": [0.5, 0.5], "smooth_prior": True})


def test_an_epsilon_as_large_as_one_row_is_refused() -> None:
    with pytest.raises(FitError, match=r"1/N = 0\.0714"):
        fitted(NaiveBayes(smoothing="epsilon", epsilon=1 / 14), weather())


def constant_in_a_class() -> LabelledRows:
    return labelled(table_of({"x": [0.1, 0.1, 0.1, 5.0, 7.0, 9.0], "y": [1, 2, 3, 2, 3, 4]}), list("aaabbb"))


def test_a_column_that_does_not_vary_in_a_class_has_a_floor_and_the_masses_of_normals() -> None:
    data = constant_in_a_class()
    with pytest.warns(MlcliWarning, match=r"floor below their spread: 'x' \(in a\)$"):
        model = fitted(NaiveBayes(), data)
    gap = (9.0 - 0.1) / 3
    assert model.gaps_ == pytest.approx([gap, 0])
    deviations = np.sqrt(model.variances_)
    assert deviations[:, 0] == pytest.approx([gap / 6, np.std([5.0, 7.0, 9.0])])
    asked = np.array([[0.1, 2.0], [1.0, 3.0], [6.0, 2.5]])
    x, y = (norm(model.means_[:, j], deviations[:, j]) for j in (0, 1))
    away = np.abs(asked[:, :1] - model.means_[:, 0])
    mass = x.sf(model.means_[:, 0] + away - gap / 2) - x.sf(model.means_[:, 0] + away + gap / 2)
    assert mass[2, 0] < 1e-15
    joint = np.log(0.5) + np.log(mass) + y.logpdf(asked[:, 1:])
    assert model.log_joint(model_table(model, asked)) == pytest.approx(joint, rel=1e-9)


def test_a_deviation_above_the_floor_stays_and_so_do_densities_of_other_columns() -> None:
    data = labelled(table_of({"x": [1, 1, 1, 2, 6, 3], "y": [1.0, 1.1, 1.1, 2, 9, 1]}), list("aaabbb"))
    with pytest.warns(MlcliWarning, match="'x'"):
        model = fitted(NaiveBayes(), data)
    assert model.variances_[1, 0] == pytest.approx(np.var([2, 6, 3]))
    assert model.kept_.tolist() == [False, True]
    assert model.variances_[:, 1] == pytest.approx([np.var([1.0, 1.1, 1.1]), np.var([2, 9, 1])])


def test_far_from_a_constant_a_class_is_improbable_and_no_number_is_lost() -> None:
    with pytest.warns(MlcliWarning, match="'x'"):
        model = fitted(NaiveBayes(), constant_in_a_class())
    joint = model.log_joint(model_table(model, np.array([[1e9, 2.0], [-1e90, 2.0], [np.nan, 2.0]])))
    assert np.isfinite(joint).all()
    assert (joint[:2, 0] < joint[:2, 1]).all()


def test_no_column_that_is_constant_in_classes_decides_alone() -> None:
    X, y = load_digits(return_X_y=True)
    learned, judged = (numeric(X[start::2], y[start::2]) for start in (0, 1))
    with pytest.warns(MlcliWarning, match="and 1. more$"):
        ours = asked(fitted(NaiveBayes(), learned), judged)
    theirs = [
        GaussianNB(var_smoothing=share).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for share in (1e-9, 1e-6)
    ]
    assert np.mean(ours.predicted == ours.truth) > max(theirs) + 0.03


def test_or_a_little_variance_is_added() -> None:
    model = fitted(NaiveBayes(zero_variance="add"), constant_in_a_class())
    largest = np.var([0.1, 0.1, 0.1, 5.0, 7.0, 9.0])
    assert model.variances_[0, 0] == pytest.approx(1e-9 * largest)
    assert model.kept_.tolist() == [True, True]


def test_or_it_is_dropped() -> None:
    data = constant_in_a_class()
    model = fitted(NaiveBayes(zero_variance="drop"), data)
    alone = data.with_table(data.table.select(["y"]))
    only_y = GaussianNB(var_smoothing=0).fit(alone.table.numbers, data.y)
    assert model.predict_proba(data.table) == pytest.approx(only_y.predict_proba(alone.table.numbers), abs=1e-9)
    assert model.explain()[-1].note == "left out, since they do not vary: x"


def test_columns_that_never_vary_say_nothing() -> None:
    data = labelled(table_of({"x": [3.0] * 5}), list("aabbb"))
    assert fitted(NaiveBayes(), data).predict_proba(table_of({"x": [3.0, 8.0]})) == pytest.approx(
        np.array([[0.4, 0.6]] * 2)
    )


@pytest.mark.parametrize(("ddof", "expected"), [(0, 2 / 3), (1, 1.0)])
def test_ddof_is_taken_off_the_number_of_rows(ddof: int, expected: float) -> None:
    model = fitted(NaiveBayes(ddof=ddof), labelled(table_of({"x": [1.0, 2.0, 3.0, 7.0, 8.0]}), list("aaabb")))
    assert model.variances_[0, 0] == pytest.approx(expected, rel=1e-6)


def test_a_row_that_no_class_makes_possible_answers_the_priors_and_says_so() -> None:
    data = labelled(table_of({"x": list("uuv"), "y": list("uvv")}), list("abb"))
    model = fitted(NaiveBayes(smoothing="none"), data)
    rows = table_of({"x": ["v", "u"], "y": ["u", "u"]}, data.table.columns)
    with pytest.warns(MlcliWarning, match="1 of 2 rows"):
        said = model.predict_proba(rows)
    assert said == pytest.approx(np.array([[1 / 3, 2 / 3], [1.0, 0.0]]))


def test_a_class_without_a_cell_in_a_column_takes_the_column_of_all_rows() -> None:
    columns: dict[str, Any] = {"x": [1.0, 3.0, 5.0, None], "y": ["u", "v", "v", None]}
    model = fitted(NaiveBayes(smoothing="none"), labelled(table_of(columns), list("aaab")))
    assert model.means_[:, 0] == pytest.approx([3.0, 3.0])
    assert model.likelihoods_[0] == pytest.approx(np.array([[1 / 3, 1 / 3], [2 / 3, 2 / 3]]))


@pytest.mark.parametrize("smoothing", ["none", "alpha", "epsilon", "m-estimate"])
def test_columns_that_are_empty_say_nothing(smoothing: str) -> None:
    described = [Column("y", "nominal", (), True), Column("z", "nominal", ("u", "v"), True)]
    table = table_of({"x": [None] * 3, "y": [None] * 3, "z": [None] * 3}, described)
    data = labelled(table, list("abb"))
    said = answered(NaiveBayes(smoothing=smoothing), data).probabilities
    assert said == pytest.approx(np.array([[1 / 3, 2 / 3]] * 3))


def test_it_says_priors_likelihoods_and_normals() -> None:
    priors, outlook, *_ = fitted(NaiveBayes(smoothing="none"), weather()).explain()
    assert priors.rows == (("no", pytest.approx(5 / 14)), ("yes", pytest.approx(9 / 14)))
    assert outlook.title == "P(outlook | class)"
    assert outlook.rows[0] == ("overcast", 0.0, pytest.approx(4 / 9))
    *_, numbers = fitted(NaiveBayes(zero_variance="add"), constant_in_a_class()).explain()
    assert numbers.rows[2] == ("y", "a", pytest.approx(2.0), pytest.approx(np.sqrt(2 / 3)))


@pytest.mark.parametrize("field", sorted(set(learned_fields(NaiveBayes)) - set(learned_fields(Classifier))))
def test_learned_fields_that_do_not_fit_are_refused(field: str) -> None:
    model = fitted(NaiveBayes(), weather())
    setattr(model, field, model.likelihoods_[:1] if field == "likelihoods_" else np.zeros((7, 7)))
    with pytest.raises(ValueError, match=r"fit|likelihoods|argument"):
        check_loaded(model)


def model_table(model: NaiveBayes, X: Any) -> Table:
    return Table(model.columns_, X, np.empty((len(X), 0), np.int32))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "The priors are as counted; in P(level | class), 1 is added to the count of every level (alpha)."),
        ({"smoothing": "none", "priors": (0.5, 0.5)}, "The priors are as given; P(level | class) is as counted"),
        ({"smoothing": "epsilon"}, "1e-09 in the place of 0"),
        (
            {"smoothing": "m-estimate", "m": 2.0, "smooth_prior": True},
            "in P(level | class), 2 rows are spread over",
        ),
    ],
)
def test_it_says_how_counts_became_probabilities(params: dict[str, Any], said: str) -> None:
    assert said in fitted(NaiveBayes(**params), weather()).explain()[0].note


def counted(rng: np.random.Generator) -> tuple[Any, Any]:
    """Counts of five columns, whose rates depend on one of three classes."""
    y = np.resize([0, 1, 2], 120)
    return rng.poisson(rng.uniform(0.2, 3.0, (3, 5))[y]), y


@pytest.mark.parametrize("alpha", [0.3, 1.0])
@pytest.mark.parametrize(("distribution", "Theirs"), [("bernoulli", BernoulliNB), ("count", MultinomialNB)])
def test_events_agree_with_scikit_learn(distribution: str, Theirs: Any, alpha: float) -> None:
    rng = np.random.default_rng(7)
    (X, y), weight = counted(rng), rng.integers(0, 3, 120)
    model = fitted(NaiveBayes(alpha=alpha, distributions={"numeric": distribution}), numeric(X, y, weight))
    theirs = Theirs(alpha=alpha).fit(X, y, sample_weight=weight)
    assert model.log_joint(model_table(model, X * 1.0)) == pytest.approx(
        theirs.predict_joint_log_proba(X), rel=1e-9
    )


@pytest.mark.parametrize("trials", [None, 20])
def test_binomial_columns_agree_with_scipy(trials: int | None) -> None:
    X, y = counted(np.random.default_rng(8))
    model = fitted(NaiveBayes(trials=trials, distributions={"numeric": "binomial"}), numeric(X, y))
    of = np.full(5, trials) if trials else X.max(axis=0)
    assert model.trials_ == pytest.approx(of)
    chance = np.array([(X[y == k].sum(axis=0) + 1) / (40 * of + 2) for k in range(3)])
    joint = np.log(1 / 3) + binom(of, chance).logpmf(X[:, None, :]).sum(axis=2)
    said = model.predict_proba(model_table(model, X * 1.0))
    assert said == pytest.approx(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), abs=1e-9)


def test_each_column_has_the_distribution_of_its_name_else_of_its_kind() -> None:
    rng = np.random.default_rng(9)
    (X, y), normal = counted(rng), rng.normal(size=120)
    names = ("visits", "clicks", "height", "colour")
    cells: tuple[Any, ...] = (X[:, 0], X[:, 1], normal, ["red" if one else "blue" for one in X[:, 2] > 1])
    data = labelled(table_of(dict(zip(names, cells, strict=True))), ["abc"[k] for k in y])
    chosen = {"numeric": "bernoulli", "clicks": "binomial", "height": "gaussian", "nominal": "categorical"}
    joint = -3 * np.log(1 / 3)
    for name in names:
        alone = data.with_table(data.table.select([name]))
        own = {key: value for key, value in chosen.items() if key in (name, "numeric")}
        joint = joint + fitted(NaiveBayes(distributions=own), alone).log_joint(alone.table)
    model = fitted(NaiveBayes(distributions=chosen), data)
    assert model.log_joint(data.table) == pytest.approx(joint, rel=1e-9)
    events = next(table for table in model.explain() if table.title == "P(event | class)")
    assert [row[:2] for row in events.rows] == [("visits", "bernoulli"), ("clicks", "binomial")]


def test_an_empty_cell_of_events_is_left_out_and_an_impossible_event_decides() -> None:
    data = labelled(table_of({"x": [0, 0, 3, None], "y": [1, 2, 1, 2]}), list("aabb"))
    model = fitted(NaiveBayes(smoothing="none", distributions={"x": "bernoulli", "y": "count"}), data)
    said = model.predict_proba(table_of({"x": [None, 1.0], "y": [None, 4.0]}, data.table.columns))
    assert said == pytest.approx(np.array([[0.5, 0.5], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"x": "count"}, r"column 'x' has -2, but as count its numbers are 0 or more"),
        ({"numeric": "binomial"}, r"column 'x' has -2, but as binomial its numbers are from 0 to 4"),
        ({"y": "binomial"}, r"column 'y' has 5, but as binomial"),
        ({"z": "count"}, r"column 'z' is nominal, so it cannot be count\n  it can be categorical or bernoulli"),
        ({"z": "bernoulli"}, r"column 'z' is nominal.*: it has 3 levels"),
        ({"x": "categorical"}, r"column 'x' is numeric, so it cannot be categorical"),
        ({"clicks": "count"}, r"there is no column or kind 'clicks'"),
    ],
)
def test_a_distribution_that_does_not_fit_is_refused_by_the_name_of_its_column(
    chosen: dict[str, Any], problem: str
) -> None:
    data = labelled(table_of({"x": [1, -2, 3], "y": [5, 0, 1], "z": list("uvw")}), list("aba"))
    trials = 4 if "binomial" in chosen.values() else None
    with pytest.raises(FitError, match=problem):
        fitted(NaiveBayes(distributions=chosen, trials=trials), data)


def test_distributions_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match=r"distributions: x is one of gaussian, .*; was given 'poisson'"):
        build(NaiveBayes, {"distributions": {"x": "poisson"}})
    with pytest.raises(UsageError, match="trials are of binomial columns"):
        build(NaiveBayes, {"trials": 3})
    model = fitted(NaiveBayes(distributions={"numeric": "count"}), numeric(*counted(np.random.default_rng(3))))
    with pytest.raises(FitError, match=r"column 'x1' has -1"):
        model.predict_proba(model_table(model, np.array([[0, -1.0, 0, 0, 0]])))


OUTLOOK = "level_priors={outlook: {overcast: 0.5, rainy: 0.2, sunny: 0.3}}"

SETTINGS = ("weather_nominal", "-m", "naive-bayes", "-p", "smoothing=m-estimate", "-p", "m=2")


def shares_of(column: str, *more: str, folder: Path) -> dict[str, list[float]]:
    """The shares of each level in the classes yes and no that ``train`` prints."""
    trained = typed("train", *SETTINGS, *more, "-o", str(folder / "m.mlcli"), "--json")
    assert trained.exit_code == 0, trained.output
    tables = [table for table in document(trained)["findings"] if table["title"].startswith(f"P({column} ")]
    return {level: numbers for level, *numbers in tables[0]["rows"]}


def test_own_priors_replace_equal_ones(tmp_path: Path) -> None:
    """5 days without play: overcast 0, rainy 2, sunny 3; 9 with: 4, 3, 2."""
    shares = shares_of("outlook", "-p", OUTLOOK, folder=tmp_path)
    assert shares["overcast"] == pytest.approx([(4 + 2 * 0.5) / 11, (0 + 2 * 0.5) / 7])
    assert shares["rainy"] == pytest.approx([(3 + 2 * 0.2) / 11, (2 + 2 * 0.2) / 7])
    assert shares["sunny"] == pytest.approx([(2 + 2 * 0.3) / 11, (3 + 2 * 0.3) / 7])


def test_columns_without_own_priors_keep_equal_ones(tmp_path: Path) -> None:
    """Windy on 3 of 9 days with play, on 3 of 5 without: (3 + 2 / 2) / (9 + 2), and so on."""
    shares = shares_of("windy", "-p", OUTLOOK, folder=tmp_path)
    assert np.array(sorted(shares.values())) == pytest.approx(np.array([[4 / 11, 4 / 7], [7 / 11, 3 / 7]]))


def test_leave_one_out_takes_them_too(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    params = f"smoothing: m-estimate, m: 2, {OUTLOOK.replace('=', ': ')}"
    spec.write_text(
        f"data: [weather_nominal]\nprotocol: leave-one-out\nmodels: [{{use: naive-bayes, params: {{{params}}}}}]\n"
    )
    fast = document(typed("run", str(spec), "--json"))
    plain = document(typed("run", str(spec), "--no-shortcut", "--fresh", "--json"))
    assert [cell["metrics"] for cell in fast["cells"]] == [cell["metrics"] for cell in plain["cells"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{outlook: {overcast: 0.5, rainy: 0.2, sunny: 0.4}}", "must add up to 1"),
        ("{outlook: {overcast: 0.5, rainy: 0.5}}", "has no probability for sunny"),
        ("{outlook: {overcast: 0.5, rainy: 0.2, suny: 0.3}}", "has no level 'suny'"),
        ("{outlok: {overcast: 1}}", "there is no column 'outlok' with levels"),
        ("{outlook: 0.5}", "needs a probability for each level"),
    ],
)
def test_wrong_priors_are_refused_with_their_place(given: str, message: str, tmp_path: Path) -> None:
    refused = typed("train", *SETTINGS, "-p", f"level_priors={given}", "-o", str(tmp_path / "m.mlcli"))
    assert refused.exit_code not in (0, 1)
    assert message in " ".join(refused.output.split())
