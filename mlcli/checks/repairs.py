"""Repairs as text to paste: lines of a sidecar that keep what it says already, of an experiment, of a command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mlcli.checks.context import AuditContext
from mlcli.core.issues import Issue, Repair
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import Declaration, yaml_key, yaml_list, yaml_scalar
from mlcli.tasks.table import SINGLE_ROLES


def declared(context: AuditContext, columns: Mapping[str, Mapping[str, str | Sequence[str]]]) -> Repair:
    """What the sidecar is to say of some columns, beside what it says of them already."""
    lines = (_sidecar_line(context.dataset, name, stated) for name, stated in columns.items())
    return Repair("sidecar", "\n".join(["columns:", *lines]))


def with_role(context: AuditContext, role: str, *columns: str, then: str = "") -> Repair:
    """Columns in another role; ``then`` is the option that makes use of the role."""
    repair = declared(context, {name: {"role": role} for name in columns})
    return replace(repair, text=f"{repair.text}  # and then {then}" if then else repair.text, role=role)


def is_free(context: AuditContext, role: str) -> bool:
    """Whether a column can be given a role: some roles only one column can have."""
    return role not in SINGLE_ROLES or context.schema.the(role) is None


def without(columns: Iterable[str]) -> Repair:
    """Columns that are left out."""
    return Repair("option", " ".join(f"--drop {shlex.quote(name)}" for name in sorted(columns)))


def by_hand(text: str) -> Repair:
    """What no line of YAML can do."""
    return Repair("file", text)


def split_by(protocol: str) -> tuple[Repair, ...]:
    """Another protocol, on the command line or in the experiment file."""
    option = protocol if protocol[0] != "{" else f"'{protocol}'"
    return Repair("option", f"--protocol {option}"), Repair("experiment", f"protocol: {protocol}")


def step_before(context: AuditContext, use: str, params: str) -> Repair:
    """A step with its parameters before a model in the experiment file."""
    step = f"{{use: {use}, params: {{{params}}}}}"
    return Repair("experiment", f"models:\n  - {{use: {context.example}, steps: [{step}]}}")


def joined_sidecar(issues: Sequence[Issue]) -> str:
    """One sidecar with the first repair of each issue that the others allow.

    Of a column that stands twice, what is said first; a role that only one column can have goes to an issue
    that has no other repair.
    """
    lines: dict[str, dict[str, None]] = {}
    named: set[str] = set()
    needed = {issue.repairs[0].role for issue in issues if len(issue.repairs) == 1}
    given: set[str] = set()
    for issue in issues:
        closed = {*given, *(needed if len(issue.repairs) > 1 else ())}.intersection(SINGLE_ROLES)
        for repair in [repair for repair in issue.repairs if repair.role not in closed][:1]:
            if repair.place == "sidecar":
                head, *below = repair.text.splitlines()
                new = [line for line in below if line.partition(":")[0] not in named]
                named.update(line.partition(":")[0] for line in new)
                if new or not below:
                    given.add(repair.role)
                    lines.setdefault(head, {}).update(dict.fromkeys(new))
    return "\n".join(line for head, below in lines.items() for line in (head, *below))


def _sidecar_line(dataset: Dataset, name: str, stated: Mapping[str, str | Sequence[str]]) -> str:
    """A line for one column: what its declaration says already, changed by what is stated."""
    before = dataset.sidecar.columns.get(name, Declaration())
    missing = (*before.missing, *stated.get("missing", ()))
    levels = [level for level in stated.get("levels", before.levels) if level not in missing]
    role = str(stated.get("role", before.role or ""))
    low_high = "" if before.range is None else f"[{before.range[0]!r}, {before.range[1]!r}]"
    parts = {
        "kind": str(stated.get("kind", before.numbers or before.kind or "")),
        "role": role,
        "levels": yaml_list(levels) if levels else "",
        "missing": yaml_list(missing) if missing else "",
        "empty": yaml_scalar(before.empty) if before.empty else "",
        "range": low_high,
        "feature": "true" if before.feature and role == "sensitive" else "",
    }
    inside = ", ".join(f"{word}: {text}" for word, text in parts.items() if text)
    return f"  {yaml_key(name)}: {{{inside}}}"


def number_text(value: float) -> str:
    """A number with all of its digits, as the sidecar takes it: 8233704 rather than 8.2337e+06."""
    return np.format_float_positional(value, trim="-")
