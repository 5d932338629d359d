"""All checks of data: the public functions of ``checks/data`` that take a context and yield issues.

The name of a function is the code of its issues, and its docstring begins with what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType

from mlcli.checks.audit import AT_A_GLANCE
from mlcli.checks.context import AuditContext
from mlcli.checks.data import columns, missing, numbers, rows, spellings, splits
from mlcli.core.issues import Check


def _checks_in(module: ModuleType) -> Iterator[Check[AuditContext]]:
    for name, function in vars(module).items():
        own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if own and not name.startswith("_") and function.__annotations__.get("return") == "Iterator[Issue]":
            yield function


OF_DATA: tuple[Check[AuditContext], ...] = (
    *AT_A_GLANCE,
    *(
        check
        for module in (splits, rows, columns, numbers, spellings, missing)
        for check in _checks_in(module)
        if check not in AT_A_GLANCE
    ),
)
"""All checks of a dataset, in the order in which issues of the same gravity are listed."""
