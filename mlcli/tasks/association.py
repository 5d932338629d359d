"""Association: rows as sets of items, models that find rules between items, and how rules apply to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mlcli.core import DECIMALS, findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.answers import Answers, Header
from mlcli.core.errors import warn
from mlcli.core.model import Model, Task
from mlcli.core.names import listed
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable, extras_of
from mlcli.core.schema import Accepts, Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Cells, Codes, Flags, Table

UNKNOWN = np.int8(-1)
"""The entry of a rule for rows of a split that has not found it."""
Itemset = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """A level of a coded column, by their indices."""

    name: str
    column: int
    level: int


def items_of(columns: Sequence[Column]) -> tuple[Item, ...]:
    """The items of coded columns; a boolean column has one item, for its second level."""
    return tuple(
        Item(column.name if column.kind == "boolean" else f"{column.name}={name}", index, level)
        for index, column in enumerate(columns)
        for level, name in enumerate(column.levels)
        if column.kind != "boolean" or level == len(column.levels) - 1
    )


def baskets_of(table: Table, items: Sequence[Item]) -> Flags:
    """Whether each row has each item (n × items); a missing cell is no item."""
    columns, levels = ([getattr(item, part) for item in items] for part in ("column", "level"))
    return np.asarray(table.codes[:, columns] == np.array(levels, np.int32))


@dataclass(frozen=True)
class Rule:
    """A rule "if a row has the items ``when``, it has the items ``then``", with its shares of training rows."""

    when: Itemset
    then: Itemset
    support: float
    when_support: float
    then_support: float

    @property
    def confidence(self) -> float:
        """The share of rows with the conclusion, among those with the condition."""
        return self.support / self.when_support

    @property
    def lift(self) -> float:
        """The confidence divided by the share of rows with the conclusion."""
        return self.confidence / self.then_support

    def in_words(self, names: Sequence[str]) -> tuple[str, str]:
        """The condition and the conclusion, in words."""
        return items_in_words(self.when, names), items_in_words(self.then, names)


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleAnswers(Answers):
    """How each rule applies to each scored row, and the figures of the rules on training rows."""

    fires: NDArray[np.int8]
    """Whether the row meets the condition (n × rules): 1 or 0, -1 if its split has not found the rule."""
    holds: NDArray[np.int8]
    """Whether the row has the items of the conclusion."""
    when: tuple[str, ...]
    then: tuple[str, ...]
    support: tuple[float, ...]
    confidence: tuple[float, ...]
    lift: tuple[float, ...]
    found: tuple[int, ...] = field(default=())
    """The number of pooled splits that have found each rule."""

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """All rules of several splits, those found most often first; figures of training rows are averaged."""
        rules_of_parts = [list(zip(part.when, part.then, strict=True)) for part in parts]
        rules = list(dict.fromkeys(rule for rules_of_part in rules_of_parts for rule in rules_of_part))
        index_of = {rule: index for index, rule in enumerate(rules)}
        columns = [[index_of[rule] for rule in rules_of_part] for rules_of_part in rules_of_parts]
        found = np.zeros(len(rules), np.intp)
        for own in columns:
            found[own] += 1
        order = np.argsort(-found, kind="stable")

        def widened(name: str) -> NDArray[np.int8]:
            blocks = [np.full((len(part), len(rules)), UNKNOWN) for part in parts]
            for part, block, own in zip(parts, blocks, columns, strict=True):
                block[:, own] = getattr(part, name)
            return np.concatenate(blocks)[:, order]

        def averaged(name: str) -> tuple[float, ...]:
            sums = np.zeros(len(rules))
            for part, own in zip(parts, columns, strict=True):
                sums[own] += getattr(part, name)
            return tuple((sums / np.maximum(found, 1))[order].tolist())

        return cls(
            header=Header.pooled([part.header for part in parts]),
            fires=widened("fires"),
            holds=widened("holds"),
            when=tuple(rules[index][0] for index in order),
            then=tuple(rules[index][1] for index in order),
            support=averaged("support"),
            confidence=averaged("confidence"),
            lift=averaged("lift"),
            found=tuple(found[order].tolist()),
        )


@dataclass(kw_only=True, eq=False)
class Associator(Model, RowExplainer):
    """Finds rules between the items of rows. A method implements ``mined``.

    ``when_`` and ``then_`` hold the items of each rule, padded with -1; ``shares_`` the support of the rule, of
    its condition and of its conclusion.
    """

    when_: Codes = learned("rules", "longest_condition")
    then_: Codes = learned("rules", "longest_conclusion")
    shares_: Array = learned("rules", 3)

    accepts = Accepts(numbers=False, nominal=True, missing=True, weights=True)
    """Levels; a missing cell is no item."""

    def fit(self, data: Transactions, rng: np.random.Generator) -> None:
        """Find the rules in the rows with positive weights."""
        if data.left_out:
            warn(f"numbers are no items, so these columns are left out: {listed(data.left_out)}")
        data = data.counted()
        baskets = baskets_of(data.table, items_of(data.table.columns))
        if (baskets.sum(axis=1) <= 1).all():
            warn(
                "no training row has more than one item, so nothing stands together; "
                "if each row is one item of a transaction, say so in the sidecar: "
                "roles: {group: [...], item: [...]}"
            )
        rules = self.mined(baskets, data.weights / data.weights.sum())
        self.when_, self.then_ = (padded([getattr(rule, side) for rule in rules]) for side in ("when", "then"))
        shares = [(rule.support, rule.when_support, rule.then_support) for rule in rules]
        self.shares_ = np.array(shares, np.float64).reshape(len(rules), 3)

    def mined(self, baskets: Flags, weights: Array) -> list[Rule]:
        """The rules in the order of quality; the weights of the rows sum to 1."""
        raise TypeError(f"{type(self).__name__} does not say how it finds rules")

    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order of quality."""
        sides = ([tuple(row[row >= 0].tolist()) for row in side] for side in (self.when_, self.then_))
        return tuple(Rule(*both, *shares) for *both, shares in zip(*sides, self.shares_.tolist(), strict=True))

    def item_names(self) -> tuple[str, ...]:
        """The names of the items."""
        return tuple(item.name for item in items_of(self.columns_))

    def applied(self, table: Table) -> tuple[Flags, Flags]:
        """Whether each row meets the condition of each rule (n × rules), and whether it has the conclusion."""
        baskets, rules = baskets_of(table, items_of(self.columns_)), self.rules()
        fires, holds = (np.empty((len(table), len(rules)), bool) for _ in range(2))
        for index, rule in enumerate(rules):
            fires[:, index] = baskets[:, rule.when].all(axis=1)
            holds[:, index] = baskets[:, rule.then].all(axis=1)
        return fires, holds

    def explain(self) -> findings.Explanation:
        """The rules with their figures on training rows."""
        names = self.item_names()
        rows = tuple(
            (*rule.in_words(names), rule.support, sure, rule.lift, conviction(sure, rule.then_support))
            for rule, sure in ((rule, rule.confidence) for rule in self.rules())
        )
        header = ("if", "then", "support", "confidence", "lift", "conviction")
        if not rows:
            return (findings.Lines("Rules: 0", ("none was found",)),)
        never_wrong = "a rule without a conviction is never wrong in the rows that it was found in"
        note = never_wrong if any(row[-1] is None for row in rows) else ""
        return (findings.Table(f"Rules: {len(rows)}", header, rows, note=note),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The ten most confident rules whose condition a row meets, and whether it has the conclusion."""
        (fires, holds), names = self.applied(table), self.item_names()
        met = [(rule, bool(has)) for rule, fire, has in zip(self.rules(), fires[0], holds[0], strict=True) if fire]
        surest = sorted(met, key=lambda rule_met: -rule_met[0].confidence)[:10]
        rows = tuple((*rule.in_words(names), rule.confidence, "yes" if has else "no") for rule, has in surest)
        header = ("if", "then", "confidence", "and it has that")
        return (findings.Table(f"Rules whose condition it meets: {len(met)}", header, rows),)

    def check_learned(self) -> None:
        """Refuse rules with items that do not exist."""
        items = len(self.item_names())
        if any(((side < MISSING_CODE) | (side >= items)).any() for side in (self.when_, self.then_)):
            raise ValueError("a rule names an item that there is not")
        if ((self.shares_ <= 0) | (self.shares_ > 1 + 10.0**-DECIMALS)).any():
            raise ValueError("a share is none")


class Association(Task[Associator, "Transactions", RuleAnswers]):
    """Find rules between things that stand together in rows."""

    base = Associator

    def predict_rows(self, model: Associator, rows: Transactions) -> RuleAnswers:
        """What each rule says of each row."""
        fires, holds = model.applied(rows.table)
        rules, names = model.rules(), model.item_names()
        return RuleAnswers(
            header=rows.header(),
            fires=fires.astype(np.int8),
            holds=holds.astype(np.int8),
            when=tuple(items_in_words(rule.when, names) for rule in rules),
            then=tuple(items_in_words(rule.then, names) for rule in rules),
            support=tuple(rule.support for rule in rules),
            confidence=tuple(rule.confidence for rule in rules),
            lift=tuple(rule.lift for rule in rules),
            found=(1,) * len(rules),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Transactions(RowsOfTable):
    """Rows as sets of items: a boolean column is one item, any other coded column one for each level."""

    kind = "association"
    task = Association()

    left_out: tuple[str, ...] = ()
    """Columns of numbers, which are not items."""

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> Transactions:
        """Every row of a dataset; columns of 0 and 1 are read as absent and present."""
        names = {column.name for column in schema.features()}
        items, left_out = list[tuple[Column, Cells]](), list[str]()
        for column, cells in table.parts():
            if column.name not in names:
                continue
            item = (column, cells) if column.coded else _zeros_and_ones(column, cells)
            if item is None:
                left_out.append(column.name)
            else:
                items.append(item)
        return cls(
            table=Table.of(items, len(table)),
            rows=np.arange(len(table)),
            left_out=tuple(left_out),
            **extras_of(table, schema),
        )


def conviction(confidence: float, then_support: float) -> float | None:
    """The expected share of wrong applications by chance over the actual one; None if it is never wrong."""
    wrong = 1.0 - confidence
    return None if wrong <= 10.0**-DECIMALS else (1.0 - then_support) / wrong


def items_in_words(items: Itemset, names: Sequence[str]) -> str:
    """The items of one side of a rule."""
    return " & ".join(names[item] for item in items) or "(always)"


def padded(itemsets: Sequence[Itemset]) -> Codes:
    """Itemsets as the rows of one array, padded with -1."""
    rows = np.full((len(itemsets), max(map(len, itemsets), default=0)), -1, np.int32)
    for row, items in zip(rows, itemsets, strict=True):
        row[: len(items)] = items
    return rows


def _zeros_and_ones(column: Column, cells: Cells) -> tuple[Column, Codes] | None:
    """A column of 0 and 1 as a boolean column; None for other numbers."""
    numbers = cells.astype(np.float64)
    present = ~np.isnan(numbers)
    if not present.any() or not np.isin(numbers[present], (0.0, 1.0)).all():
        return None
    codes = np.where(present, np.nan_to_num(numbers), MISSING_CODE).astype(np.int32)
    return replace(column, kind="boolean", levels=("0", "1")), codes
