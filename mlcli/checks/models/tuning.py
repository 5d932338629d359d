"""Parameters: chosen at the edge of what was tried, or left at their defaults where trying others is worth it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mlcli.checks.diagnosed import Diagnosed
from mlcli.core.effective import has_effect
from mlcli.core.findings import CHOSEN, Table
from mlcli.core.issues import Issue, Repair
from mlcli.core.names import listed
from mlcli.core.params import parameters
from mlcli.engines.tuning.space import value_text
from mlcli.experiment.spec.shorthands import can_be_tuned, values_compared

EDGES = ("lowest", "highest")
OFTEN = 0.5


def tuned_to_the_edge(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Values that lie at the end of what was tried, beyond which better ones may be."""
    tables = _choices(diagnosed)
    edges = Counter(
        (str(name), edge)
        for table in tables
        for name, _, remark in table.rows[:-1]
        for edge in EDGES
        if edge in str(remark or "")
    )
    for (name, edge), count in edges.items():
        if count >= OFTEN * len(tables):
            value = next(row[1] for table in tables for row in table.rows if row[0] == name)
            beyond = "above" if edge == "highest" else "below"
            yield Issue(
                "warning",
                f"{name} was tuned to the {edge} value that was tried in {count} of {len(tables)} splits",
                f"such as {value}; values {beyond} it may be better",
                (Repair("experiment", f"tune:\n  ranges: {{{name}: {{from: LOW, to: HIGH, scale: log}}}}"),),
            )


def nothing_tuned(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Parameters at their defaults that are worth tuning."""
    cell = diagnosed.cell
    if _choices(diagnosed) or cell.model.saved is not None:
        return
    model = cell.model.built()
    default = [
        f"{one.name} ({value_text(one.default)})"
        for one in parameters(type(model))
        if one.tune is not None and has_effect(model, one) and cell.model.params.get(one.name) == one.default
    ]
    if default:
        yield Issue(
            "advice",
            f"nothing of {cell.label} was tuned: worth trying are {listed(default)}",
            "defaults suit most data, and yours may be others",
            (Repair("option", "--tune" if can_be_tuned(cell.model.use) else values_compared(cell.model.use)),),
        )


def _choices(diagnosed: Diagnosed) -> list[Table]:
    """What each split chose."""
    found = (finding for split in diagnosed.model.result.splits for finding in split.explanation[:1])
    return [one for one in found if isinstance(one, Table) and one.title == CHOSEN]
