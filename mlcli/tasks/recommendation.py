"""Recommendation: rows with a user, an item and a rating, and models that predict ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mlcli.core import DECIMALS
from mlcli.core.errors import DataError, FitError, warn
from mlcli.core.model import Model, refuse_impossible
from mlcli.core.moments import ROUNDING_OF_SQUARES, moments, refuse_extreme_target
from mlcli.core.params import learned
from mlcli.core.schema import Accepts, Column, Schema
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.tasks.supervised import SupervisedTask, ValueAnswers, ValuedRows

TOP = 10
"""The length of a list of recommendations."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RatingAnswers(ValueAnswers):
    """True and predicted ratings, and the list of recommendations for the user of each row."""

    user: Codes
    item: Codes
    cold: Flags
    """Whether the user or the item has no training rating."""
    liked: Flags
    """Whether the true rating reaches the mean of the training ratings."""
    top: Codes
    """The items (n × 10), best first, that the user has not rated in training; -1 where there are no more."""
    users: tuple[str, ...]
    items: tuple[str, ...]

    @property
    def crossed(self) -> Mapping[str, Codes]:
        """Errors of one user depend on each other, and so do errors of one item."""
        return {"users": self.user, "items": self.item}


@dataclass(kw_only=True, eq=False)
class Recommender(Model):
    """Predicts the rating that a user would give to an item. A method implements ``fit_ratings`` and ``rate``.

    Unknown users and items have the code -1, so arrays with an entry per user or item end with one for these.
    """

    seen_user_: Rows = learned("ratings")
    seen_item_: Rows = learned("ratings")
    user_ratings_: Array = learned("users")
    item_ratings_: Array = learned("items")
    liked_from_: float = learned()

    @property
    def accepts(self) -> Accepts:
        """Users and items as levels, and weights of ratings."""
        return Accepts(numbers=False, nominal=True, missing=True, weights=True)

    def fit(self, data: Ratings, rng: np.random.Generator) -> None:
        """Store who has rated what, then learn from the rows in a canonical order."""
        data = data.counted()
        if (data.table.codes < 0).any():
            raise FitError("a training row lacks its user or its item")
        data = data.take(np.lexsort((data.y, data.items, data.users)))
        users, items = (len(column.levels) for column in data.table.columns)
        pairs = data.users.astype(np.int64) * items + data.items
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        self.seen_user_, self.seen_item_ = pairs // items, pairs % items
        self.user_ratings_ = np.bincount(data.users, data.weights, users + 1).astype(np.float64)
        self.item_ratings_ = np.bincount(data.items, data.weights, items + 1).astype(np.float64)
        self.liked_from_ = float(moments(data.y[:, None], data.weights).mean[0])
        self.fit_ratings(data, rng)

    def fit_ratings(self, data: Ratings, rng: np.random.Generator) -> None:
        """Learn from rows with positive weights, sorted by user and item."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def rate(self, users: Rows | Codes, items: Rows | Codes) -> Array:
        """The rating of each pair of user and item, which are broadcast against each other."""
        raise TypeError(f"{type(self).__name__} does not say how it rates")

    def predict_values(self, table: Table) -> Array:
        """The rating of each row."""
        users, items = table.codes.T
        return np.array(np.broadcast_to(self.rate(users, items), len(table)))

    def rated_before(self, table: Table) -> Flags:
        """Whether the user of each row has rated its item in training."""
        items = len(self.item_ratings_)
        asked, seen = table.codes.astype(np.int64), self.seen_user_ * items + self.seen_item_
        return np.isin(asked[:, 0] * items + asked[:, 1], seen) & (table.codes >= 0).all(axis=1)

    def cold(self, table: Table) -> Flags:
        """Whether the user or the item of each row has no training rating."""
        users, items = table.codes.T
        return np.asarray((self.user_ratings_[users] == 0) | (self.item_ratings_[items] == 0))

    def likes(self, ratings: Array) -> Flags:
        """Whether each rating reaches the mean of the training ratings."""
        return np.asarray(ratings - self.liked_from_ >= -ROUNDING_OF_SQUARES * abs(self.liked_from_))

    def top_items(self, table: Table) -> Codes:
        """The recommendations for the user of each row; of ties, items with more training ratings come first."""
        rated = np.flatnonzero(self.item_ratings_ > 0)
        items = rated[np.argsort(-self.item_ratings_[rated], kind="stable")]
        users, user_index = np.unique(table.codes[:, 0], return_inverse=True)
        step = max(1, 4_000_000 // max(1, len(items)))  # so many pairs are rated at once
        lists = [self._lists(users[start : start + step], items) for start in range(0, len(users), step)]
        return np.concatenate([np.empty((0, TOP), np.int32), *lists])[user_index]

    def _lists(self, users: Codes, items: Rows) -> Codes:
        """The best items for each user among those it has not rated."""
        ratings = np.broadcast_to(self.rate(users[:, None], items[None, :]), (len(users), len(items)))
        ratings = np.round(ratings, DECIMALS)
        ratings[self._seen_by(users, items)] = -np.inf
        best = np.argsort(-ratings, axis=1, kind="stable")[:, :TOP]
        unseen = np.take_along_axis(ratings, best, axis=1) > -np.inf
        lists = np.full((len(users), TOP), -1, np.int32)
        lists[:, : best.shape[1]] = np.where(unseen, items[best], -1)
        return lists

    def _seen_by(self, users: Codes, items: Rows) -> tuple[Rows, Rows]:
        """The cells of a grid of users and items in which the user has rated the item."""
        row_of, column_of = np.full(len(self.user_ratings_), -1), np.full(len(self.item_ratings_), -1)
        row_of[users], column_of[items] = np.arange(len(users)), np.arange(len(items))
        row_of[-1] = -1
        rows, columns = row_of[self.seen_user_], column_of[self.seen_item_]
        return rows[rows >= 0], columns[rows >= 0]

    def check_learned(self) -> None:
        """Refuse users and items that do not exist; the last entry of each stands for unknown ones."""
        counts = [len(column.levels) for column in self.columns_]
        if [len(self.user_ratings_), len(self.item_ratings_)] != [count + 1 for count in counts]:
            raise ValueError("what was seen does not fit the users and items")
        for seen, count in zip((self.seen_user_, self.seen_item_), counts, strict=True):
            if seen.dtype.kind != "i" or ((seen < 0) | (seen >= count)).any():
                raise ValueError("a user or an item was seen that there is not")


class Recommendation(SupervisedTask[Recommender, "Ratings", RatingAnswers]):
    """Predict what users would give to items that they have not rated."""

    base = Recommender

    def training_view(self, model: Model, rows: Ratings) -> Ratings:
        """The ratings as they are; steps are refused, since they would change users and items."""
        if model.all_steps():
            raise FitError(f"{model.name} takes users and items as they are", hint="leave out the steps")
        rows = super().training_view(model, rows)
        refuse_extreme_target(rows.target, rows.y, rows.weights)
        return rows

    def predict_rows(self, model: Recommender, rows: Ratings) -> RatingAnswers:
        """The rating of each row, and the list of items for its user."""
        predicted = model.predict_values(rows.table)
        refuse_impossible(model, predicted, (len(rows),))
        user, item = rows.table.columns
        if model.rated_before(rows.table).any():
            warn(
                "some test rows are of a user and an item that training has a rating of: "
                "they are known better than others, and no list can hold them"
            )
        return RatingAnswers(
            header=rows.header(),
            truth=rows.y,
            predicted=predicted,
            user=rows.users,
            item=rows.items,
            cold=model.cold(rows.table),
            liked=model.likes(rows.y),
            top=model.top_items(rows.table),
            users=user.levels,
            items=item.levels,
        )

    def outputs_of(self, model: Recommender, table: Table) -> Array:
        """The rating, in one column."""
        return model.predict_values(table)[:, None]

    def output_names(self, model: Recommender) -> tuple[str, ...]:
        """The name of the target."""
        return (model.target_ or "value",)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ratings(ValuedRows):
    """Rows with a user, an item and a rating; the table has the column of users, then that of items."""

    kind = "recommendation"
    task = Recommendation()

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """The columns of users and of items; models see no others."""
        return tuple(_column_with_role(role, schema) for role in ("user", "item"))

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> Ratings:
        """The ratings of a dataset, without rows that have no rating."""
        columns = cls.columns_of(schema)
        whole = ValuedRows.from_table(table, schema)
        parts = [(column, table.cells(column.name)[whole.rows]) for column in columns]
        seen = Table.of(parts, len(whole))
        kept = {name: getattr(whole, name) for name in ("rows", "target", "weight", "groups", "context", "y")}
        return cls(table=seen, **kept)

    @property
    def users(self) -> Codes:
        """The user of each row, -1 if unknown."""
        return self.table.codes[:, 0]

    @property
    def items(self) -> Codes:
        """The item of each row, -1 if unknown."""
        return self.table.codes[:, 1]


def _column_with_role(role: str, schema: Schema) -> Column:
    column = schema.the(role)
    if column is None or not column.coded:
        hint = "say in the sidecar which columns name them: roles: {user: COLUMN, item: COLUMN}"
        raise DataError(f"ratings need a column of levels with the role {role}", hint=hint)
    return column
