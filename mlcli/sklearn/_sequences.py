"""Taggers for scikit-learn users: sequences as lists, as sklearn-crfsuite has them, or rows with their groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.sklearn._estimators import Estimator
from mlcli.sklearn._rows import TARGET, AnyArray, known_table, labelled_rows, learned_table, method_at_work
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger

if TYPE_CHECKING:
    import pandas as pd

    from mlcli.sklearn._rows import MatrixLike

    Tags = AnyArray | Sequence[Sequence[object]]


class BaseTagger(Estimator):
    """Predicts the tag of each element of a sequence.

    ``X`` is a list of sequences, each a list of values or of mappings from features to values, and ``y`` a list
    of lists of tags; a feature that an element lacks is 0, or no level. Or ``X`` is a data frame or matrix, ``y``
    has a tag for each row, and ``groups`` says which sequence a row belongs to; these rows stand in their order.
    """

    def fit_without_weights(  # type: ignore[override]  # tags are lists of lists
        self, X: MatrixLike, y: Tags | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Learn from tagged sequences."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows, sequence = _rows_of(X, groups)
        tags = column_or_1d(y) if groups is not None else _chained(y)
        check_consistent_length(rows, tags)
        if groups is None and _lengths(X) != _lengths(y):
            raise ValueError("a sequence of X has another length than its tags in y")
        table, _ = learned_table(self, rows)
        labelled, self.classes_ = labelled_rows(table, tags)
        tagged = TaggedRows(
            table=table,
            rows=np.arange(len(table)),
            target=TARGET,
            y=labelled.y,
            classes=labelled.classes,
            sequence=sequence,
            groups=sequence,
        )
        self._learn_from(tagged.take(np.argsort(sequence, kind="stable")))
        return self

    def predict(self, X: MatrixLike, groups: ArrayLike | None = None) -> AnyArray | list[list[object]]:
        """The tag of each element: lists for a list of sequences, an array for rows with groups."""
        table, sequence, order = self._ordered(X, groups)
        with method_at_work():
            codes = self._final(Tagger).tag(table, sequence)
        tags: AnyArray = self.classes_[codes[np.argsort(order)]]
        return tags if groups is not None else _in_lists(tags, X)

    def predict_marginals(self, X: MatrixLike, groups: ArrayLike | None = None) -> Array | list[list[object]]:
        """The probability of each tag at each element: mappings in lists, or an array (by ``classes_``)."""
        table, sequence, order = self._ordered(X, groups)
        with method_at_work():
            shares: Array = self._final(Tagger).tag_shares(table, sequence)[np.argsort(order)]
        if groups is not None:
            return shares
        tags = self.classes_.tolist()
        return _in_lists(np.array([dict(zip(tags, row, strict=True)) for row in shares.tolist()], object), X)

    def score(self, X: MatrixLike, y: Tags, groups: ArrayLike | None = None) -> float:
        """The share of elements whose tag is right."""
        predicted = self.predict(X, groups)
        if groups is None:
            predicted, y = _chained(predicted), _chained(y)
        return float((np.asarray(predicted) == np.asarray(y)).mean())

    def _ordered(self, X: MatrixLike, groups: ArrayLike | None) -> tuple[Table, Codes, Rows]:
        """The rows as the method sees them, sequence by sequence, and the order that sorts them so."""
        check_is_fitted(self)
        rows, sequence = _rows_of(X, groups)
        if groups is None:
            rows = _without_gaps(rows.reindex(columns=self.feature_names_in_))  # type: ignore[union-attr]  # a frame
        order = np.argsort(sequence, kind="stable")
        with method_at_work():
            table = self.pipeline_.prepared(known_table(self, rows).take(order))
        return table, sequence[order], order


def _rows_of(X: MatrixLike, groups: ArrayLike | None) -> tuple[MatrixLike, Codes]:
    """All elements as rows of a frame or matrix, and the number of the sequence of each."""
    if groups is not None:
        check_consistent_length(X, groups)
        return X, np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int32)
    if (
        hasattr(X, "iloc")
        or getattr(X, "ndim", 1) != 1
        or not all(isinstance(sequence, Sequence) for sequence in X)
    ):
        raise ValueError(
            "pass a list of sequences, or rows (a data frame or a matrix) with groups= for the sequence of "
            "each row"
        )
    import pandas as pd

    elements = [*chain.from_iterable(X)]
    named = all(isinstance(element, Mapping) for element in elements)
    frame = pd.DataFrame(elements if named else {"x": elements})
    return _without_gaps(frame), np.repeat(np.arange(len(X), dtype=np.int32), _lengths(X))


def _without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Features that are numbers or yes and no, as numbers; 0 where an element lacks one."""
    numbers = [name for name in frame if frame[name].dropna().map(lambda cell: isinstance(cell, Real)).all()]
    frame = frame.copy()
    for name in numbers:
        frame[name] = frame[name].astype(float).fillna(0.0)
    return frame


def _lengths(sequences: Iterable[Any]) -> list[int]:
    return [len(sequence) for sequence in sequences]


def _chained(tags: Tags) -> AnyArray:
    return np.array([*chain.from_iterable(tags)])


def _in_lists(values: AnyArray, X: MatrixLike) -> list[list[object]]:
    """The values of all elements as a list for each sequence."""
    ends = np.cumsum(_lengths(X))[:-1]
    return [part.tolist() for part in np.split(values, ends)]
