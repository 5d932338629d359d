"""Models and protocols as they are typed in a shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mlcli.core.errors import UsageError
from mlcli.experiment.spec.cells import ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.entries import models_from_text, protocol_from_text


def refusal(*texts: str, params: tuple[str, ...] = ()) -> str:
    with pytest.raises(UsageError) as caught:
        models_from_text(texts, params)
    return str(caught.value)


def test_an_id_is_a_model() -> None:
    assert models_from_text(["knn", "one-r"]) == (ModelSpec("knn"), ModelSpec("one-r"))


def test_no_model_is_no_model() -> None:
    assert models_from_text([]) == ()


def test_a_flow_mapping_says_all_that_a_file_can_say() -> None:
    text = "{use: knn, params: {k: 3}, steps: [impute], as: near}"
    assert models_from_text([text]) == (ModelSpec("knn", {"k": 3}, (StepSpec("impute"),), "near"),)


def test_a_grid_in_a_shell_makes_several_models() -> None:
    made = models_from_text(["{use: knn, grid: {k: [1, 3]}}"])
    assert [model.params for model in made] == [{"k": 1}, {"k": 3}]


def test_what_is_wrong_in_every_model_of_a_grid_is_said_once() -> None:
    assert refusal("{use: knn, grid: {k: [1, 3]}}", params=("weights=foo",)).count("was given 'foo'") == 1


def test_a_grid_has_values_for_steps_by_their_paths() -> None:
    grid = "{polynomial.degree: [1, 2], l2: [3]}"
    made = models_from_text([f"{{use: ridge, steps: [impute, polynomial], grid: {grid}}}"])
    assert [model.params for model in made] == [{"l2": 3.0}] * 2
    assert [model.steps for model in made] == [
        (StepSpec("impute"), StepSpec("polynomial", {"degree": degree})) for degree in (1, 2)
    ]


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("polynomial.degre: [1]", "polynomial has no parameter 'degre'"),
        ("polynomial.degree: [0]", "degree must be at least 1"),
        ("polynomial.interactions: [true]", "'interactions' is given twice"),
    ],
)
def test_a_grid_that_a_step_cannot_have_is_refused(grid: str, said: str) -> None:
    step = "{use: polynomial, params: {interactions: false}}"
    assert said in refusal(f"{{use: ridge, steps: [{step}], grid: {{{grid}}}}}")


def test_a_parameter_of_a_step_is_set_by_its_path() -> None:
    texts = ["{use: ridge, steps: [{use: polynomial, params: {interactions: true}}]}", "knn"]
    ridge, knn = models_from_text(texts, ["polynomial.degree=3", "l2=2"])
    assert ridge.params == {"l2": 2.0}
    assert ridge.steps == (StepSpec("polynomial", {"interactions": True, "degree": 3}),)
    assert knn == ModelSpec("knn")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("polynomial.degre=3", "polynomial: no parameter 'degre'"),
        ("polynomial.degree=0", "degree must be at least 1"),
        ("polynomial.interactions=false", "'interactions' is given twice"),
        ("discretise.bins=3", "no model has a step 'discretise' before it"),
    ],
)
def test_a_path_into_a_step_that_leads_nowhere_is_refused(path: str, said: str) -> None:
    text = "{use: ridge, steps: [{use: polynomial, params: {interactions: true}}]}"
    assert said in refusal(text, params=(path,))


def test_a_path_is_a_saved_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "near").write_bytes(b"")
    by_path, by_suffix, by_file = models_from_text(["models/near", "near.mlcli", "near"])
    assert (by_path.saved, by_path.label) == (Path("models/near"), "near")
    assert (by_suffix.saved, by_suffix.label) == (Path("near.mlcli"), "near.mlcli")
    assert by_file.saved == Path("near")


def test_an_id_goes_before_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "knn").write_bytes(b"")
    assert models_from_text(["knn"]) == (ModelSpec("knn"),)


def test_a_parameter_goes_to_every_model_that_has_it() -> None:
    made = models_from_text(["ridge", "knn", "logistic-regression"], ["l2=0.5", "k=3"])
    assert [model.params for model in made] == [{"l2": 0.5}, {"k": 3}, {"l2": 0.5}]


def test_a_parameter_is_read_by_its_declared_type() -> None:
    (made,) = models_from_text(["one-r"], ["feature=none", "min_bucket=3"])
    assert made.params == {"feature": None, "min_bucket": 3}
    for text in ("priors=0.2,0.8", "priors=[0.2, 0.8]"):
        (listed,) = models_from_text(["naive-bayes"], [text])
        assert listed.params == {"priors": [0.2, 0.8]}


def test_an_unknown_model_is_named_with_the_nearest() -> None:
    assert refusal("naive-bays") == "there is no model 'naive-bays'\n  did you mean 'naive-bayes'?"


def test_every_unknown_model_is_named_at_once() -> None:
    said = refusal("knnn", "{use: one-q}")
    assert "no model 'knnn'" in said
    assert "-m:1:2: there is no model 'one-q'" in said


def test_a_broken_flow_mapping_is_refused_with_its_place() -> None:
    assert refusal("{use: knn, params: {k: 3}").startswith("-m:")


def test_an_unknown_parameter_is_named_with_the_nearest() -> None:
    assert refusal("knn", params=("distanse=cosine",)) == (
        "-p: knn: no parameter 'distanse'\n  did you mean 'distance'?"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("k", "-p takes NAME=VALUE, was given 'k'"),
        ("=3", "-p takes NAME=VALUE, was given '=3'"),
        ("k=three", "knn: k takes a whole number, was given 'three'"),
        ("k=0", "knn: k must be at least 1, was given 0"),
    ],
)
def test_a_value_that_is_not_legal_is_refused(text: str, what: str) -> None:
    assert what in refusal("knn", params=(text,))


def test_nothing_is_overruled_in_silence() -> None:
    assert "'k' is given twice" in refusal("{use: knn, params: {k: 3}}", params=("k=5",))
    assert "-p sets 'k' twice" in refusal("knn", params=("k=3", "k=5"))
    assert "grid: {k: [3, 5]}" in refusal("knn", params=("k=3", "k=5"))


def test_a_parameter_without_a_model_that_could_have_it_is_refused() -> None:
    assert "there is no model to set it for" in refusal(params=("k=3",))
    assert "no parameter 'k'" in refusal("saved.mlcli", params=("k=3",))


def test_two_models_of_one_chosen_name_are_refused() -> None:
    assert "two models are called 'near'" in refusal("{use: knn, as: near}", "{use: one-r, as: near}")


def test_neither_pydantic_nor_yaml_is_loaded_for_an_id() -> None:
    code = (
        "import sys; from mlcli.experiment.spec.entries import models_from_text;"
        "models_from_text(['zero-r'], []); print({'yaml', 'pydantic', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_protocol_is_an_id_or_a_mapping_and_other_options_add_to_it() -> None:
    assert protocol_from_text("k-fold", folds=3) == ProtocolSpec("k-fold", {"folds": 3})
    written = protocol_from_text("{use: good-only, train_share: 0.7}", repeats=2)
    assert written == ProtocolSpec("good-only", {"train_share": 0.7, "repeats": 2})
    with pytest.raises(UsageError, match="--protocol and --folds both set 'folds'"):
        protocol_from_text("{use: k-fold, folds: 3}", folds=4)
    with pytest.raises(UsageError, match="there is no protocol 'fold'"):
        protocol_from_text("{use: fold}")
