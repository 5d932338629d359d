"""A trained model with what is needed to predict other rows: its columns, their ranges, and its training rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

import mlcli
from mlcli.core.errors import DataError, ModelFileError
from mlcli.core.names import listed
from mlcli.core.pipeline import Pipeline
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Array, Table, is_missing
from mlcli.data.dataset import Dataset
from mlcli.data.load import names_of_form
from mlcli.data.new_rows import AlignedRows, Reference, aligned, new_rows, records_of_dataset, refuse_overflow
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.data.source import is_number
from mlcli.engines.column_effects import usual_values
from mlcli.experiment.results import Trained
from mlcli.prepare.drop import Drop
from mlcli.tasks.table import kind_named

Fingerprints = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedModel:
    """A fitted pipeline, and a description of its training rows."""

    pipeline: Pipeline
    kind: str
    target: Column | None
    """None if the rows had none: some kinds of task need none."""
    features: tuple[Column, ...]
    """The columns that the model sees."""
    ranges: Mapping[str, tuple[float, float]]
    """Smallest and largest training value of every numeric feature that has values."""
    usual: Table
    """Usual values of each feature, sorted by column: they replace hidden cells."""
    seed: int
    dataset: str
    """The name of the dataset."""
    content: str
    """The content hash of that dataset."""
    rows: int
    """The number of training rows."""
    version: str
    """The version of mlcli that made it."""
    fingerprints: Fingerprints
    """The fingerprint of every training row, target included, sorted."""
    beside: Mapping[str, Column] = field(default_factory=dict)
    """By role, columns that the model does not see, such as groups."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """By name, the roles of columns that are more than features to the model, such as users and items."""
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
        """The saved form of a model that was trained on a dataset."""
        target, rows = dataset.schema.the("target"), trained.rows
        features, kind = rows.table.columns, kind_named(rows.kind)
        beside = {role: column for role in kind.roles if (column := dataset.schema.the(role)) is not None}
        columns = (*features, *filter(None, [target]), *beside.values())
        declared = {column.name: dataset.sidecar.of(column.name) for column in columns}
        learned_from = aligned(records_of_dataset(dataset), columns).table.take(rows.rows)
        names = {column.name for column in features}
        numbers = {
            column.name: cells
            for column, cells in rows.table.parts()
            if not column.coded and not np.isnan(cells).all()
        }
        # If no level was declared to be the anomaly, it is the rarer one.
        is_binary = target is not None and kind.has_positive_class and len(target.levels) == 2
        rarer = target.levels[1:] if target is not None and is_binary else ()
        return cls(
            pipeline=trained.pipeline,
            kind=rows.kind,
            target=target,
            features=features,
            ranges={name: (float(np.nanmin(cells)), float(np.nanmax(cells))) for name, cells in numbers.items()},
            usual=usual_values(rows.table),
            seed=seed,
            dataset=dataset.name,
            content=dataset.content,
            rows=len(rows),
            version=mlcli.__version__,
            fingerprints=np.sort(fingerprints_of(learned_from)),
            beside=beside,
            roles={
                field.column.name: field.role
                for field in dataset.schema
                if field.role != "feature" and field.column.name in names
            },
            long_form=names_of_form(dataset),
            order=dataset.schema.names(),
            missing={name: declaration.missing for name, declaration in declared.items() if declaration.missing},
            empty={name: decl.empty for name, decl in declared.items() if decl.empty is not None},
            anomaly=dataset.sidecar.anomaly or rarer,
        )

    @property
    def reading_rules(self) -> Sidecar:
        """The sidecar by which the training file was read."""
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
        """The columns by which a training row is recognised."""
        return (*self.features, *self.targets, *self.beside.values())

    @property
    def optional(self) -> frozenset[str]:
        """The columns that new rows may lack."""
        if kind_named(self.kind).absent_means_no:
            return frozenset(feature.name for feature in self.features)
        return self.hidden

    @property
    def hidden(self) -> frozenset[str]:
        """The sensitive and context columns that the first step drops, so that their cells do not matter."""
        first = next(iter(self.pipeline.steps), None)
        dropped = first.columns or () if isinstance(first, Drop) else ()
        hidden = {feature.name for feature in self.features if feature.sensitive or feature.context}
        return frozenset(hidden.intersection(dropped))

    @property
    def by_role(self) -> dict[str, Column]:
        """By role, the columns that are more than features, whether the model sees them or not."""
        seen = {self.roles[column.name]: column for column in self.features if column.name in self.roles}
        return {**self.beside, **seen}

    def fields(self) -> Iterator[SchemaField]:
        """The columns that the model sees, in their roles."""
        return (SchemaField(column, self.roles.get(column.name, "feature")) for column in self.features)

    def new_rows(self, reference: Reference) -> AlignedRows:
        """Rows to predict."""
        kind = kind_named(self.kind)
        optional_roles = {name for name, role in self.roles.items() if role in kind.optional_roles}
        rows = new_rows(
            reference,
            self.features,
            ranges=self.ranges,
            earlier=self.reading_rules,
            beside=tuple(self.beside.values()),
            optional=self.optional | optional_roles,
            long_form={role: self.long_form.get(role, "") for role in kind.long_form},
            letters=self._reads_letters,
        )
        refuse_overflow(rows)
        return rows

    @property
    def _reads_letters(self) -> bool:
        """Whether the model reads the letters of levels, and no step before it changes the levels."""
        final = self.pipeline.final
        given = [column for column in self.features if column.coded]
        seen = [column for column in final.columns_ if column.coded]
        return final.accepts.letters and given == seen

    def _aligned(self, dataset: Dataset, columns: Sequence[Column]) -> AlignedRows:
        """The rows of a dataset with the columns of training; a ModelFileError if they do not fit."""
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
        """The features of a dataset as in training; a ModelFileError if they do not fit."""
        return self._aligned(dataset, self.features).table

    def rows_of(self, dataset: Dataset) -> RowsOfTable:
        """Rows with a target as in training; a class that the model has never seen is a ModelFileError.

        Labels that are only for scoring are those of the dataset, whatever the model was trained with.
        """
        kind = kind_named(self.kind)
        learned = self.targets if kind.target == "needed" else ()
        rows = self._aligned(dataset, (*self.features, *learned))
        for target in self.targets:
            if unknown := rows.unseen_cells(target.name):
                what = f"{unknown} rows have a '{target.name}' that the model has never seen"
                hint = f"it knows {', '.join(target.levels)}: leave other rows out, or train it again"
                raise ModelFileError(what, where=rows.records.name, hint=hint)
        roles = {**self.roles, **{column.name: "target" for column in learned}}
        fields = [SchemaField(column, roles.get(column.name, "feature")) for column in rows.table.columns]
        beside = [
            SchemaField(column, role)
            for role in ("weight", *kind.roles)
            if (column := dataset.schema.the(role)) is not None
        ]
        judging = dataset.schema.the("target") if kind.target == "judges" else None
        if judging is not None and judging not in self.features:
            beside.append(SchemaField(judging, "target"))
        names = {field.column.name for field in (*fields, *beside)}
        beside += [field for field in dataset.schema.with_role("context") if field.column.name not in names]
        cells = [(field.column, dataset.table.cells(field.column.name)) for field in beside]
        whole = Table.of([*rows.table.parts(), *cells], len(rows))
        with_target: RowsOfTable = kind.rows.from_table(whole, Schema((*fields, *beside)))
        return with_target

    def learned_rows(self, dataset: Dataset) -> int:
        """How many of the rows with a target are training rows."""
        if not self._has_target(dataset):
            return 0
        table = self._aligned(dataset, self._known_columns).table
        for target in self.targets:
            table = table.take(np.flatnonzero(~is_missing(table.cells(target.name))))
        return int(np.isin(fingerprints_of(table), self.fingerprints).sum())

    def notes_on(self, dataset: Dataset) -> tuple[str, ...]:
        """Remarks on predictions of these rows: training rows among them, and cells unlike those of training."""
        rows = self._aligned(dataset, self.features)
        notes = []
        if self._has_target(dataset):
            table = self._aligned(dataset, self._known_columns).table
            if seen := int(np.isin(fingerprints_of(table), self.fingerprints).sum()):
                learned = "rows that the model has learned from"
                notes.append(f"{seen} of {len(table)} rows are equal to {learned}, or nearly: they flatter it")
        positive = dataset.sidecar.positive
        for target in self.targets:
            if positive is not None and target.levels and target.levels[-1] != positive:
                stays = f"the positive class stays '{target.levels[-1]}', as in training"
                notes.append(f"{stays}; for '{positive}' train it again with --positive {positive}")
        notes += rows.warnings()
        if dataset.in_file is None and rows.absent_features:
            notes.append(f"columns that the rows lack count as not there: {listed(rows.absent_features)}")
        features = {column.name for column in dataset.schema.features()}
        new = [name for name in rows.extra if name in features]
        if dataset.in_file is not None and new:
            notes.append(f"items that were not there in training are passed over: {listed(new)}")
        return tuple(notes)

    def _has_target(self, dataset: Dataset) -> bool:
        return {column.name for column in self.targets} <= set(dataset.schema.names())


def fingerprints_of(table: Table) -> Fingerprints:
    """64 bits per row: equal rows have equal ones, whatever the order of columns and the codes of levels.

    Rows whose numbers differ only in the seventh digit mostly have equal ones, too.
    """
    sums = np.zeros(len(table), np.uint64)
    for column, cells in table.parts():
        if column.coded:
            hashes = [_hash_of(level) for level in (*column.levels, "\0 missing")]
            of_cells: Fingerprints = np.array(hashes, np.uint64)[cells]
        else:
            numbers = np.asarray(cells, np.float64)
            of_cells = _mixed(_rounded(np.where(np.isnan(numbers), np.nan, numbers + 0.0)))  # one NaN and one zero
        sums += _mixed(of_cells + _hash_of(column.name))
    return _mixed(sums)


def _rounded(numbers: Array) -> Fingerprints:
    """The bits of numbers to about five digits; whole numbers, which may be dates or keys, as they are."""
    bits = numbers.view(np.uint64)
    dropped = np.uint64(34)  # of the 52 bits behind the first
    half = np.uint64(1 << 33)
    few = ((bits + half) >> dropped) << dropped
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(numbers == np.round(numbers), bits, few), np.uint64)


def _hash_of(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def _mixed(values: Fingerprints) -> Fingerprints:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014): every bit of the input moves half of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
