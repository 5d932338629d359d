"""Random subspaces: copies of one model, each fitted to all rows in columns drawn at random, answer by their mean.

Formula:
    For b = 1..B draw a share of the columns without replacement and fit the base to all rows in these; the
    answer is the mean of the B values, of classes the one with the largest mean probability.

Assumes:
    Columns that repeat each other in part, so that a model does well without some of them; many rather than
    few.

Cost:
    ``bags`` fits of the base, each in ``column_share`` of the columns.

Choices:
    It is bagging whose bags hold all rows once; rows and columns can be drawn together by giving ``row_share``
    or ``replacement`` as well. No row is out of the bag then, so that there is no out-of-bag error.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.models.ensembles.bagging import Bagging
from mlcli.tasks.supervised import Classifier, Regressor


@register("random-subspaces", reference="Ho 1998, The random subspace method for constructing decision forests")
class RandomSubspaces(Bagging, Classifier, Regressor):
    """Bagging of columns."""

    column_share: float = param(
        0.5, "how many columns a model sees, as a share of all", gt=0, le=1, tune=(0.2, 0.9)
    )
    replacement: bool = param(False, "whether a row can be drawn again for the same model")
