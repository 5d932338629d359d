"""The sections of the results: what each is about, its tables, and what limits it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

FAMILIES = (
    *("bayes", "linear", "logistic", "neighbours", "kernels", "trees", "forests", "boosting", "ensembles"),
    *("networks", "sequences", "structures"),
)
NAMES = ("startup", "reading", *FAMILIES, "scores", "kinds", "splits", "tune", "shell", "utilisation")


@dataclass(frozen=True)
class Section:
    """One module of benchmarks: whole, or of a few methods only.

    Its docstring says what it is about. It has ``PAIRS`` (a family of methods) or a ``table()``, which takes
    the methods that are wanted if there is a list of names ``NARROWS_TO``. A text ``LIMITS`` says why goals are
    missed; it is kept there, since a section is written anew whenever it is measured.
    """

    name: str
    only: frozenset[str] = frozenset()
    """Methods; none: all."""

    @property
    def module(self) -> ModuleType:
        """The file behind it."""
        return import_module(
            f"benchmarks.families.{self.name}" if self.name in FAMILIES else f"benchmarks.{self.name}"
        )

    @property
    def about(self) -> str:
        """Its docstring."""
        return (self.module.__doc__ or "").strip()

    @property
    def limits(self) -> str:
        """Why goals are missed, or nothing."""
        text = getattr(self.module, "LIMITS", "").strip()
        return f"What limits it: {text}" if text else ""

    @property
    def methods(self) -> frozenset[str]:
        """The methods that it can be narrowed to."""
        paired = {pair.method for pair in getattr(self.module, "PAIRS", ())}
        return frozenset(paired | set(getattr(self.module, "NARROWS_TO", ())))

    def measured(self) -> str:
        """Its tables, which takes a while."""
        if hasattr(self.module, "PAIRS"):
            from benchmarks.family import table

            return table(self.name, self.module.PAIRS, self.only)
        wanted = (self.only,) if self.methods else ()
        tables: str = self.module.table(*wanted)
        return tables


def meant(words: list[str]) -> list[Section]:
    """Sections by the beginnings of their names, and sections that have a method so named; by default all."""
    whole = [name for name in NAMES if not words or name.startswith(tuple(words))]
    methods = [word for word in words if not any(name.startswith(word) for name in NAMES)]
    narrowed = {name: Section(name).methods & set(methods) for name in NAMES if name not in whole and methods}
    unknown = set(methods).difference(*narrowed.values())
    if unknown:
        raise LookupError(
            f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}, or a method's name"
        )
    chosen = [Section(name, narrowed.get(name, frozenset())) for name in NAMES]
    return [section for section in chosen if section.name in whole or section.only]
