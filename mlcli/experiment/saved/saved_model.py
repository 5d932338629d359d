"""A model with what is needed to ask it again: columns, their ranges, and the rows that it has learned from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import mlcli
from mlcli.core.errors import DataError, ModelFileError
from mlcli.core.names import listed
from mlcli.core.pipeline import Pipeline
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Array, Table, is_missing
from mlcli.data.dataset import Dataset
from mlcli.data.long_form import names_of_form
from mlcli.data.new_rows import AlignedRows, Reference, aligned, new_rows, records_of_dataset, refuse_overflow
from mlcli.data.number_text import is_number
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.engines.column_effects import usual_values
from mlcli.experiment.results import Trained
from mlcli.prepare.drop import Drop
from mlcli.tasks.table import kind_named

Fingerprints = NDArray[np.uint64]
UNEQUAL_BITS = 34
"""The last bits of a number, of 52 behind the first, in which rows may differ and be called equal."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedModel:
    """A pipeline that has learned, and what it has learned from."""

    pipeline: Pipeline
    kind: str
    target: Column | None
    """None where the rows had none: some kinds learn without."""
    features: tuple[Column, ...]
    """The columns that the model sees."""
    ranges: Mapping[str, tuple[float, float]]
    """Smallest and largest training value of every numeric feature that has values."""
    usual: Table
    """Usual values of each feature, each column sorted for itself: what takes the place of a hidden cell."""
    seed: int
    dataset: str
    """The name of the dataset that it learned from."""
    content: str
    """The content hash of that dataset."""
    rows: int
    """How many of its rows it learned from."""
    version: str
    """The mlcli that made it."""
    fingerprints: Fingerprints
    """The fingerprint of every training row, target included, sorted."""
    beside: Mapping[str, Column] = field(default_factory=dict)
    """By role, the columns that the model does not see, but that say which rows belong together."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """By name, the roles of columns that the model sees as more than features, such as users and items."""
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What stood for an empty cell in its columns, as their sidecar said; it does so in new rows, too."""
    empty: Mapping[str, str] = field(default_factory=dict)
    """The level that an empty cell stood for, by column; it does so in new rows, too."""
    anomaly: tuple[str, ...] = ()
    """The levels of the target that were anomalies."""
    long_form: Mapping[str, str] = field(default_factory=dict)
    """By role, the columns of units and things of the rows that it learned from, where they came in long form."""
    order: tuple[str, ...] = ()
    """The names of the columns of the file that it learned from, in their order."""
    digest: str = ""
    """A hash of all this, once it has been in a file."""

    @classmethod
    def of(cls, trained: Trained, dataset: Dataset, seed: int) -> Self:
        """What is kept of a model that was trained on a dataset."""
        target = dataset.schema.the("target")
        features = trained.rows.table.columns
        roles = kind_named(trained.rows.kind).roles
        beside = {role: column for role in roles if (column := dataset.schema.the(role)) is not None}
        seen = (*features, *filter(None, [target]))
        known = (*seen, *beside.values())
        declared = {column.name: dataset.sidecar.of(column.name) for column in known}
        learned_from = aligned(records_of_dataset(dataset), known).table.take(trained.rows.rows)
        return cls(
            pipeline=trained.pipeline,
            kind=trained.rows.kind,
            target=target,
            features=features,
            ranges=dict(_ranges(trained.rows.table)),
            usual=usual_values(trained.rows.table),
            seed=seed,
            dataset=dataset.name,
            content=dataset.content,
            rows=len(trained.rows),
            version=mlcli.__version__,
            fingerprints=np.sort(fingerprints_of(learned_from)),
            beside=beside,
            roles=_roles_of(features, dataset.schema),
            long_form=names_of_form(dataset),
            order=dataset.schema.names(),
            missing={name: one.missing for name, one in declared.items() if one.missing},
            empty={name: one.empty for name, one in declared.items() if one.empty is not None},
            anomaly=dataset.sidecar.anomaly or _rarer_level(target, trained.rows.kind),
        )

    @property
    def reading_rules(self) -> Sidecar:
        """How the file that it learned from was read, as a sidecar would say it."""
        roles = {column.name: role for role, column in self.beside.items()}
        roles |= {**self.roles, **{name: role for role, name in self.long_form.items()}}
        columns = {name: Declaration(role=role) for name, role in roles.items()}
        for column in self._known_columns:
            columns[column.name] = Declaration(
                kind="nominal" if column.coded else "numeric",
                role=roles.get(column.name),
                missing=self.missing.get(column.name, ()),
                empty=self.empty.get(column.name),
            )
        return Sidecar(
            target=self.target.name if self.target else None,
            tasks=(self.kind,),
            anomaly=self.anomaly,
            columns=columns,
            header=any(map(is_number, self.order)),
        )

    @property
    def targets(self) -> tuple[Column, ...]:
        """The target, if there is one."""
        return () if self.target is None else (self.target,)

    @property
    def _known_columns(self) -> tuple[Column, ...]:
        """The columns by which a row is known again."""
        return (*self.features, *self.targets, *self.beside.values())

    @property
    def optional(self) -> frozenset[str]:
        """The columns that new rows may lack."""
        if kind_named(self.kind).absent_means_no:
            return frozenset(feature.name for feature in self.features)
        return self.hidden

    @property
    def hidden(self) -> frozenset[str]:
        """The sensitive and context columns that the first step leaves out: whatever stands there."""
        first = next(iter(self.pipeline.steps), None)
        dropped = first.columns or () if isinstance(first, Drop) else ()
        few_see = {feature.name for feature in self.features if feature.sensitive or feature.context}
        return frozenset(few_see.intersection(dropped))

    @property
    def by_role(self) -> dict[str, Column]:
        """By role, the columns that are more than features, whether the model sees them or not."""
        seen = {self.roles[column.name]: column for column in self.features if column.name in self.roles}
        return {**self.beside, **seen}

    def fields(self) -> Iterator[SchemaField]:
        """The columns that the model sees, in their roles."""
        return (SchemaField(column, self.roles.get(column.name, "feature")) for column in self.features)

    def new_rows(self, reference: Reference) -> AlignedRows:
        """Rows whose truth is not known."""
        kind = kind_named(self.kind)
        unasked = {name for name, role in self.roles.items() if role in kind.optional_roles}
        rows = new_rows(
            reference,
            self.features,
            ranges=self.ranges,
            earlier=self.reading_rules,
            beside=tuple(self.beside.values()),
            optional=self.optional | unasked,
            long_form={role: self.long_form.get(role, "") for role in kind.long_form},
            letters=self._reads_letters,
        )
        refuse_overflow(rows)
        return rows

    @property
    def _reads_letters(self) -> bool:
        """Whether the model looks at letters of levels, and no step before it changes these."""
        final = self.pipeline.final
        before, seen = (
            [column for column in columns if column.coded] for columns in (self.features, final.columns_)
        )
        return final.accepts.letters and before == seen

    def _aligned(self, dataset: Dataset, columns: Sequence[Column]) -> AlignedRows:
        """The rows of a dataset as the model knows them, or a ModelFileError that says what does not fit."""
        try:
            return aligned(
                records_of_dataset(dataset),
                columns,
                declarations=self.reading_rules.columns,
                ranges=self.ranges,
                optional=self.optional,
                letters=self._reads_letters,
            )
        except DataError as problem:
            raise ModelFileError(*problem.problems) from None

    def table_of(self, dataset: Dataset) -> Table:
        """The features of a dataset as the model knows them, or a ModelFileError that says what does not fit."""
        return self._aligned(dataset, self.features).table

    def rows_of(self, dataset: Dataset) -> Any:
        """Rows whose truth is known, as the model knows them; a class that it never saw is a ModelFileError.

        Labels that only judge are those of the dataset, whatever the model was trained with.
        """
        kind = kind_named(self.kind)
        judging = dataset.schema.the("target") if kind.target == "judges" else None
        learned = self.targets if kind.target == "needed" else ()
        rows = self._aligned(dataset, (*self.features, *learned))
        self._refuse_unknown_classes(rows)
        described = {**self.roles, **{column.name: "target" for column in learned}}
        fields = [SchemaField(column, described.get(column.name, "feature")) for column in rows.table.columns]
        roles = ("weight", *kind.roles)
        beside = [SchemaField(column, role) for role in roles if (column := dataset.schema.the(role)) is not None]
        if judging is not None and judging not in self.features:
            beside.append(SchemaField(judging, "target"))
        known = {field.column.name for field in (*fields, *beside)}
        beside += [field for field in dataset.schema.with_role("context") if field.column.name not in known]
        schema = Schema((*fields, *beside))
        cells = [(field.column, dataset.table.cells(field.column.name)) for field in beside]
        whole = Table.of([*rows.table.parts(), *cells], len(rows))
        return kind.rows.from_table(whole, schema)

    def learned_rows(self, dataset: Dataset) -> int:
        """How many of the rows with a target are equal to rows that it has learned from."""
        if not {column.name for column in self.targets} <= set(dataset.schema.names()):
            return 0
        known = self._aligned(dataset, self._known_columns).table
        for target in self.targets:
            known = known.take(np.flatnonzero(~is_missing(known.cells(target.name))))
        return int(np.isin(fingerprints_of(known), self.fingerprints).sum())

    def notes_on(self, dataset: Dataset) -> tuple[str, ...]:
        """What to keep in mind about answers to these rows: those that it has learned, and cells unlike any."""
        rows = self._aligned(dataset, self.features)
        columns = self._notes_on_columns(dataset, rows)
        return (*self._notes_on_known_rows(dataset), *self._notes_on_classes(dataset), *rows.warnings(), *columns)

    def _notes_on_classes(self, dataset: Dataset) -> Iterator[str]:
        """That the class that is looked for is another one than in training, whose order of classes stays."""
        wanted = dataset.sidecar.positive
        for target in self.targets:
            if wanted is not None and target.levels and target.levels[-1] != wanted:
                kept = f"the positive class stays '{target.levels[-1]}', as in training"
                yield f"{kept}; for '{wanted}' train it again with --positive {wanted}"

    def _notes_on_columns(self, dataset: Dataset, rows: AlignedRows) -> Iterator[str]:
        """The columns that new rows may lack and do, and where they came in long form, things never met."""
        new = [name for name in rows.extra if name in {column.name for column in dataset.schema.features()}]
        if dataset.in_file is None and rows.absent_features:
            yield f"columns that the rows lack count as not there: {listed(rows.absent_features)}"
        if dataset.in_file is not None and new:
            yield f"items that were not there in training are passed over: {listed(new)}"

    def _refuse_unknown_classes(self, rows: AlignedRows) -> None:
        for target in self.targets:
            if unknown := rows.unseen_cells(target.name):
                what = f"{unknown} rows have a '{target.name}' that the model has never seen"
                hint = f"it knows {', '.join(target.levels)}: leave other rows out, or train it again"
                raise ModelFileError(what, where=rows.records.name, hint=hint)

    def _notes_on_known_rows(self, dataset: Dataset) -> Iterator[str]:
        if {column.name for column in self.targets} <= set(dataset.schema.names()):
            known = fingerprints_of(self._aligned(dataset, self._known_columns).table)
            if seen := int(np.isin(known, self.fingerprints).sum()):
                learned = "rows that the model has learned from"
                yield f"{seen} of {len(known)} rows are equal to {learned}, or nearly: they flatter it"


def _rarer_level(target: Column | None, kind: str) -> tuple[str, ...]:
    """The level that was taken as the anomaly where nobody said which it is."""
    has_positive = target is not None and kind_named(kind).has_positive_class and len(target.levels) == 2
    return target.levels[1:] if target is not None and has_positive else ()


def _roles_of(columns: tuple[Column, ...], schema: Schema) -> dict[str, str]:
    """The roles of some columns, where they are more than features."""
    special = {described.column.name: described.role for described in schema if described.role != "feature"}
    return {column.name: special[column.name] for column in columns if column.name in special}


def _ranges(table: Table) -> Iterator[tuple[str, tuple[float, float]]]:
    for column, cells in table.parts():
        if not column.coded and not np.isnan(cells).all():
            yield column.name, (float(np.nanmin(cells)), float(np.nanmax(cells)))


def fingerprints_of(table: Table) -> Fingerprints:
    """64 bits per row: equal rows have equal ones, whatever the order of columns and the codes of levels.

    So have rows whose numbers differ in the seventh digit only, but for few that lie where rounding goes both
    ways.
    """
    sums = np.zeros(len(table), np.uint64)
    for column, cells in table.parts():
        sums += _mixed(_of_cells(column, cells) + _of_text(column.name))
    return _mixed(sums)


def _of_cells(column: Column, cells: NDArray[Any]) -> Fingerprints:
    if not column.coded:
        one_nan_one_zero = np.where(np.isnan(cells), np.nan, cells + 0.0)
        return _mixed(_rounded(one_nan_one_zero))
    of_level = [_of_text(level) for level in (*column.levels, "\0 missing")]
    result: Fingerprints = np.array(of_level, np.uint64)[cells]
    return result


def _rounded(numbers: Array) -> Fingerprints:
    """The bits of numbers to about five digits; whole numbers, which may be dates or keys, as they are."""
    bits = numbers.view(np.uint64)
    half = np.uint64(1 << (UNEQUAL_BITS - 1))
    few = ((bits + half) >> np.uint64(UNEQUAL_BITS)) << np.uint64(UNEQUAL_BITS)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(numbers == np.round(numbers), bits, few), np.uint64)


def _of_text(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def _mixed(values: Fingerprints) -> Fingerprints:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014): every bit of the input moves half of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
