"""What every method answers on a few shipped rows, as short digests: they change when the answers do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.configuration import parts_of
from mlcli.core.model import Model
from mlcli.core.nested import can_do
from mlcli.core.params import build, parameters
from mlcli.core.pipeline import predict_rows
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Accepts
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.experiment.run.preparation import CORE_REVISION, Learner, revisions_of
from mlcli.experiment.spec.cells import ModelSpec
from mlcli.tasks.table import kinds_of
from tests.contract.subjects import configurations
from tests.support.samples import rows_of, taken

Canary = Mapping[str, Any]
"""A declared revision, and digests of the answers by configuration."""
FILE = Path(__file__).with_name("answers.json")
CORE = "core"
CATALOGUES = {catalogue.noun: catalogue for catalogue in (MODELS, STEPS)}
RAISE = "raise `revision` in its @register line (where an engine changed many, CORE_REVISION in preparation.py)"
WRITE = "python -m tests.canary.write"
DIGITS = 1e6
"""How finely numbers are told apart, beside the largest of theirs."""
NOTHING = 1e-6
"""Where even the largest number is below this, all are the rounding of zeros."""
BETWEEN = 0.381966
"""Keeps simple fractions away from the border between two roundings, where platforms would disagree."""
FOR_STEPS = {"penguins": slice(0, 344, 3), "housing_satisfaction": slice(0, 72)}
"""Numbers, empty cells, and levels with and without an order."""
SMALL = {"rounds": 10, "trees": 10, "bags": 5, "epochs": 20, "steps": 20}
"""What would take long, in kernels that are not compiled above all, or double the rounding of each step."""
CLOSE = {name: {"tolerance": 1e-9} for name in ("svm", "svm-regression", "one-class-svm", "svdd")}
"""What otherwise stops where processors with other roundings would not."""
NEVER = {"revision": 0}
HEADER = {field.name for field in fields(Answers)}


def titles() -> list[str]:
    """All that has a canary, such as "model knn"."""
    return [CORE, *(f"{noun} {name}" for noun, catalogue in CATALOGUES.items() for name in catalogue.names())]


def recorded() -> dict[str, Canary]:
    """What was written down."""
    known: dict[str, Canary] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def found(title: str) -> Canary:
    """What a method declares and answers now."""
    if title == CORE:
        return {"revision": CORE_REVISION, "digests": {}}
    noun, name = title.split()
    cls: Any = CATALOGUES[noun].load(name)
    return {"revision": cls.revision, "digests": {how: _digest(answer) for how, answer in ANSWERS[noun](cls)}}


def problem_with(title: str, now: Canary, before: Mapping[str, Canary]) -> str:
    """What is to be done before a canary is right again; nothing if it is."""
    changed = unannounced(title, now, before)
    if changed:
        return f"the answers of {title} ({'; '.join(changed)}) have changed: {RAISE}, then run {WRITE}"
    return "" if before.get(title) == now else f"{title} is new or its revision was raised: run {WRITE}"


def unannounced(title: str, now: Canary, before: Mapping[str, Canary]) -> list[str]:
    """The configurations whose answers have changed, where no revision has: its own or one that it is built on."""
    known = before.get(title, {"digests": {}})["digests"]
    changed = [how for how, digest in now["digests"].items() if known.get(how, digest) != digest]
    raised = changed and any(number > before.get(one, NEVER)["revision"] for one, number in _below(title))
    return [] if raised else changed


def _below(title: str) -> Iterator[tuple[str, int]]:
    """The revisions of core, of a method, and of the methods that it is built around."""
    noun, name = title.split()
    yield CORE, CORE_REVISION
    made = build(CATALOGUES[noun].load(name), {})
    yield from revisions_of(parts_of(made) if isinstance(made, Model) else [(name, type(made))]).items()


def _digest(answer: Any) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:10]


def _of_model(cls: Any) -> Iterator[tuple[str, Any]]:
    small: dict[str, Any] = {
        parameter.name: SMALL[parameter.name] for parameter in parameters(cls) if parameter.name in SMALL
    }
    small |= CLOSE.get(cls.id, {})
    for kind in (one for one in kinds_of(cls) if can_do(build(cls, small), one.base)):
        for said, chosen, weighted in _configurations(cls):
            params = small | chosen
            accepts = build(cls, params).accepts
            rows = _weighted(rows_of(kind.name)) if weighted else rows_of(kind.name)
            rows = _scaled(_accepted(rows, accepts))
            only = kind.protocols[0] == "whole" or getattr(cls, "transductive", False)
            unlabelled = accepts.unlabelled and kind.name == "classification"
            train, test = (rows, rows) if only else _parts(rows, unlabelled=unlabelled)
            learned = Learner("canary", ModelSpec(cls.id, params), (), seed=1).fitted(train, 0)
            yield f"{kind.name}{said}", _plain(predict_rows(learned, test))


def _of_step(cls: Any) -> Iterator[tuple[str, Any]]:
    for name, part in FOR_STEPS.items():
        whole = taken(load(name), "classification", part)
        for said, chosen, weighted in _configurations(cls):
            step = build(cls, chosen)
            rows = _accepted(_weighted(whole) if weighted else whole, step.accepts)
            rng = np.random.default_rng(1)
            step.learn(rows, rng)
            learned = step.training_rows(rows.transformed(step.apply), rng)
            changed = learned.table
            names = [[column.name, column.levels] for column in changed.columns]
            counts = [_rounded(learned.weights)] if step.changes_rows else []
            yield f"{name}{said}", [names, _rounded(changed.numbers), _rounded(changed.codes), *counts]


def _configurations(cls: Any) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """In words, the parameters that are no defaults, and whether rows are weighted."""
    for chosen in configurations(cls):
        yield "".join(f", {name}: {value}" for name, value in chosen), dict(chosen), False
    if build(cls, {}).accepts.weights:
        yield ", weighted", {}, True


def _weighted(rows: Any) -> Any:
    return replace(rows, weight=1.0 + np.arange(len(rows)) % 3)


def _accepted(rows: Any, accepts: Accepts) -> Any:
    """The columns and rows that a method takes as they are."""
    columns = [column for column in rows.table.columns if (accepts.nominal if column.coded else accepts.numbers)]
    rows = rows.with_table(rows.table.select(column.name for column in columns))
    if accepts.missing:
        return rows
    full = ~(np.isnan(rows.table.numbers).any(axis=1) | (rows.table.codes < 0).any(axis=1))
    return rows.take(np.flatnonzero(full))


def _scaled(rows: Any) -> Any:
    """The same rows with numbers on one scale, where methods converge fast, rounded to be equal anywhere."""
    table: Table = rows.table
    spread = np.nanstd(table.numbers, axis=0)
    scaled = (table.numbers - np.nanmean(table.numbers, axis=0)) / np.where(spread > 0, spread, 1.0)
    return rows.with_table(Table(table.columns, np.round(scaled, 6), table.codes))


def _parts(rows: Any, *, unlabelled: bool) -> tuple[Any, Any]:
    """Rows to learn from and rows to be asked about."""
    groups = rows.split_info().groups
    odd = (np.arange(len(rows)) if groups is None else groups) % 2 == 1
    train, test = np.flatnonzero(~odd), np.flatnonzero(odd)
    if unlabelled:
        return rows.hiding(train[::4], train), rows.take(test)
    return rows.take(train), rows.take(test)


def _plain(answers: Answers) -> dict[str, Any]:
    """What was said, without the numbers of the rows and the like."""
    named = {field.name: getattr(answers, field.name) for field in fields(answers) if field.name not in HEADER}
    return {name: _rounded(np.asarray(value)) for name, value in named.items() if value is not None}


def _rounded(array: np.ndarray[Any, Any]) -> Any:
    """An array as plain values on which platforms agree."""
    if array.dtype.kind != "f":
        return array.tolist()
    finite = np.isfinite(array)
    largest = np.abs(array[finite]).max(initial=NOTHING)
    steps = np.floor(np.where(finite, array, 0.0) / largest * DIGITS + BETWEEN).astype(np.int64)
    return [f"{largest:.6g}", steps.tolist(), np.flatnonzero(~finite).tolist()]


ANSWERS: dict[str, Callable[[Any], Iterator[tuple[str, Any]]]] = {"model": _of_model, "step": _of_step}
