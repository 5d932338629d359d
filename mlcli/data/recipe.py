"""How a dataset was read from its file: enough to read it again in the same way, from any folder."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

from mlcli.data.sidecar import Declaration, Sidecar


@dataclass(frozen=True)
class Recipe:
    """A file, the text of its sidecar, and the options that go before the sidecar."""

    path: Path
    """Absolute."""
    sidecar: str | None = None
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    positive: str | None = None
    earlier: Sidecar | None = None
    """How an earlier file was read, where a saved model that learned from it is asked about this one."""

    @cached_property
    def file_hash(self) -> str:
        """The SHA-256 of the bytes of the file as it is now; empty if it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""

    @property
    def options(self) -> str:
        """The options as they are typed, such as --target price --drop id."""
        single = {"--target": self.target, "--task": self.task, "--positive": self.positive}
        pairs = [(option, value) for option, value in single.items() if value is not None]
        pairs += [("--sensitive", column) for column in self.sensitive]
        pairs += [("--drop", column) for column in self.drop]
        return shlex.join(chain.from_iterable(pairs))

    def facts(self) -> dict[str, Any]:
        """The recipe as plain values."""
        return {**asdict(self), "path": str(self.path)}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The recipe that these plain values, with tuples for lists, describe."""
        earlier = facts["earlier"]
        if earlier is not None:
            columns = {name: Declaration(**values) for name, values in earlier["columns"].items()}
            earlier = Sidecar(**{**earlier, "columns": columns})
        return cls(**{**facts, "path": Path(facts["path"]), "earlier": earlier})
