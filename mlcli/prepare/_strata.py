"""What training rows are balanced by: their class, their group, or a column of levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.tables import Codes
from mlcli.tasks.classification import LabelledRows

CLASS, GROUP = "class", "group"


def strata_of(data: Any, by: str) -> Codes:
    """The stratum of each row: numbers from 0, none of them without a row."""
    return np.unique(_codes(data, by), return_inverse=True)[1].astype(np.int32)


def _codes(data: Any, by: str) -> Codes:
    if by == CLASS:
        if not isinstance(data, LabelledRows):
            raise FitError(f"'{data.target}' has values, no classes to balance by", hint="by: group, or a column")
        return data.y
    if by == GROUP:
        if data.groups is None:
            raise FitError("no column has the role of group", hint="by: class, or the name of a column of levels")
        groups: Codes = data.groups
        return groups
    known = [one for one in (data.context, data.table) if one is not None]
    columns = {column.name: table for table in known for column in table.code_columns}
    if by not in columns:
        hint = did_you_mean(by, (CLASS, GROUP, *columns), "rows can be balanced by")
        raise FitError(f"there is no column of levels '{by}'", hint=hint)
    return np.asarray(columns[by].cells(by), np.int32)
