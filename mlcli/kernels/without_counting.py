"""How kernels are compiled that call one another in their loops: nobody counts references to arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
WITHIN: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "cache": False}
SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function that makes no array.

    Numba counts references to arrays at every call, by atomic instructions that threads would wait for; a function
    that makes no array needs none. Without that, and inlined, tuples of arrays cost nothing, so that arguments can
    have names.
    """
    return cast(F, njit(**OPTIONS)(function))


def inlined(function: F) -> F:
    """The same for a function that only compiled ones call; called from Python it would crash.

    Without what Python needs of it, it compiles faster, and it is kept within those that call it.
    """
    return cast(F, njit(**WITHIN)(function))


def inlined_in_any_order(function: F) -> F:
    """The same, where several products may be added at a time; nothing in it is infinite or undefined."""
    return cast(F, njit(**WITHIN, fastmath=SUMS_IN_ANY_ORDER)(function))
