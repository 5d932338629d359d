"""The axes that projections have found in the first split: how much lies along each, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mlcli.core import findings
from mlcli.engines.principal import LOADINGS, SCREE
from mlcli.report.document import Element
from mlcli.report.findings import explained
from mlcli.report.numbers import counted
from mlcli.report.scored import Scored

MOST_COMPONENTS = 5
"""More loadings beside each other than these are left to ``mlcli train``."""

Axes = tuple[findings.Bars, findings.Table]


def axes_of(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Element]:
    """A scree plot and loadings; models with the same axes share them, shown for the one that keeps the most."""
    found: dict[object, tuple[Scored, Axes]] = {}
    for one in group:
        if (axes := _axes(one)) is None:
            continue
        scree, loadings = axes
        known = found.get(scree.values)
        if known is None or len(known[1][1].header) < len(loadings.header):
            found[scree.values] = one, axes
    for one, (scree, loadings) in found.values():
        where = f"{names[one]}: {one.result.splits[0].label} of {len(one.result.splits)}"
        if len(one.result.splits) == 1:
            where = names[one]
        titled = replace(scree, title=f"{where}: scree"), replace(_narrow(loadings), title=f"{where}: loadings")
        yield from explained(titled)


def _axes(one: Scored) -> Axes | None:
    """What the model of the first split says of its axes, if it has any; steps before it may have some as well."""
    found = {finding.title: finding for finding in one.result.splits[0].explanation}
    scree, loadings = found.get(SCREE), found.get(LOADINGS)
    if isinstance(scree, findings.Bars) and isinstance(loadings, findings.Table):
        return scree, loadings
    return None


def _narrow(loadings: findings.Table) -> findings.Table:
    """The loadings on the first components."""
    beyond = len(loadings.header) - 1 - MOST_COMPONENTS
    if beyond <= 0:
        return loadings
    kept = slice(MOST_COMPONENTS + 1)
    note = f"{loadings.note} {counted(beyond, 'more component')}: mlcli train shows them".strip()
    return replace(
        loadings, header=loadings.header[kept], rows=tuple(row[kept] for row in loadings.rows), note=note
    )
