"""What checks of data share: a dataset as they receive it, how columns tell about each other, and repairs.

How much one column says about another is found by each row's neighbours in it, never by the row itself. Repairs
are text to paste: lines of a sidecar, of an experiment, or of a command.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.findings import Issue, Repair
from mlcli.core.moments import dense_ranks
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.data.columns import SEEMS_MISSING
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import Declaration, yaml_key, yaml_list, yaml_scalar
from mlcli.data.source import is_number
from mlcli.experiment.spec.cells import FEW_ROWS, DataSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import PlannedDataset, planned_dataset, protocol_for
from mlcli.protocols._base import DealtSplits, Protocol, Split
from mlcli.tasks.table import SINGLE_ROLES

CUTS = 20
"""The number of thresholds that are tried on a column of numbers."""


def share_right(cells: Array, classes: Codes, count: int) -> float:
    """The share of rows whose class the other rows of the same value, or the nearest value, have most often.

    Missing cells are a value like any other.
    """
    groups = dense_ranks(cells)
    counts = np.zeros((int(groups.max()) + 1, count))
    np.add.at(counts, (groups, classes), 1)
    of_row = counts[groups]
    of_row[np.arange(len(classes)), classes] -= 1
    alone = of_row.sum(axis=1) == 0
    if alone.any():
        of_row[alone] = _neighbour_sums(counts, groups[alone])
    return float((of_row.argmax(axis=1) == classes).mean())


def share_explained(cells: Array, values: Array) -> float:
    """R² of the mean of the other rows of the same value, or of the values just below and above."""
    groups = dense_ranks(cells)
    totals, sizes = np.bincount(groups, values), np.bincount(groups).astype(np.float64)
    others, sums = sizes[groups] - 1, totals[groups] - values
    alone = others == 0
    if alone.any():
        beside = _neighbour_sums(np.stack([totals, sizes], axis=1), groups[alone])
        sums[alone], others[alone] = beside[:, 0], np.maximum(beside[:, 1], 1)
    spread = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - sums / others) ** 2).sum()) / spread if spread > 0 else 0.0


def _neighbour_sums(sums: Array, groups: Codes) -> Array:
    """The sums of the values just below and above, together."""
    padded = np.pad(sums, ((1, 1), (0, 0)))
    beside: Array = padded[groups] + padded[groups + 2]
    return beside


@dataclass(frozen=True)
class ColumnCondition:
    """A condition on one column, and how often rows are flagged where it is met and where not."""

    words: str
    correlation: float
    """Of the condition with the flags (phi)."""
    rows: int
    """The number of rows that meet it."""
    of_rows: int
    """The number of all rows."""
    flagged_inside: int
    """The number of flagged rows that meet it."""
    flagged: int
    """The number of flagged rows."""
    is_of_gaps: bool = False
    """Whether the condition is that a column is missing, too."""

    @property
    def inside(self) -> float:
        """The share of flagged rows among those that meet it."""
        return self.flagged_inside / self.rows

    @property
    def outside(self) -> float:
        """The share of flagged rows among the others."""
        return (self.flagged - self.flagged_inside) / (self.of_rows - self.rows)

    @property
    def probability_by_chance(self) -> float:
        """The probability of flags as uneven if they do not depend on the condition (Fisher's exact test)."""
        from scipy.stats import hypergeom

        counts = hypergeom(self.of_rows, self.flagged, self.rows)
        more = self.correlation > 0
        return float(counts.sf(self.flagged_inside - 1) if more else counts.cdf(self.flagged_inside))


def best_condition(flags: Flags, cells: Array, column: Column) -> ColumnCondition | None:
    """The condition on a column that correlates most with flags."""
    conditions = []
    for met, words, is_of_gaps in _conditions(cells, column):
        rows, flagged, flagged_inside = int(met.sum()), int(flags.sum()), int(flags[met].sum())
        expected = flagged * rows / len(met)
        # fewer than 5 flagged rows on the side with more of them show nothing
        flagged_on_side = flagged_inside if flagged_inside > expected else flagged - flagged_inside
        if 0 < rows < len(met) and flagged_on_side >= 5:
            variance = expected * (1 - rows / len(met)) * (1 - flagged / len(met))
            phi = (flagged_inside - expected) / np.sqrt(variance * len(met)) if variance > 0 else 0.0
            counts = rows, len(met), flagged_inside, flagged
            conditions.append(ColumnCondition(words, float(phi), *counts, is_of_gaps))
    return max(conditions, key=lambda condition: abs(condition.correlation), default=None)


def _conditions(cells: Array, column: Column) -> Iterator[tuple[Flags, str, bool]]:
    """Each level, or each of some thresholds; and being empty, which is marked."""
    empty = np.isnan(cells)
    if empty.any():
        yield empty, f"{column.name} is missing", True
    if column.coded:
        for code in np.unique(cells[~empty]):
            yield cells == code, f"{column.name} = {column.levels[int(code)]}", False
    elif not empty.all():
        for cut in np.unique(np.quantile(cells[~empty], np.arange(1, CUTS) / CUTS)):
            yield cells > cut, f"{column.name} > {cut:.4g}", False


SAMPLE = 10_000
"""Slow checks look at this many rows of a longer file, drawn at random."""
RIVALS = {"classification": "logistic-regression", "regression": "ridge"}
"""A strong and simple model for each kind of task, to compare others with."""
FEWEST_ROWS = 20
"""With fewer rows, nothing can be told from chance."""
MOST_PAIRS = 10_000
"""Rules for missing cells are sought for at most this many pairs of columns."""


@dataclass(frozen=True, eq=False)
class AuditContext:
    """A dataset with the protocol that splits it, if its kind of task is known."""

    dataset: Dataset
    planned: PlannedDataset | None = None
    protocol: ProtocolSpec | None = None
    refused: str = ""
    """Why the requested protocol cannot split the rows, so that another is used."""
    seed: int = 1

    @property
    def schema(self) -> Schema:
        """The schema of the dataset."""
        return self.dataset.schema

    @cached_property
    def target(self) -> Column | None:
        """The target, if there is one."""
        return self.schema.the("target")

    @property
    def kind(self) -> str:
        """The kind of task, or "" if it is not known."""
        return self.planned.kind.name if self.planned else ""

    @property
    def split_info(self) -> SplitInfo | None:
        """What protocols know about the rows."""
        return self.planned.strata if self.planned else None

    @property
    def example(self) -> str:
        """A model for examples in suggested repairs, one that can do the task."""
        if self.planned is not None:
            return RIVALS.get(self.kind, self.planned.kind.panel[0])
        if self.target is None:
            return "k-means"
        return RIVALS["classification" if self.target.coded else "regression"]

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """The columns that models see."""
        return self.schema.features()

    def numeric(self) -> Iterator[Column]:
        """The numeric features."""
        return (column for column in self.features if not column.coded)

    def coded(self) -> Iterator[Column]:
        """The features with levels, without columns of numbers and words for missing cells."""
        words = self.missing_words_among_numbers
        return (column for column in self.features if column.coded and column.name not in words)

    @cached_property
    def missing_words_among_numbers(self) -> dict[str, list[str]]:
        """The words for missing cells, such as NA, of each column that would be numeric without them."""
        words_of = {}
        for field in self.schema:
            words = [level for level in field.column.levels if not is_number(level)]
            are_few = field.source != "declared" and 0 < len(words) < len(field.column.levels)
            if are_few and all(word.lower() in SEEMS_MISSING for word in words):
                words_of[field.column.name] = words
        return words_of

    def cells(self, column: Column) -> Array:
        """The cells of a column as numbers, NaN where one is missing; levels by their codes."""
        if column.name not in self._cells:
            cells = self.dataset.table.cells(column.name).astype(np.float64, copy=False)
            self._cells[column.name] = np.where(cells < 0, np.nan, cells) if column.coded else cells
        return self._cells[column.name]

    @cached_property
    def _cells(self) -> dict[str, Array]:
        return {}

    def present(self, column: Column) -> Array:
        """The cells of a column that are not missing."""
        cells = self.cells(column)
        return cells[~np.isnan(cells)]

    def features_with_gaps(self) -> Iterator[tuple[Column, Flags]]:
        """The features with at least 5 missing and 5 other cells, and which cells are missing."""
        for column in self.features:
            if column.missing and len(self.dataset) >= FEWEST_ROWS:
                empty = np.isnan(self.cells(column))
                if 5 <= empty.sum() <= len(empty) - 5:
                    yield column, empty

    @cached_property
    def missing_rules(self) -> dict[str, ColumnCondition | None]:
        """For features with missing cells the rule that predicts them; None if they are missing at random.

        Each pair of columns is tested, so only the first of very many columns are looked at. A rule counts if its
        probability by chance, by Fisher's exact test times the number of rules tried, is below 0.001.
        """
        most = max(1, MOST_PAIRS // max(1, len(self.features)))
        results: dict[str, ColumnCondition | None] = {}
        for column, empty in islice(self.features_with_gaps(), most):
            columns = (*self.features, *filter(None, [self.target]))
            others = [other for other in columns if other.name != column.name]
            rules = (best_condition(empty[self.sample], self.cells(other)[self.sample], other) for other in others)
            best = max(filter(None, rules), key=lambda rule: abs(rule.correlation), default=None)
            tried = max(2, CUTS * len(others))
            is_believed = best is not None and tried * best.probability_by_chance < 0.001
            results[column.name] = best if is_believed else None
        return results

    @cached_property
    def sample(self) -> Rows:
        """All rows, or a random sample of a long file."""
        count = len(self.dataset)
        if count <= SAMPLE:
            return np.arange(count)
        return np.sort(rng_for("audit", self.dataset.content).choice(count, SAMPLE, replace=False))

    @cached_property
    def splitter(self) -> Protocol | None:
        """The protocol, ready to split."""
        if self.protocol is None:
            return None
        protocol: Protocol = self.protocol.built()
        return protocol

    @cached_property
    def splits_with_warnings(self) -> tuple[Sequence[Split], dict[str, type[Warning]]]:
        """The splits, and the category of each warning of the protocol."""
        if self.protocol is None or self.planned is None:
            return (), {}
        divided = self.planned.splits_by(self.protocol, self.seed)
        return divided.splits, divided.warnings

    @cached_property
    def some_splits(self) -> list[Split]:
        """The first ten splits; leave-one-out has too many."""
        splits, _ = self.splits_with_warnings
        return [splits[index] for index in range(min(len(splits), 10))]

    @property
    def splits_at_random(self) -> bool:
        """Whether rows are split at random, independently of any column."""
        splits, _ = self.splits_with_warnings
        by_column = self.split_info is not None and self.split_info.groups is not None
        use = self.protocol.use if self.protocol is not None else "given"
        is_random = isinstance(splits, DealtSplits) or use not in ("given", "forward-chaining", "whole")
        return bool(splits) and not by_column and is_random


def context_of(dataset: Dataset, protocol: ProtocolSpec | None = None, seed: int = 1) -> AuditContext:
    """A loaded dataset, with how it would be split, if anything can split it."""
    try:
        planned = planned_dataset(DataSpec(str(dataset.path or dataset.name)), dataset)
    except DataError as error:
        return AuditContext(dataset, refused=error.in_a_line, seed=seed)
    return context_as_planned(planned, protocol, seed)


def context_as_planned(planned: PlannedDataset, protocol: ProtocolSpec | None, seed: int) -> AuditContext:
    """A planned dataset with the protocol that splits it; another one if the rows are too few for it."""
    refused = ""
    for requested in (protocol, FEW_ROWS):
        try:
            return AuditContext(planned.dataset, planned, protocol_for(planned, requested), refused, seed)
        except DataError as error:
            refused = refused or error.in_a_line
    return AuditContext(planned.dataset, planned, refused=refused, seed=seed)


def cell_text(value: float, column: Column) -> str:
    """A cell as it may be written in the file."""
    return column.levels[int(value)] if column.coded else f"{value:.6g}"


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
