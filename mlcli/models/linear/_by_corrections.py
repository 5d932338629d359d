"""A ridge over many columns: rough slopes from sums in single precision, then corrections by the rows themselves.

The sums are nearly all of the work, and half as dear in single precision. What a correction leaves is told in
double precision, so that the end is as exact as ever (Wilkinson 1963; Moler 1967).
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._from_sums import Plane
from mlcli.models.linear._inverse import factorised
from mlcli.models.linear._one_pass import FAR
from mlcli.tasks.regression import ValuedRows

WIDE = 250
"""From so many columns on, sums are dearer than corrections."""
MODERATE = (1e-12, 1e12)
"""Variances that single precision can multiply and add."""
MOST_CORRECTIONS = 10
FAST = 0.1
"""Where a correction is not so much smaller than the one before, columns are nearly collinear."""
ROUNDING = 1e-16


def plane_by_corrections(data: ValuedRows, l2: float) -> Plane | None:
    """The plane nearest to rows, with an intercept; None where single precision is not a good enough start."""
    numbers, rows = data.table.numbers, len(data)
    if data.weight is not None or not WIDE <= numbers.shape[1] <= rows:
        return None
    centre = np.ones(rows) @ numbers / rows
    single = np.subtract(numbers, centre, out=np.empty(numbers.shape, np.float32), casting="same_kind")
    gram = single.T @ single
    variances = gram.diagonal().astype(np.float64) / rows
    least, most = MODERATE
    if not ((variances > least) & (variances < most) & (centre**2 <= FAR * variances)).all():
        return None
    gram.reshape(-1)[:: len(centre) + 1] += np.float32(l2)
    slopes = _corrected(data, gram, l2, np.sqrt(variances))
    return None if slopes is None else Plane(slopes, centre, float(data.y.mean()))


def _corrected(data: ValuedRows, gram: Array, l2: float, deviations: Array) -> Array | None:
    """The slopes, each correction what a rough XᵀX + l2·I makes of what is left."""
    try:
        solved = factorised(gram)
    except np.linalg.LinAlgError:
        return None
    numbers, y = data.table.numbers, data.y
    slopes = solved((y - y.mean()) @ numbers)
    before = largest = float(np.abs(slopes * deviations).max())
    for _ in range(MOST_CORRECTIONS):
        left = y - numbers @ slopes
        correction = solved((left - left.mean()) @ numbers - l2 * slopes)
        slopes, size = slopes + correction, float(np.abs(correction * deviations).max())
        if size**2 <= ROUNDING * largest * before:
            return slopes
        if not size <= FAST * before:
            return None
        before = size
    return None
