"""What ``--json`` writes fits the schema that ``mlcli schema results`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mlcli.api.results_schema import DOCUMENTS, results_schema
from tests.support.shell import document, typed

SCHEMA = results_schema()
EVAL = "eval, run, report of a run, runs show"
COMMANDS: list[tuple[str, tuple[str, ...]]] = [
    (EVAL, ("eval", "iris", "-m", "knn", "-m", "naive-bayes", "--show", "curves", "--store", "runs.db")),
    (EVAL, ("eval", "cpu", "-m", "ridge", "--tune", "--fail-under", "r2=0.1")),
    (EVAL, ("eval", "iris", "-m", "k-means", "--task", "clustering")),
    (EVAL, ("eval", "arrests", "-m", "naive-bayes", "--show", "fairness")),
    (EVAL, ("eval", "wsn_singlehop", "-m", "lof")),
    ("curve", ("curve", "learning", "iris", "-m", "knn", "--sizes", "20,40,80")),
    ("curve", ("curve", "bias-variance", "iris", "-m", "knn")),
    ("train", ("train", "iris", "-m", "decision-tree", "-o", "tree.mlcli")),
    ("data", ("data",)),
    ("data of a dataset", ("data", "iris")),
    ("data --plot", ("data", "iris", "--plot", "petal_length")),
    ("data of two files", ("data", "iris", "iris")),
    ("audit", ("audit", "iris")),
    ("audit -m", ("audit", "iris", "-m", "knn")),
    ("doctor", ("doctor",)),
    ("models", ("models",)),
    ("models of an id", ("models", "knn")),
    ("models of a word", ("models", "neighbours")),
]
AFTERWARDS: list[tuple[str, tuple[str, ...]]] = [
    ("compare", ("compare", "1", "--store", "runs.db")),
    ("runs verify", ("runs", "verify", "1", "--store", "runs.db")),
    ("runs rerun", ("runs", "rerun", "1", "--store", "runs.db")),
    ("runs list", ("runs", "list", "--store", "runs.db")),
    ("runs gc, merge, export, import", ("runs", "gc", "--store", "runs.db")),
    ("runs remove", ("runs", "remove", "1", "--store", "runs.db")),
]


def faults(name: str, value: Any) -> list[str]:
    """Where a document does not fit the schema of its name."""
    place = list(DOCUMENTS).index(name)
    schema = {**SCHEMA["anyOf"][place], "$defs": SCHEMA["$defs"]}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert document(typed("schema", "results")) == SCHEMA


def test_documents_of_commands_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, words in (*COMMANDS, *AFTERWARDS):
        result = typed(*words, "--json")
        assert result.exit_code == 0, (words, result.output)
        assert faults(name, document(result)) == [], words


def test_what_is_left_out_or_added_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = document(typed("eval", "iris", "-m", "zero-r", "--json"))
    assert faults(EVAL, {**found, "more": 1})
    assert faults(EVAL, {**found, "cells": [{**found["cells"][0], "metrics": None}]})
