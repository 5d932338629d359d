"""``mlcli curve``: what each curve shows, what scripts read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.shell import document, typed


def test_a_learning_curve_has_bands_and_training_scores() -> None:
    words = ("curve", "learning", "wdbc", "-m", "naive-bayes", "--sizes", "0.1,0.5,1", "--folds", "3")
    (curve,) = document(typed(*words, "--json"))["curves"]
    assert (curve["model"], curve["over"], curve["metric"]) == ("naive-bayes", "training rows", "accuracy")
    assert [point["value"] for point in curve["points"]] == [38, 190, 379]
    assert curve["baseline"] == pytest.approx(0.627, abs=0.001)
    (finding,) = curve["findings"]
    test, training = (dict(finding["series"])[name] for name in ("test", "training"))
    assert training[0] > test[0]
    for (low, high), mean in zip(dict(finding["bands"])["test"], test, strict=True):
        assert low <= mean <= high
    shown = typed(*words).stdout
    assert "naive-bayes: accuracy by training rows" in shown
    assert "over the last doubling of the rows" in shown


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("travelmode", ("-m", "ranking-svm")),
        ("faithful", ("-m", "gaussian", "--task", "density")),
        ("wdbc", ("-m", "z-score", "--task", "anomaly")),
        ("insteval_1200", ("-m", "global-mean")),
    ],
)
def test_more_rows_can_be_learned_from_in_any_kind_of_task(data: str, words: tuple[str, ...]) -> None:
    found = document(typed("curve", "learning", data, *words, "--sizes", "0.3,1", "--folds", "2", "--json"))
    first, last = found["curves"][0]["points"]
    assert first["value"] < last["value"]


def test_a_validation_curve_marks_the_best_value() -> None:
    found = document(typed("curve", "validation", "wdbc", "-m", "knn", "-p", "k=1..9", "--folds", "3", "--json"))
    (curve,) = found["curves"]
    assert [point["value"] for point in curve["points"]] == list(range(1, 10))
    means = {point["value"]: point["metrics"]["accuracy"]["mean"] for point in curve["points"]}
    assert means[curve["best"]] == max(means.values())
    assert curve["points"][0]["training"]["mean"] == 1.0
    same = document(typed("eval", "wdbc", "-m", "knn", "-p", "k=9", "--folds", "3", "--json"))["cells"][-1]
    assert same["metrics"]["accuracy"]["mean"] == means[9]


def test_few_rows_are_left_out_one_by_one() -> None:
    words = ("weather_nominal", "-m", "knn", "-p", "k=3", "--protocol", "leave-one-out", "--json")
    alone = document(typed("eval", *words))["cells"][-1]
    (curve,) = document(typed("curve", "validation", *(word.replace("k=3", "k=1..3") for word in words)))["curves"]
    assert curve["points"][-1]["metrics"]["accuracy"]["mean"] == alone["metrics"]["accuracy"]["mean"]


def test_a_score_that_stays_as_it_is_does_not_change() -> None:
    shown = typed("curve", "learning", "wdbc", "-m", "zero-r", "--sizes", "0.5,1", "--folds", "2").stdout
    assert "over the last doubling of the rows the score does not change" in shown


@pytest.mark.parametrize(("kernel", "swept"), [("gaussian", "C"), ("polynomial", "degree")])
def test_a_parameter_that_the_model_does_not_use_is_not_swept(kernel: str, swept: str) -> None:
    """The power of a polynomial is none of a Gaussian kernel."""
    words = ("curve", "validation", "iris", "-m", "svm", "-p", f"kernel={kernel}", "--folds", "2")
    assert f"svm: accuracy by {swept}\n" in typed(*words).stdout


def test_a_validation_curve_of_numbers_of_clusters_has_the_elbow() -> None:
    words = ("curve", "validation", "ruspini", "-m", "k-means")
    shown = typed(*words, "-p", "clusters=1..7").stdout
    assert "k-means: inertia (within-cluster sum of squares) by number of clusters" in shown
    assert "The elbow is at 4 clusters, with 6.8 % of the inertia left" in shown
    assert "inertia" not in typed(*words, "-p", "restarts=1,5,10").stdout


def test_values_in_words_and_paths_into_nested_models() -> None:
    words = typed("curve", "validation", "iris", "-m", "knn", "-p", "distance=euclidean,manhattan", "--folds", "3")
    assert "manhattan" in words.stdout
    nested = typed(
        *("curve", "validation", "iris", "-m", "{use: bagging, params: {base: knn, bags: 3}}", "-p", "base.k=1,9"),
        *("--folds", "3", "--json"),
    )
    assert document(nested)["curves"][0]["over"] == "base.k"


def test_the_degree_of_a_polynomial_is_swept_over_as_textbooks_do() -> None:
    model = ("-m", "{use: linear-regression, steps: [polynomial]}")
    words = ("diabetes_progression", "--folds", "3", "--drop", "sex")
    found = document(typed("curve", "validation", *words, *model, "-p", "polynomial.degree=1..3", "--json"))
    (curve,) = found["curves"]
    assert (curve["over"], [point["value"] for point in curve["points"]]) == ("polynomial.degree", [1, 2, 3])
    training = [point["training"]["mean"] for point in curve["points"]]
    assert training == sorted(training, reverse=True)
    same = document(typed("eval", *words, *model, "-p", "polynomial.degree=2", "--json"))["cells"][1]
    assert same["metrics"]["rmse"]["mean"] == curve["points"][1]["metrics"]["rmse"]["mean"]


def test_an_elbow_curve_of_another_kind_of_task() -> None:
    (curve,) = document(typed("curve", "validation", "ruspini", "-m", "k-means", "-p", "clusters=2..6", "--json"))[
        "curves"
    ]
    assert (curve["metric"], curve["best"]) == ("silhouette", 4)


def test_stages_are_answered_for_training_rows_too() -> None:
    words = ("-m", "newton-boosting", "-p", "rounds=20", "--folds", "3", "--json")
    (curve,) = document(typed("curve", "stages", "wdbc", *words))["curves"]
    assert curve["over"] == "rounds"
    training = [point["training"]["mean"] for point in curve["points"]]
    assert training == sorted(training)
    assert curve["points"][-1]["value"] == 20


def test_bias_and_variance_of_numbers_and_classes() -> None:
    words = ("--repeats", "20", "-m", "zero-r", "-m", "knn", "--json")
    found = document(typed("curve", "bias-variance", "wdbc", *words))["models"]
    assert found[0]["terms"]["Domingos"]["unbiased variance"] == 0.0
    assert found[1]["error"] == pytest.approx(sum(found[1]["terms"]["Kohavi & Wolpert"].values()))
    values = document(typed("curve", "bias-variance", "diabetes_progression", *words))["models"]
    for one in values:
        assert one["error"] == pytest.approx(sum(one["terms"]["Geman"].values()))
    shown = typed("curve", "bias-variance", "iris", "-m", "knn", "--repeats", "5").stdout
    assert "Bias and variance, 0-1 loss" in shown


def test_a_bias_that_is_estimated_below_0_is_said_to_be_about_0(tmp_path: Path) -> None:
    """y = x without noise: the line is exact but for rounding, of one random tree nearly all error is variance."""
    x = np.random.default_rng(3).random(30).tolist()
    path = tmp_path / "exact.csv"
    path.write_text("\n".join(["x,y", *(f"{one},{one}" for one in x)]), encoding="utf-8")
    words = ("curve", "bias-variance", str(path), "--target", "y", "--task", "regression", "--repeats")
    assert "below 0" not in typed(*words, "10", "-m", "linear-regression").stdout
    tree = (*words, "4", "-m", "extra-trees", "-p", "trees=1", "--seed")
    of_trees = [typed(*tree, str(seed)).stdout for seed in range(3)]
    for shown in of_trees:
        assert (" -0.0" in shown) == ("a bias² below 0 is an estimate of one that is about 0" in shown)
    assert any("below 0" in shown for shown in of_trees)


def test_bias_falls_and_variance_rises_with_the_flexibility_of_a_model() -> None:
    """The picture of the notes: a tree of depth 1 is biased, a deep one varies."""
    words = ("curve", "bias-variance", "diabetes_progression", "-m", "decision-tree", "-p", "max_depth=1,3,9")
    found = document(typed(*words, "--repeats", "20", "--json"))["models"][1:]
    terms = [one["terms"]["Geman"] for one in found]
    assert [one["model"] for one in found] == [f"decision-tree max_depth={depth}" for depth in (1, 3, 9)]
    assert terms[0]["bias²"] > terms[1]["bias²"]
    assert max(terms[0]["variance"], terms[1]["variance"]) < terms[2]["variance"] / 3
    shown = typed(*words, "--repeats", "5").stdout.splitlines()
    lines = shown[[line.startswith("max_depth ") for line in shown].index(True) + 2 :]
    assert [line.split()[0] for line in lines if line] == ["error", "bias²", "variance"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("iterations", "iris", "-m", "mlp"), "did you mean 'stages'"),
        (("bias-variance", "iris", "-m", "knn", "-m", "lda", "-p", "k=1..3"), "of one model and one parameter"),
        (("lerning", "iris", "-m", "knn"), "did you mean 'learning'"),
        (("validation", "iris", "-m", "knn", "-p", "kk=1..3"), "no parameter 'kk'"),
        (("validation", "iris", "-m", "knn", "-p", "k=9..1"), "no range of numbers"),
        (("validation", "iris", "-m", "knn", "-p", "k=1,3", "-p", "weights=uniform,inverse"), "one parameter"),
        (("validation", "iris", "-m", "zero-r"), "which parameter"),
        (("validation", "iris", "-m", "knn", "-p", "k=5"), "one value of 'k' makes no curve"),
        (("validation", "iris", "-m", "{use: knn, params: {k: 5}}"), "one value of 'k' makes no curve"),
        (("validation", "iris", "-m", "{use: knn, grid: {k: [5, 7]}}"), "is a grid of 2 models"),
        (("stages", "iris", "-m", "lda"), "lda has no stages"),
        (("stages", "iris", "-m", "adaboost", "--sizes", "0.5"), "of learning curves"),
        (("learning", "iris", "-m", "knn", "--sizes", "half"), "takes numbers"),
        (("learning", "iris", "-m", "knn", "--sizes", "5000"), "there are 120 to learn from"),
        (("learning", "iris", "-m", "ridge"), "ridge does regression"),
        (("bias-variance", "iris", "-m", "knn", "--folds", "3"), "--repeats"),
        (("bias-variance", "iris", "-m", "knn", "--repeats", "1"), "no row was predicted by two models"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], said: str) -> None:
    result = typed("curve", *words)
    assert result.exit_code in (2, 4)
    assert said in result.output
