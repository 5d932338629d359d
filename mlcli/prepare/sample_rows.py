"""Sample rows: draws the rows to learn from, with or without replacement, or until classes or groups are balanced.

Formula:
    `balance: none` draws `share` · n rows. `balance: up` keeps all rows and draws more of each class until it has
    as many as the largest; `balance: down` draws from each class as many rows as the smallest has. A bootstrap
    sample (share 1, with replacement) holds about 63 % of the rows, some of them several times.

Assumes:
    Independent rows. Repeated rows add no information: an unpruned tree may overfit them.

Cost:
    One pass, and a fit to as many rows as are drawn.

Choices:
    Only training rows are drawn; test rows stay as they are. `by` balances groups, or the levels of a column (such
    as a sensitive one), instead of classes. `balance: down` always draws without replacement. Without replacement
    `share` is at most 1, and `balance: up` repeats all rows equally often, give or take one. Rows keep their
    weights.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Rows
from mlcli.engines.content_seeds import order_of_content
from mlcli.prepare._columns import RowStep
from mlcli.prepare.class_weights import strata_of
from mlcli.tasks.supervised import SupervisedRows


@register("sample-rows", reference="Efron 1979; Kubat & Matwin 1997, The curse of imbalanced training sets")
class SampleRows(RowStep):
    """Draw the training rows."""

    balance: str = param("none", "whether classes are drawn until they are equal", choices=("none", "up", "down"))
    by: str = param(
        "class",
        "what is balanced: class, group, or the name of a column of levels",
        matters_when={"balance": ("up", "down")},
    )
    share: float = param(
        1.0,
        "how many rows are drawn, as a share of all, where nothing is balanced",
        gt=0,
        le=10,
        matters_when={"balance": "none"},
    )
    replacement: bool = param(True, "whether a row can be drawn again", matters_when={"balance": ("none", "up")})

    before_: int = learned()
    after_: int = learned()

    def conflicts(self) -> list[str]:
        """Refuse to draw more rows than there are without replacement."""
        too_many = not self.replacement and self.share > 1 and self.balance == "none"
        return [*super().conflicts(), *(["without replacement, share is at most 1"] if too_many else [])]

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The rows that are drawn."""
        data = data.take(order_of_content(data))
        if self.balance == "none":
            drawn = rng.choice(len(data), max(1, round(self.share * len(data))), replace=self.replacement)
        else:
            drawn = self._balanced(data, rng)
        self.before_, self.after_ = len(data), len(drawn)
        return data.take(np.sort(drawn))

    def _balanced(self, data: SupervisedRows, rng: np.random.Generator) -> Rows:
        strata = strata_of(data, self.by)
        classes = [np.flatnonzero(strata == k) for k in range(int(strata.max()) + 1)]
        size = (max if self.balance == "up" else min)(len(rows) for rows in classes)
        return np.concatenate([self._resized(rows, size, rng) for rows in classes])

    def _resized(self, rows: Rows, size: int, rng: np.random.Generator) -> Rows:
        """``size`` of the rows; all of them, with some repeated, if there are fewer."""
        if size <= len(rows):
            return rng.choice(rows, size, replace=False)
        more = size - len(rows)
        if self.replacement:
            return np.concatenate([rows, rng.choice(rows, more)])
        whole, left = divmod(size, len(rows))
        return np.concatenate([np.tile(rows, whole), rng.choice(rows, left, replace=False)])

    def explain(self) -> Explanation:
        """The number of rows before and after."""
        if self.before_ is None:
            return ()
        row = (self.before_, self.after_)
        return (Table("Sampled training rows", ("rows before", "rows after"), (row,)),)
