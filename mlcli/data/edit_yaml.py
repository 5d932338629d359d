"""Sets entries of a YAML mapping in its text: comments, order and all other values stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

INDENT = 2


class Entry(NamedTuple):
    """A key and its value as YAML on one line, and what a comment says of them where they are new."""

    key: str
    value: str
    comment: str = ""

    def line(self, indent: int) -> str:
        """The entry as a line of a block."""
        return f"{' ' * indent}{self.key}: {self.value}{self.comment and f'  # {self.comment}'}\n"


class Edit(NamedTuple):
    """The characters from ``start`` to ``end`` become a text."""

    start: int
    end: int
    text: str


def with_entries(text: str, path: Sequence[str], entries: Mapping[str, Entry]) -> str:
    """A YAML text with these entries, by their names, in the mapping at a path; the mapping may be empty."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    node: Any = yaml.compose(text, Loader=loader)
    begin = 0
    for name in path:
        key, node = next((key, value) for key, value in node.value if key.value == name)
        begin = key.end_mark.index
    values = {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
    new = [entry for name, entry in entries.items() if name not in values]
    edits = [
        Edit(values[name].start_mark.index, _end(values[name]), entry.value)
        for name, entry in entries.items()
        if name in values
    ]
    if new and values:
        edits.append(_after_last(text, node, new))
    elif new:
        edits += _first(text, node, begin, new, INDENT * len(path))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _after_last(text: str, mapping: Any, entries: Sequence[Entry]) -> Edit:
    """New entries behind the last one of a mapping, in its style."""
    key, value = mapping.value[-1]
    if mapping.flow_style:
        end = max(key.end_mark.index, value.end_mark.index)
        return Edit(end, end, "".join(f", {entry.key}: {entry.value}" for entry in entries))
    return _lines(text, max(key.end_mark.index, _end(value)), entries, mapping.start_mark.column)


def _first(text: str, node: Any, begin: int, entries: Sequence[Entry], indent: int) -> Iterable[Edit]:
    """The first entries of a mapping, in the place of null or of empty braces."""
    if node is None:
        return [_lines(text, len(text), entries, indent)]
    end = max(begin, node.end_mark.index)
    return [Edit(node.start_mark.index, end, ""), _lines(text, end, entries, indent)]


def _lines(text: str, end: int, entries: Sequence[Entry], indent: int) -> Edit:
    """New lines below the line in which something ends."""
    at_start = end == 0 or text[end - 1] == "\n"
    place = end if at_start else text.find("\n", end) + 1 or len(text)
    before = "" if place == 0 or text[place - 1] == "\n" else "\n"
    return Edit(place, place, before + "".join(entry.line(indent) for entry in entries))


def _end(node: Any) -> int:
    """Where the last value of a node ends; the end of a block is that of what follows it."""
    is_block = not isinstance(node.value, str) and node.value and not node.flow_style
    if not is_block:
        return int(node.end_mark.index)
    last = node.value[-1]
    return max(_end(one) for one in (last if isinstance(last, tuple) else (last,)))
