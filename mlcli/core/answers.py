"""What a model said about rows it was asked, with the truth beside it; metrics are functions of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from mlcli.core.tables import Array, Codes, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Answers to some rows: each array has one entry per row; ``rows`` are the row numbers in the file."""

    rows: Rows
    weight: Array | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def weights(self) -> Array:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def units(self) -> Codes | None:
        """Which rows hang together, such as those of one sequence; None where each row stands alone."""
        return None

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Every array, by name: what the store keeps."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}

    def facts(self) -> dict[str, Any]:
        """What is not an array, as plain JSON values."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value for name, value in named.items() if value is not None and not isinstance(value, np.ndarray)
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, np.ndarray[Any, Any]], facts: Mapping[str, Any]) -> Self:
        """Answers from what ``arrays`` and ``facts`` gave."""
        plain: dict[str, Any] = dict(arrays)
        plain |= {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
        return cls(**plain)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the answers, in the order given."""
        return replace(self, **{name: array[rows] for name, array in self.arrays().items()})

    def parted(self, parts: Iterable[Rows | slice]) -> Iterator[Self]:
        """Some of the answers for each part; for thousands of parts much faster than taking one by one."""
        arrays = self.arrays()
        names = [field.name for field in fields(self)]
        plain = {name: getattr(self, name) for name in names if name not in arrays}
        for rows in parts:
            yield type(self)(**plain, **{name: array[rows] for name, array in arrays.items()})

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The answers of several splits as one."""
        named = [part.arrays() for part in parts]
        joined = {name: np.concatenate([arrays[name] for arrays in named]) for name in named[0]}
        return replace(parts[0], **joined)
