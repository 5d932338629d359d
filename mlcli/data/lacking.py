"""Columns that a model needs and a file does not have, told as one problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.errors import Problem
from mlcli.core.names import listed, nearest


def lacking(needed: Sequence[str], names: Sequence[str], where: str) -> Iterator[Problem]:
    """One problem for all columns that are not there, with those that may be meant; none where all are."""
    absent = [name for name in needed if name not in names]
    if absent:
        what = f"lacks {len(absent)} of the {len(needed)} columns that the model needs: {listed(absent)}"
        meant = [f"'{close}' for '{name}'" for name in absent if (close := nearest(name, names))]
        hint = f"did you mean {listed(meant)}?" if meant else f"it has {listed(names)}"
        yield Problem(what, where=where, hint=hint)
