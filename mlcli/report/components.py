"""The groups that a density has told apart, beside its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlcli.report.document import Block, Heading
from mlcli.report.explanation import explained
from mlcli.report.scored import Scored
from mlcli.report.verdict import best_of
from mlcli.tasks.group_profile import PROFILES


def groups_of_best(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Block]:
    """What the groups of the best model look like, as the first split has found them."""
    best = best_of(group, group[0].metrics[0])
    if best is None:
        return
    splits = best.result.splits
    found = tuple(section for section in splits[0].explanation if section.title in PROFILES)
    if found:
        which = "" if len(splits) == 1 else f", as learned in {splits[0].label} of {len(splits)}"
        yield Heading(f"{names[best]}{which}")
        yield from explained(found)
