"""Taggers for scikit-learn users: sequences as lists, as sklearn-crfsuite has them, or rows with their groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.sklearn._estimators import Estimator
from mlcli.sklearn._rows import TARGET, known_table, labelled_rows, learned_table, method_at_work
from mlcli.tasks.sequence_labelling import TaggedRows

ONE_COLUMN = "x"
"""What the column of sequences of plain values is called."""
FORMS = "pass a list of sequences, or rows (a data frame or a matrix) with groups= for the sequence of each row"


class BaseTagger(Estimator):
    """Answers the tag of each element of a sequence.

    ``X`` is a list of sequences, each a list of values or of mappings from features to values, and ``y`` a list
    of lists of tags; a feature that an element lacks is 0, or no level. Or ``X`` is a data frame or matrix, ``y``
    has a tag for each row, and ``groups`` says which sequence a row belongs to; these rows stand in their order.
    """

    def fit_without_weights(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Learn from tagged sequences."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows, sequence = _rows_of(X, groups)
        tags = column_or_1d(y) if groups is not None else np.array([*chain.from_iterable(y)])
        check_consistent_length(rows, tags)
        if groups is None and [len(one) for one in X] != [len(one) for one in y]:
            raise ValueError("a sequence of X has another length than its tags in y")
        table, _ = learned_table(self, rows)
        labelled, self.classes_ = labelled_rows(table, tags)
        order = np.argsort(sequence, kind="stable")
        tagged = TaggedRows(
            table=table,
            rows=np.arange(len(table)),
            target=TARGET,
            y=labelled.y,
            classes=labelled.classes,
            sequence=sequence,
            groups=sequence,
        )
        self._learn_from(tagged.take(order))
        return self

    def predict(self, X: Any, groups: Any = None) -> Any:
        """The tag of each element: lists for a list of sequences, an array for rows with groups."""
        table, sequence, order = self._ordered(X, groups)
        with method_at_work():
            codes = self._final.tag(table, sequence)
        tags = self.classes_[codes[np.argsort(order)]]
        return tags if groups is not None else _in_lists(tags, X)

    def predict_marginals(self, X: Any, groups: Any = None) -> Any:
        """The probability of each tag at each element: mappings in lists, or an array (by ``classes_``)."""
        table, sequence, order = self._ordered(X, groups)
        with method_at_work():
            shares: Array = self._final.tag_shares(table, sequence)[np.argsort(order)]
        if groups is not None:
            return shares
        tags = self.classes_.tolist()
        return _in_lists(np.array([dict(zip(tags, row, strict=True)) for row in shares.tolist()], object), X)

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """The share of elements whose tag is right."""
        predicted = self.predict(X, groups)
        if groups is None:
            predicted, y = ([*chain.from_iterable(one)] for one in (predicted, y))
        return float((np.asarray(predicted) == np.asarray(y)).mean())

    def _ordered(self, X: Any, groups: Any) -> tuple[Table, Codes, Rows]:
        """The rows as the method sees them, sequence by sequence, and the order in which they were put so."""
        check_is_fitted(self)
        rows, sequence = _rows_of(X, groups)
        if groups is None:
            rows = _without_gaps(rows.reindex(columns=self.feature_names_in_))
        order = np.argsort(sequence, kind="stable")
        with method_at_work():
            table = self.pipeline_.prepared(known_table(self, rows).take(order))
        return table, sequence[order], order


def _rows_of(X: Any, groups: Any) -> tuple[Any, Codes]:
    """All elements as rows of a frame or matrix, and the number of the sequence of each."""
    if groups is not None:
        check_consistent_length(X, groups)
        return X, np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int32)
    if hasattr(X, "iloc") or getattr(X, "ndim", 1) != 1 or not all(isinstance(one, Sequence) for one in X):
        raise ValueError(FORMS)
    import pandas as pd

    elements = [*chain.from_iterable(X)]
    named = all(isinstance(element, Mapping) for element in elements)
    frame = pd.DataFrame(elements if named else {ONE_COLUMN: elements})
    return _without_gaps(frame), np.repeat(np.arange(len(X), dtype=np.int32), [len(sequence) for sequence in X])


def _without_gaps(frame: Any) -> Any:
    """Features that are numbers or yes and no, as numbers; 0 where an element lacks one."""
    numbers = [name for name in frame if frame[name].dropna().map(lambda one: isinstance(one, Real)).all()]
    return frame.assign(**{name: frame[name].astype(float).fillna(0.0) for name in numbers})


def _in_lists(answers: Any, X: Sequence[Any]) -> list[list[Any]]:
    """Answers to all elements as a list for each sequence."""
    ends = np.cumsum([len(sequence) for sequence in X])[:-1]
    return [part.tolist() for part in np.split(answers, ends)]
