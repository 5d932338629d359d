"""How training rows are split once more, to choose by: with groups whole and time in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlcli.core.errors import MlcliError, Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import build
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import Strata
from mlcli.protocols._base import Protocol, all_alike
from mlcli.protocols.forward_chaining import ForwardChaining
from mlcli.tasks.table import kind_named

FOLDS = 5
Written = str | Mapping[str, Any] | None


def problem_with(written: Written) -> str:
    """What is wrong with an inner protocol as it is written, or nothing."""
    try:
        given_protocol(written)
    except MlcliError as error:
        return error.in_a_line
    return ""


def given_protocol(written: Written) -> Protocol | None:
    """The protocol that is written: an id, or a mapping of `use` and parameters; none where nothing is."""
    if written is None:
        return None
    params = {"use": written} if isinstance(written, str) else dict(written)
    use = params.pop("use", None)
    if not isinstance(use, str):
        raise UsageError("inner names a protocol, such as {use: k-fold, folds: 5}")
    protocol: Protocol = build(PROTOCOLS.load(use), params)
    if protocol.asks_only_learned_rows():
        raise UsageError(f"{use} asks about the rows that were learned from: nothing can be chosen so")
    return protocol


def inner_protocol(written: Written, data: Any) -> Protocol | None:
    """The protocol for some training rows: as written, else 5 folds, in order of time where it is known.

    None where there are too few rows, or groups, to choose by.
    """
    protocol, strata = given_protocol(written), data.strata()
    if protocol is None:
        return _usual(strata)
    if isinstance(protocol, ForwardChaining) and (isinstance(written, str) or "folds" not in (written or {})):
        return _forward({"gap": protocol.gap, "window": protocol.window}, strata)
    kind = kind_named(data.kind)
    if protocol.id not in kind.protocols and kind.name not in protocol.kinds:
        hint = did_you_mean(protocol.id, kind.protocols, f"protocols for {kind.name}")
        raise UsageError(f"{protocol.id} cannot split rows of {kind.name}", hint=hint)
    return protocol


def _usual(strata: Strata) -> Protocol | None:
    if strata.order is not None and not np.isnan(strata.order).any():
        protocol = _forward({}, strata)
        if protocol is not None:
            return protocol
    units = len(all_alike(strata))
    use = "k-fold" if strata.strata is None else "stratified-k-fold"
    return _made(use, units) if units > 1 else None


def _forward(params: Mapping[str, Any], strata: Strata) -> Protocol | None:
    """As many blocks of time as there can be, up to the usual number; none where rows are too few for two."""
    for folds in range(FOLDS, 0, -1):
        protocol = ForwardChaining(folds=folds, **params)
        if not protocol.problems_with_rows(strata):
            return protocol
    return None


def _made(use: str, most: int) -> Protocol:
    protocol: Protocol = build(PROTOCOLS.load(use), {"folds": min(FOLDS, most)})
    return protocol


def refuse_too_few(protocol: Protocol, strata: Strata) -> list[Problem]:
    """What keeps training rows from being split once more, in words that say so."""
    what = "the training rows cannot be split again to choose by"
    return [Problem(f"{what}: {one.what}", hint=one.hint) for one in protocol.problems_with_rows(strata)]
