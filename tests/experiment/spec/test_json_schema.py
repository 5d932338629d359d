"""The JSON Schema of the experiment file agrees with what reading it accepts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mlcli.core.errors import ExperimentError
from mlcli.core.params import parameters
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS
from mlcli.core.strict_yaml import parse, read
from mlcli.experiment.spec.json_schema import experiment_schema

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "experiments").glob("*.yaml"))
GUIDES = (ROOT / "docs" / "experiments.md", ROOT / "docs" / "protocols.md")
EXAMPLES = [
    (f"{guide.stem}-{number}", text)
    for guide in GUIDES
    for number, text in enumerate(
        re.findall(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL), 1
    )
]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(experiment_schema())


def valid(validator: Draft202012Validator, text: str) -> bool:
    return bool(validator.is_valid(parse(text, "asked.yaml", ExperimentError).value))


def test_the_schema_is_itself_valid_and_plain_json() -> None:
    schema = experiment_schema()
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == json.loads(json.dumps(schema, default=str))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_experiments_are_valid(validator: Draft202012Validator, path: Path) -> None:
    assert [error.message for error in validator.iter_errors(read(path, ExperimentError).value)] == []


@pytest.mark.parametrize(("name", "text"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_the_examples_of_the_guides_are_valid(validator: Draft202012Validator, name: str, text: str) -> None:
    value = parse(text, name, ExperimentError).value
    whole = value if "data" in value else {"data": ["iris"], **value}
    assert [error.message for error in validator.iter_errors(whole)] == []


@pytest.mark.parametrize(
    "text",
    [
        "models: [knn]",
        "data: iris",
        "data: []",
        "data: [{target: y}]",
        "data: [{name: iris, path: iris.csv}]",
        "data: [{name: no-such-dataset}]",
        "data: [iris]\nmodels: [knnn]",
        "data: [iris]\nmodels: [{params: {k: 3}}]",
        "data: [iris]\nmodels: [{use: knn, k: 3}]",
        "data: [iris]\nmodels: [{use: knn, params: {k: 0}}]",
        "data: [iris]\nmodels: [{use: knn, params: {k: 2.5}}]",
        "data: [iris]\nmodels: [{use: knn, params: {distance: far}}]",
        "data: [iris]\nmodels: [{use: knn, params: {l2: 1}}]",
        "data: [iris]\nmodels: [{use: knn, grid: {}}]",
        "data: [iris]\nmodels: [{use: knn, grid: {k: 3}}]",
        "data: [iris]\nmodels: [{use: knn, grid: {k: [0]}}]",
        "data: [iris]\nmodels: [{use: knn, steps: [standardize]}]",
        "data: [iris]\nprotocol: kfold",
        "data: [iris]\nprotocol: {use: k-fold, folds: 1}",
        "data: [iris]\nprotocol: {use: holdout, folds: 3}",
        "data: [iris]\nmetrics: [acuracy]",
        "data: [iris]\nseed: one",
        "data: [iris]\nbudget: 0",
        "data: [iris]\nbudget: {cel: 60s}",
        "data: [iris]\ntask: clasification",
        "data: [iris]\nbugdet: 3",
    ],
)
def test_what_reading_refuses_of_a_file_the_schema_refuses_too(validator: Draft202012Validator, text: str) -> None:
    assert not valid(validator, text)


@pytest.mark.parametrize(
    "text",
    [
        "data: [iris, ./mine.csv, {path: mine.csv, target: y, task: regression}, {name: iris}]",
        "data: [iris]\nmodels: [knn, ./saved.mlcli, {use: knn, params: {k: 3}, grid: {weights: [inverse]}}]",
        "data: [iris]\nmodels: [{use: knn, steps: [impute, {use: standardise, params: {ddof: 1}}]}]",
        "data: [iris]\nprotocol: leave-one-out",
        "data: [iris]\nprotocol: {folds: 5, repeats: 2}",
        "data: [iris]\nmetrics: [accuracy, 'recall[setosa]']",
        "data: [iris]\nbudget: {cell: 60s, total: 2h, memory: 4GiB}",
        "data: [iris]\nx-note: {any: thing}\nseed: 3\nbudget: 0.5\nname: a\ndescription: b",
    ],
)
def test_every_form_that_reading_accepts_is_valid(validator: Draft202012Validator, text: str) -> None:
    assert valid(validator, text)


def branches(definition: str) -> dict[str, Any]:
    found = experiment_schema()["$defs"][definition]["anyOf"]
    of_ids = [one for one in found if "const" in one.get("properties", {}).get("use", {})]
    return {one["properties"]["use"]["const"]: one for one in of_ids}


@pytest.mark.parametrize(
    ("definition", "catalogue"), [("model", MODELS), ("step", STEPS), ("protocol", PROTOCOLS)]
)
def test_each_registered_thing_has_a_branch_with_its_parameters_and_their_help(
    definition: str, catalogue: Any
) -> None:
    found = branches(definition)
    assert set(found) == set(catalogue.names())
    for name, branch in found.items():
        properties = branch["properties"]
        values = properties if definition == "protocol" else properties["params"]["properties"]
        for parameter in parameters(catalogue.load(name)):
            assert values[parameter.name]["description"] == parameter.help
