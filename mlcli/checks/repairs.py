"""Repairs as text to paste: lines of a sidecar that keep what it says already, of an experiment, of a command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlcli.checks.audited import Audited
from mlcli.core.issues import Issue, Repair
from mlcli.data.dataset import Dataset
from mlcli.data.write_sidecar import flow, key, scalar

COLUMNS = "columns:"


def declared(audited: Audited, columns: Mapping[str, Mapping[str, str | Sequence[str]]]) -> Repair:
    """What the sidecar is to say of some columns, beside what it says of them already."""
    lines = (_sidecar_line(audited.dataset, name, stated) for name, stated in columns.items())
    return Repair("sidecar", "\n".join([COLUMNS, *lines]))


def with_role(audited: Audited, role: str, *columns: str) -> Repair:
    """Columns in another role."""
    return declared(audited, {name: {"role": role} for name in columns})


def by_hand(text: str) -> Repair:
    """What no line of YAML can do."""
    return Repair("file", text)


def split_by(protocol: str) -> tuple[Repair, ...]:
    """Another protocol, on the command line or in the experiment file."""
    option = protocol if protocol[0] != "{" else f"'{protocol}'"
    return Repair("option", f"--protocol {option}"), Repair("experiment", f"protocol: {protocol}")


def step_before(audited: Audited, use: str, params: str) -> Repair:
    """A step with its parameters before a model in the experiment file."""
    step = f"{{use: {use}, params: {{{params}}}}}"
    return Repair("experiment", f"models:\n  - {{use: {audited.example}, steps: [{step}]}}")


def joined_sidecar(issues: Iterable[Issue]) -> str:
    """One sidecar with the first repair of each issue; of a column that stands twice, what is said first."""
    lines: dict[str, dict[str, None]] = {}
    named: set[str] = set()
    for issue in issues:
        for repair in issue.repairs[:1]:
            if repair.place == "sidecar":
                head, *below = repair.text.splitlines()
                new = [line for line in below if line.partition(":")[0] not in named]
                named.update(line.partition(":")[0] for line in new)
                if new or not below:
                    lines.setdefault(head, {}).update(dict.fromkeys(new))
    return "\n".join(line for head, below in lines.items() for line in (head, *below))


def _sidecar_line(dataset: Dataset, name: str, stated: Mapping[str, str | Sequence[str]]) -> str:
    before = dataset.sidecar.columns.get(name)
    known: dict[str, str | Sequence[str]] = {}
    for word in ("kind", "role", "levels", "missing") if before else ():
        if value := getattr(before, word):
            known[word] = value
    if before is not None and before.numbers:
        known["kind"] = before.numbers
    values = {**known, **stated}
    inside = ", ".join(f"{word}: {_value_text(value)}" for word, value in values.items())
    return f"  {key(name)}: {{{inside}}}"


def _value_text(value: str | Sequence[str]) -> str:
    return scalar(value) if isinstance(value, str) else flow(value)
