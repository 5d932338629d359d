"""Experiment files: what each key means, and every problem found in one pass, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.core.errors import ExperimentError, Problem
from mlcli.experiment.spec.cells import Budget, DataSpec, Experiment, ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.file import check, read_experiment

SHIPPED = sorted((Path(__file__).parents[3] / "experiments").glob("*.yaml"))
ROWS = "a,b,y\n" + "\n".join(f"{i},{i % 3},{'yes' if i % 2 else 'no'}" for i in range(20)) + "\n"


def file_with(folder: Path, text: str) -> Path:
    path = folder / "asked.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def experiment(folder: Path, text: str) -> Experiment:
    return read_experiment(file_with(folder, text))


def problems(folder: Path, text: str) -> list[Problem]:
    return check(file_with(folder, text))


def the_problem(folder: Path, text: str) -> Problem:
    found = problems(folder, text)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def place(problem: Problem) -> str:
    return problem.where.rpartition("asked.yaml:")[2]


def test_the_example_of_the_design_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(ROWS, encoding="utf-8")
    text = """
data: [iris, weather_nominal, {path: mine.csv, target: y}]
models: [one-r, naive-bayes, {use: knn, grid: {k: [1, 3, 5]}}, {use: logistic-regression, steps: [standardise]}]
protocol: {use: stratified-k-fold, folds: 10}
metrics: [accuracy, f1-macro]
seed: 1
"""
    read = experiment(tmp_path, text)
    assert read.data == (DataSpec("iris"), DataSpec("weather_nominal"), DataSpec("mine.csv", "y"))
    assert read.models == (
        ModelSpec("one-r"),
        ModelSpec("naive-bayes"),
        *(ModelSpec("knn", {"k": k}) for k in (1, 3, 5)),
        ModelSpec("logistic-regression", steps=(StepSpec("standardise"),)),
    )
    assert read.protocol == ProtocolSpec("stratified-k-fold", {"folds": 10})
    assert read.metrics == ("accuracy", "f1-macro")
    assert read.seed == 1
    assert read.budget == Budget()


def test_what_is_left_out_is_left_to_the_kind_of_task(tmp_path: Path) -> None:
    read = experiment(tmp_path, "data: [iris]")
    assert (read.models, read.protocol, read.metrics, read.seed) == (None, None, (), 1)


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
name: all keys
description: one of each
data: [{name: iris, target: species, task: classification}]
models: [{use: knn, params: {k: 3}, steps: [impute, {use: min-max}], as: near}]
protocol: leave-one-out
metrics: [accuracy]
seed: 7
budget: 2.5
"""
    read = experiment(tmp_path, text)
    assert (read.name, read.description, read.seed) == ("all keys", "one of each", 7)
    assert read.budget == Budget(cell=2.5)
    assert read.data == (DataSpec("iris", "species", "classification"),)
    assert read.models == (ModelSpec("knn", {"k": 3}, (StepSpec("impute"), StepSpec("min-max")), "near"),)
    assert read.protocol == ProtocolSpec("leave-one-out")
    assert read.source == tmp_path / "asked.yaml"


def test_a_grid_makes_each_combination_in_order_the_last_key_fastest(tmp_path: Path) -> None:
    grid = "grid: {distance: [manhattan, cosine], k: [5, 1]}"
    text = f"data: [iris]\nmodels: [{{use: knn, params: {{weights: inverse}}, {grid}}}]"
    models = experiment(tmp_path, text).models
    assert models is not None
    assert [(model.params["distance"], model.params["k"]) for model in models] == [
        ("manhattan", 5),
        ("manhattan", 1),
        ("cosine", 5),
        ("cosine", 1),
    ]
    assert {model.params["weights"] for model in models} == {"inverse"}


def test_a_task_of_the_file_is_for_every_dataset_without_its_own(tmp_path: Path) -> None:
    text = "task: classification\ndata: [iris, {name: wine, task: classification}]"
    assert [spec.task for spec in experiment(tmp_path, text).data] == ["classification", "classification"]


def test_keys_that_begin_with_x_are_ignored_and_may_carry_anchors(tmp_path: Path) -> None:
    text = """
x-note: anything
x-ks: &ks {k: [1, 3]}
data: [{name: iris, x-why: small}]
models: [{use: knn, grid: *ks, x-note: the grid above}]
protocol: {use: k-fold, folds: 5, x-note: fewer}
"""
    read = experiment(tmp_path, text)
    assert [model.params for model in read.models or ()] == [{"k": 1}, {"k": 3}]
    assert read.protocol == ProtocolSpec("k-fold", {"folds": 5})


def test_a_protocol_without_id_sets_parameters_of_the_kinds_default(tmp_path: Path) -> None:
    assert experiment(tmp_path, "data: [iris]\nprotocol: {folds: 3}").protocol == ProtocolSpec("", {"folds": 3})


def test_every_problem_of_a_file_is_found_in_one_pass_from_top_to_bottom(tmp_path: Path) -> None:
    text = """\
data: [iris, iriss, {path: nowhere.csv, tarjet: y}]
models:
  - knn
  - {use: knnn}
  - {use: knn, params: {k: 0, distanse: cosine}}
  - {use: one-r, steps: [standardize]}
protocol: {use: k-fold, folds: 1}
metrics: [acuracy, accuracy]
seed: one
bugdet: 3
"""
    found = problems(tmp_path, text)
    assert [(place(problem), problem.what) for problem in found] == [
        ("1:14", "there is no dataset 'iriss'"),
        ("1:41", "there is no key 'tarjet' here"),
        ("4:6", "there is no model 'knnn'"),
        ("5:25", "knn: k must be at least 1, was given 0"),
        ("5:31", "knn has no parameter 'distanse'"),
        ("6:26", "there is no step 'standardize'"),
        ("7:25", "k-fold: folds must be at least 2, was given 1"),
        ("8:11", "there is no metric 'acuracy'"),
        ("9:1", "'seed' takes a whole number, was given 'one'"),
        ("10:1", "there is no key 'bugdet' here"),
    ]
    hints = [problem.hint for problem in found]
    assert hints[0] == "did you mean 'iris'?"
    assert hints[2] == "did you mean 'knn'?"
    assert hints[4] == "did you mean 'distance'?"
    assert hints[5] == "did you mean 'standardise'?"
    assert hints[7] == "did you mean 'accuracy'?"
    assert hints[9] == "did you mean 'budget'?"
    with pytest.raises(ExperimentError) as caught:
        read_experiment(tmp_path / "asked.yaml")
    assert caught.value.problems == tuple(found)


WRONG = {
    "data: iris": ("1:1", "'data' takes a list, was given 'iris'"),
    "data: []": ("1:1", "'data' takes a list of at least one"),
    "models: [knn]": ("1:1", "the key 'data' is missing"),
    "[iris]": ("1:1", "an experiment is a mapping of keys to values"),
    "": ("1:1", "an experiment is a mapping of keys to values"),
    "data: [3]": ("1:8", "a dataset is a shipped name, a path, or a mapping with 'path' or 'name'; this is 3"),
    "data: [{target: y}]": ("1:8", "a dataset takes one of 'path' and 'name'"),
    "data: [{name: iris, path: iris.csv}]": ("1:8", "a dataset takes one of 'path' and 'name'"),
    "data: [{name: iris, task: clasification}]": ("1:21", "there is no kind of task 'clasification'"),
    "data: [{name: iris, target: [a]}]": ("1:21", "'target' takes text, was given ['a']"),
    "data: [iris]\nmodels:": ("2:1", "'models' takes a list, was given nothing"),
    "data: [iris]\nmodels: []": ("2:1", "'models' takes a list of at least one"),
    "data: [iris]\nmodels: [3]": ("2:10", "a model is an id or a mapping with 'use'; this is 3"),
    "data: [iris]\nmodels: [{params: {k: 3}}]": ("2:10", "which model? The key 'use' is missing"),
    "data: [iris]\nmodels: [{use: [knn]}]": ("2:11", "'use' takes the id of a model, was given ['knn']"),
    "data: [iris]\nmodels: [{use: knn, k: 3}]": ("2:21", "a model has no key 'k'"),
    "data: [iris]\nmodels: [{use: knn, params: 3}]": ("2:21", "'params' takes a mapping, was given 3"),
    "data: [iris]\nmodels: [{use: knn, grid: {}}]": ("2:21", "this grid is empty"),
    "data: [iris]\nmodels: [{use: knn, grid: {k: []}}]": ("2:28", "'k' has no values in this grid"),
    "data: [iris]\nmodels: [{use: knn, grid: {k: 3}}]": (
        "2:28",
        "'k' takes a list of values in a grid, was given 3",
    ),
    "data: [iris]\nmodels: [{use: knn, grid: {k: [1, -1]}}]": ("2:35", "knn: k must be at least 1, was given -1"),
    "data: [iris]\nmodels: [{use: knn, params: {k: 1}, grid: {k: [2]}}]": (
        "2:44",
        "'k' stands in 'params' and in 'grid'",
    ),
    "data: [iris]\nmodels: [{use: knn, steps: impute}]": ("2:21", "'steps' takes a list, was given 'impute'"),
    "data: [iris]\nmodels: [{use: knn, steps: [{use: impute, numbers: mean}]}]": (
        "2:43",
        "a step has no key 'numbers'",
    ),
    "data: [iris]\nmodels: [{use: knn, as: 3}]": (
        "2:21",
        "'as' takes the name that tables shall show, was given 3",
    ),
    "data: [iris]\nmodels: [{use: knn, as: near}, {use: one-r, as: near}]": (
        "2:32",
        "two models are called 'near'",
    ),
    "data: [iris]\nmodels: [one-r, {use: knn, as: one-r}]": ("2:17", "two models are called 'one-r'"),
    "data: [iris]\nmodels: [knn, {use: knn, params: {k: 5}}]": (
        "2:15",
        "knn is listed twice, with the same parameters and steps",
    ),
    "data: [iris]\nmodels: [{use: knn, grid: {k: [1, 2, 1]}}]": (
        "2:10",
        "knn k=1 is listed twice, with the same parameters and steps",
    ),
    "data: [iris]\nmodels: [{}]": ("2:10", "which model? The key 'use' is missing"),
    "data: [iris]\nmodels: [null]": ("2:10", "a model is an id or a mapping with 'use'; this is nothing"),
    "data: [iris]\nmodels: [{use: knn, as: zero-r}]": (
        "2:10",
        "two models would be called 'zero-r' in the table of iris",
    ),
    "data: [iris]\nprotocol:": ("2:1", "a protocol is an id or a mapping with 'use'; this is nothing"),
    "data: [iris]\nprotocol: {}": ("2:1", "which protocol? The key 'use' is missing"),
    "data: [iris]\nprotocol: {x-folds: 3}": ("2:1", "which protocol? The key 'use' is missing"),
    "data: [iris]\nprotocol: kfold": ("2:1", "there is no protocol 'kfold'"),
    "data: [iris]\nprotocol: {use: k-fold, fold: 3}": ("2:25", "k-fold has no parameter 'fold'"),
    "data: [iris]\nprotocol: {fold: 3}": ("2:1", "stratified-k-fold has no parameter 'fold'"),
    "data: [cpu]\nprotocol: stratified-k-fold": ("2:1", "cpu is regression, which stratified-k-fold cannot split"),
    "data: [weather_nominal]\nprotocol: {use: k-fold, folds: 20}": (
        "2:1",
        "weather_nominal: k-fold: 20 folds need at least 20 rows, there are 14",
    ),
    "data: [iris]\nmetrics: [rmse]": ("2:11", "'rmse' is a metric of regression, not of classification"),
    "data: [iris, cpu]\nmetrics: [accuracy]": (
        "1:14",
        "no metric of this experiment can score cpu, which is regression",
    ),
    "data: [iris]\nmetrics: [accuracy, accuracy]": ("2:21", "the metric 'accuracy' is listed twice"),
    "data: [iris]\nseed: true": ("2:1", "'seed' takes a whole number, was given True"),
    "data: [iris]\nseed: -1": ("2:1", "'seed' must be at least 0, was given -1"),
    "data: [iris]\nseed: 9223372036854775808": (
        "2:1",
        "'seed' must be at most 9223372036854775807, was given 9223372036854775808",
    ),
    "data: [iris]\nmodels: [./absent.mlcli]": (
        "2:10",
        "{folder}/absent.mlcli: cannot be read: No such file or directory",
    ),
    "x-a: &a {use: knn}\ndata: [iris]\nmodels: [{<<: *a, use: one-r}]": (
        "3:11",
        "merging mappings with << is not part of YAML 1.2",
    ),
    "data: [iris]\nbudget: 0": ("2:1", "'budget' takes a duration such as 60s, 15m or 2h; was given 0"),
    "data: [iris]\nbudget: {cell: 1h, memroy: 4GiB}": ("2:20", "a budget has no key 'memroy'"),
    "data: [iris]\nbudget: {memory: 4}": ("2:10", "'memory' takes a size such as 500MB or 4GiB; was given 4"),
    "data: [iris, iris]": ("1:14", "iris is listed twice"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_plain_words_with_its_place(tmp_path: Path, text: str) -> None:
    problem = the_problem(tmp_path, text)
    where, what = WRONG[text]
    assert (place(problem), problem.what) == (where, what.replace("{folder}", str(tmp_path)))


def test_a_parameter_in_the_wrong_place_is_told_where_it_belongs(tmp_path: Path) -> None:
    assert the_problem(tmp_path, "data: [iris]\nmodels: [{use: knn, k: 3}]").hint == (
        "it is a parameter: write params: {k: 3}"
    )
    found = problems(tmp_path, "data: [iris]\nmodels: [{knn: {k: 3}}]")
    assert "write {use: knn, params: {k: 3}}" in [problem.hint for problem in found]


def test_no_example_of_a_list_is_made_of_what_is_no_item(tmp_path: Path) -> None:
    assert the_problem(tmp_path, "data: iris").hint == "such as data: [iris]"
    for wrong in ("data:", "data: 5", "data: {knn: {k: 3}}"):
        assert the_problem(tmp_path, wrong).hint == "the datasets: shipped names, paths, or mappings"


def test_a_target_that_is_no_column_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(ROWS, encoding="utf-8")
    problem = the_problem(tmp_path, "data: [{path: mine.csv, target: z}]")
    assert "'z'" in problem.what
    assert place(problem) == "1:8"


def test_a_problem_with_a_line_of_its_own_stays_there(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,y\n1,2\n3,4,5\n", encoding="utf-8")
    assert the_problem(tmp_path, "data: [mine.csv]").where.endswith("mine.csv:3")


def test_a_protocol_that_cannot_be_read_gives_no_second_problem(tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text("a,y\n1,no\n2,yes\n3,no\n", encoding="utf-8")
    problem = the_problem(tmp_path, "data: [{path: small.csv, target: y}]\nprotocol: {use: k-fold, foldss: 2}")
    assert problem.what == "k-fold has no parameter 'foldss'"


def test_a_grid_too_large_to_run_is_refused_without_being_expanded(tmp_path: Path) -> None:
    numbers = ", ".join(map(str, range(1, 401)))
    text = f"data: [iris]\nmodels: [{{use: naive-bayes, grid: {{alpha: [{numbers}], m: [{numbers}]}}}}]"
    assert the_problem(tmp_path, text).what == "this grid has 160,000 combinations, at most 10,000 work"


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "mine.csv").write_text(ROWS, encoding="utf-8")
    monkeypatch.chdir("/")
    assert problems(tmp_path / "sub", "data: [{path: ../mine.csv, target: y}]") == []


def test_yaml_that_cannot_be_read_is_reported_with_its_place(tmp_path: Path) -> None:
    problem = problems(tmp_path, "data: [iris\nmodels: [knn]")[0]
    assert place(problem).startswith("2:")


def test_a_file_without_fault_of_its_own_is_read_before_its_datasets_are(tmp_path: Path) -> None:
    assert experiment(tmp_path, "data: [no_such_dataset]").data == (DataSpec("no_such_dataset"),)
    assert the_problem(tmp_path, "data: [no_such_dataset]").what == "there is no dataset 'no_such_dataset'"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_experiments_are_free_of_problems(path: Path) -> None:
    assert check(path) == []
    assert read_experiment(path).description
