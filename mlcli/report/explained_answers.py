"""How a saved model comes to its answers about single rows, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation, as_json
from mlcli.core.tables import Array, Rows, Table
from mlcli.core.threads import one_blas_thread
from mlcli.engines.hidden_columns import changes
from mlcli.report.as_json import plain
from mlcli.report.document import Document, Heading, Sentence, explained
from mlcli.report.numbers import counted, short
from mlcli.report.predictions import predictions_of
from mlcli.tasks.sequence_labelling import in_order
from mlcli.tasks.stretches import numbered_by_appearance
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.data.new_rows import NewRows
    from mlcli.experiment.saved.saved_model import SavedModel

MOST_EXPLAINED = 20
"""Of how many rows it is shown how their answers come about, where none are chosen."""
MOST_OUTPUTS = 5
SEQUENCE = "sequence"


@dataclass(frozen=True)
class ExplainedAnswer:
    """What is answered about a row, or a sequence of rows, and why."""

    what: str
    answer: str
    findings: Explanation


def answers_explained(saved: SavedModel, rows: NewRows, chosen: Sequence[int] = ()) -> list[ExplainedAnswer]:
    """Those of the chosen rows, or of the first; a row is numbered from 1."""
    for number in chosen:
        if not 1 <= number <= len(rows):
            raise UsageError(f"there is no row {number}", hint=f"the rows are 1 to {len(rows)}")
    with one_blas_thread():
        found = [_explained(saved, rows, *unit) for unit in _units(saved, rows, chosen)]
    if not any(one.findings for one in found):
        what = f"{saved.pipeline.final.name} cannot show how it comes to an answer"
        raise UsageError(what, hint="mlcli train shows what a method has learned")
    return found


def document_of(found: Sequence[ExplainedAnswer], left_out: int) -> Document:
    """Each under its own heading."""
    elements: Document = ()
    for one in found:
        title = f"{one.what}: {one.answer}" if one.answer else one.what
        elements += (Heading(title, 1), *explained(one.findings))
    return (*elements, Sentence(f"{counted(left_out, 'more row')} left out")) if left_out else elements


def explained_as_json(found: Sequence[ExplainedAnswer]) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {"what": one.what, "answer": one.answer, "findings": plain([as_json(finding) for finding in one.findings])}
        for one in found
    ]


def _units(saved: SavedModel, rows: NewRows, chosen: Sequence[int]) -> Iterator[tuple[str, Rows]]:
    """What is answered together: each row for itself, or the sequences in which the rows stand."""
    wanted = np.array(chosen, np.intp) - 1 if chosen else np.arange(min(len(rows), MOST_EXPLAINED))
    beside = rows.texts(saved.by_role)
    if SEQUENCE not in kind_named(saved.kind).roles or SEQUENCE not in beside:
        yield from ((f"Row {row + 1}", np.array([row])) for row in wanted.tolist())
        return
    names = beside[SEQUENCE]
    order = np.array(beside["order"], np.float64) if "order" in beside else None
    sequence = numbered_by_appearance(names)
    sorted_rows = in_order(sequence, order)
    for one in dict.fromkeys(sequence[wanted].tolist()):
        inside = sorted_rows[sequence[sorted_rows] == one]
        yield f"Sequence {names[inside[0]]}", inside


def _explained(saved: SavedModel, rows: NewRows, what: str, places: Rows) -> ExplainedAnswer:
    model, table = saved.pipeline.final, rows.table.take(places)
    own = model.explain_answer(saved.pipeline.prepared(table))
    base: Any = kind_named(saved.kind).base
    names = base.output_names(model)
    if not names:
        answers = next(iter(predictions_of(saved, rows).values()), [""] * len(rows))
        return ExplainedAnswer(what, " ".join(answers[place] for place in places.tolist()), own)

    def outputs_of(asked: Table) -> Array:
        found: Array = base.outputs_of(model, saved.pipeline.prepared(asked))
        return found

    outputs = outputs_of(table)[0]
    order = np.argsort(-outputs, kind="stable")[:MOST_OUTPUTS].tolist()
    largest = ", ".join(f"{names[k]} = {short(float(outputs[k]))}" for k in order)
    return ExplainedAnswer(what, largest, (*own, changes(outputs_of, table, saved.usual, names)))
