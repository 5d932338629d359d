"""Forward selection: adds column after column, each time the one with which a model does best in inner folds.

Formula:
    S₀ = {}, S_{m+1} = S_m ∪ {j} with j the column outside S_m for which the base fitted to S_m ∪ {j} has the least
    mean loss (share of errors, squared error) over the inner folds. Without `keep` the S_m with the least loss is
    kept.

Assumes:
    Columns that help one at a time: two that help only together may never be found. Performs best where few
    columns are enough.

Cost:
    d (d + 1) / 2 subsets for d columns where all are tried, each `folds` fits of the base.

Choices:
    Everything happens within the training rows: the rows that are judged take no part. Of equal subsets the
    smaller is kept, of equal columns the first. At least one column is kept.
    With no column the base is the baseline. A wrapper fits the
    learner that it is to serve: choose as `base` what stands at the end.
"""

from __future__ import annotations

from mlcli.core.registry import register
from mlcli.prepare._selecting import Places
from mlcli.prepare._stepwise import Stepwise


@register("forward-selection", reference="Kohavi & John 1997, Wrappers for feature subset selection")
class ForwardSelection(Stepwise):
    """From no columns on."""

    def start(self, count: int) -> Places:
        """No columns."""
        return ()

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """One column more."""
        return [tuple(sorted((*places, one))) for one in range(count) if one not in places]
