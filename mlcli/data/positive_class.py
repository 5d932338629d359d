"""A target of which one side is looked for: two levels, the last of them the one looked for, the anomaly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.names import did_you_mean, listed
from mlcli.data.columns import Typed, retyped
from mlcli.data.records import Records
from mlcli.data.sidecar import Sidecar

OTHERS = "any other"
"""What the good side is called where it has several levels."""
SAY_IT = "to choose another, write 'anomaly: LEVEL' in the sidecar"


def positive_class(target: Typed, records: Records, sidecar: Sidecar) -> tuple[Typed, str]:
    """The target with the good level first and the anomaly last, and a note on how that was settled.

    A target that has more levels, none of them said to be the anomaly, stays as it is and judges nothing.
    """
    typed = target if target.column.coded else _as_levels(target, records, sidecar)
    wanted = sidecar.anomaly
    unknown = [level for level in wanted if level not in typed.column.levels]
    if unknown:
        hint = did_you_mean(unknown[0], typed.column.levels, "levels")
        what = f"'{unknown[0]}', the anomaly in the sidecar, is no level of '{target.column.name}'"
        raise DataError(what, where=str(sidecar.path or records.name), hint=hint)
    if wanted:
        return _in_two(typed, wanted), ""
    if len(typed.column.levels) != 2:
        return target, _why_not(typed)
    rarer = _rarer(typed)
    return _in_two(typed, (rarer,)), f"'{rarer}' is taken as the anomaly, being the rarer level; {SAY_IT}"


def _as_levels(target: Typed, records: Records, sidecar: Sidecar) -> Typed:
    """Numbers as levels: 0 and 1 are labels, too."""
    name = target.column.name
    changed, _ = retyped(records.column(name), sidecar.of(name), "nominal", records)
    return replace(changed, why=target.why)


def _rarer(typed: Typed) -> str:
    """The level that fewer rows have; of equals the last."""
    counts = np.bincount(typed.cells[typed.cells >= 0], minlength=2)
    return typed.column.levels[0 if counts[0] < counts[1] else 1]


def _in_two(typed: Typed, anomalies: tuple[str, ...]) -> Typed:
    """The same cells with two levels."""
    good = [level for level in typed.column.levels if level not in anomalies]
    if not good:
        raise DataError(f"every level of '{typed.column.name}' is said to be an anomaly")
    names = (good[0] if len(good) == 1 else OTHERS, " or ".join(anomalies))
    odd = np.array([level in anomalies for level in typed.column.levels])
    cells = np.where(typed.cells < 0, typed.cells, odd[typed.cells]).astype(np.int32)
    return replace(typed, column=replace(typed.column, kind="nominal", levels=names), cells=cells)


def _why_not(typed: Typed) -> str:
    levels = typed.column.levels
    return (
        f"the target '{typed.column.name}' has {len(levels)} levels ({listed(levels)}) and none is said to be the "
        "anomaly, so it judges nothing; 'anomaly: LEVEL' in the sidecar says which is"
    )
