"""What inner splits chose in each split: values, inner score, how often each was chosen, what lies at an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mlcli.core.findings import CANDIDATES, CHOSEN, Entry, Table
from mlcli.experiment.run.split_results import SplitResult
from mlcli.experiment.spec.cells import SELECTED, TUNED
from mlcli.report.document import Element, Heading, explained, grid, notes
from mlcli.report.numbers import DIGITS
from mlcli.scoring.model_results import Group, ModelResult

MOST_SPLITS = 20
"""With more splits than this, only how often each choice was made is shown."""


def choices_in(group: Group) -> Iterator[Element]:
    """A table for each model that chooses by inner splits."""
    for one, name in group.items():
        if tables := _choice_tables(one):
            yield from _choice_elements(name, tables)


def choices_as_json(one: ModelResult) -> dict[str, Any]:
    """What was chosen in each split, of a model that chooses."""
    found = [
        {
            "split": split.label,
            "chosen": {name: value for name, value, _ in table.rows[:-1]},
            "inner_score": table.rows[-1][1],
            "edges": {name: remark for name, _, remark in table.rows[:-1] if remark},
        }
        for split, table in _choice_tables(one)
    ]
    return {"chosen": found} if found else {}


def _choice_tables(one: ModelResult) -> list[tuple[SplitResult, Table]]:
    """The splits that were fitted, each with what it chose; none of a model that chooses nothing."""
    splits = one.splits if one.cell.model.use in (TUNED, SELECTED) else ()
    first = ((split, finding) for split in splits for finding in split.explanation[:1])
    return [(split, one) for split, one in first if isinstance(one, Table) and one.title == CHOSEN]


def _choice_elements(name: str, tables: Sequence[tuple[SplitResult, Table]]) -> Iterator[Element]:
    names = tuple(dict.fromkeys(str(row[0]) for _, table in tables for row in table.rows[:-1]))
    header = ("split", *names, str(tables[0][1].rows[-1][0]))
    yield Heading(f"{name}: chosen by inner splits")
    if len(tables) <= MOST_SPLITS:
        rows = []
        for split, table in tables:  # where rows are too few for inner splits, nothing is chosen
            *choices, score = table.rows
            texts = {row[0]: _value_text(row[1], row[2]) for row in choices}
            rows.append((split.label, *(texts.get(one, "") for one in names), _value_text(score[1], score[2])))
        yield grid(header, rows, right=range(1, len(header)))
    yield notes(*_frequency_notes(tables), *_edge_notes(tables))
    if len(tables) == 1:
        yield from explained([one for one in tables[0][0].explanation if one.title == CANDIDATES])


def _frequency_notes(tables: Sequence[tuple[SplitResult, Table]]) -> Iterator[str]:
    made = [tuple((row[0], _plain_value_text(row[1])) for row in table.rows[:-1]) for _, table in tables]
    counts = Counter(made).most_common()
    if len(tables) > 1 and counts[0][1] > 1:
        texts = [f"{', '.join(f'{name}={value}' for name, value in one)} in {count}" for one, count in counts[:5]]
        more = f", {len(counts) - 5} others" if len(counts) > 5 else ""
        yield f"chosen most often, of {len(tables)} splits: {'; '.join(texts)}{more}"
    elif len(tables) > 1:
        yield f"each of {len(tables)} splits chose something else"


def _edge_notes(tables: Sequence[tuple[SplitResult, Table]]) -> Iterator[str]:
    remarks = Counter((row[0], row[2]) for _, table in tables for row in table.rows[:-1] if row[2])
    for (name, remark), count in remarks.items():
        yield f"{name} was {remark} in {count} of {len(tables)} splits: values beyond it may be better"
    if remarks:
        yield "* is at the end of the range that was searched"


def _value_text(value: Entry, remark: Entry) -> str:
    return f"{_plain_value_text(value)}{'*' if remark and not str(remark).startswith('±') else ''}"


def _plain_value_text(value: Entry) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
