"""How kernels are compiled that call one another in their loops: nobody counts references to arrays.

A kernel that only others call is linked into them as it is, and optimised there, once; Numba would also optimise
and translate it on its own, at every level of calls again, which takes twice as long in all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _LinkedCode(JITCodeLibrary):
    """Code of a function that nobody runs on its own: neither optimised as a whole nor translated."""

    @property
    def codegen(self) -> _LinkedCode:
        """Who is told of the environment of the function, which only translated code has."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Nothing to do."""

    def _optimize_final_module(self) -> None:
        """Nothing to do."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _LinkedCompiler(Compiler):
    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        code: Any = _LinkedCode
        super().__init__(typing, target, library or code(target.codegen(), "linked"), *rest)  # type: ignore[no-untyped-call]


OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
LINKED: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "cache": False, "pipeline_class": _LinkedCompiler}
SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}
ALL_DEFINED = {"nnan", "nsz"}
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
    return cast(F, njit(**LINKED)(function))


def inlined_in_any_order(function: F) -> F:
    """The same, where several products may be added at a time; nothing in it is infinite or undefined."""
    return cast(F, njit(**LINKED, fastmath=SUMS_IN_ANY_ORDER)(function))


def inlined_of_defined(function: F) -> F:
    """The same, where nothing is undefined, so that the larger of two numbers is one instruction."""
    return cast(F, njit(**LINKED, fastmath=ALL_DEFINED)(function))
