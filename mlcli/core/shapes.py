"""The shapes of what is learned, as declared: one word is one length, wherever it stands in a class."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any


def refuse_misfits(made: Any) -> None:
    """Refuse (ValueError) learned values as long as neither the columns, the classes, a setting nor each other.

    ``columns`` and ``classes`` are the model's, ``numbers`` its columns of numbers. A parameter's name stands for
    its value, or for how many it lists; any other word for the length where it stands first. Of a list, the length
    counts.
    """
    lengths = _known(made)
    for field in dataclasses.fields(made):
        words, value = field.metadata.get("learned", ()), getattr(made, field.name)
        if not words or (value is None and str(field.type).endswith("| None")):
            continue
        shape = (len(value),) if isinstance(value, tuple) else getattr(value, "shape", ())
        for word, length in zip(words, shape, strict=False):
            lengths.setdefault(word, length)
        if shape != tuple(lengths.get(word) for word in words):
            raise ValueError(f"{field.name} has the shape {_times(shape)}, which does not fit {_times(words)}")


def _known(made: Any) -> dict[str | int, int]:
    """The lengths that are known before anything learned is looked at; a number is its own."""
    columns = made.columns_
    known: dict[str | int, int] = {"columns": len(columns), "numbers": sum(not one.coded for one in columns)}
    if getattr(made, "classes_", None) is not None:
        known["classes"] = len(made.classes_)
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        if "param" in field.metadata and isinstance(value, int | tuple):
            known.setdefault(field.name, len(value) if isinstance(value, tuple) else value)
        known |= {word: word for word in field.metadata.get("learned", ()) if isinstance(word, int)}
    return known


def _times(lengths: Iterable[Any]) -> str:
    return " × ".join(map(str, lengths)) or "of one number"
