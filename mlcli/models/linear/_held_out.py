"""Least squares, ridged or not, for every part of a round at once, with the steps learned anew for each."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.held_out import HeldOut, Remembered, Round
from mlcli.core.step import Step
from mlcli.engines.expansion import Recipe, without_first_levels
from mlcli.models.linear._from_sums import Basis, by_parts
from mlcli.models.linear._left_out import one_by_one
from mlcli.tasks.regression import ValuedRows

_BASES: Remembered[Basis | None] = Remembered()


def held_out(data: ValuedRows, round_: Round, steps: Sequence[Step], l2: float) -> HeldOut | None:
    """Least squares with an intercept for every part of a round; None where steps do not follow from sums.

    The sums are made once for all values of ``l2``.
    """
    wanted = (round_.part.tobytes(), round_.parts, repr(steps))
    basis = _BASES.of(data, wanted, lambda: Basis.of(data, round_, steps))
    if basis is None:
        return None
    recipe = Recipe.of(basis.expansion)
    recipe = recipe if l2 else without_first_levels(recipe, basis.expansion.columns)
    if round_.one_by_one:
        return one_by_one(basis, recipe, data.weights, l2)
    return by_parts(basis, recipe, round_, l2)
