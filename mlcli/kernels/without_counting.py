"""How kernels are compiled that call one another in their loops: nobody counts references to arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function that makes no array.

    Numba counts references to arrays at every call, by atomic instructions that threads would wait for; a function
    that makes no array needs none. Tuples of arrays then cost nothing, so arguments can have names.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}
    return cast(F, njit(**options)(function))
