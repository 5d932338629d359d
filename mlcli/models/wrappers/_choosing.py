"""What models that choose by inner splits share: the splits, the scores, and the report of the choice."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypedDict, cast

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, DecidesByRule, RowExplainer
from mlcli.core.errors import DataError, MlcliError, MlcliWarning, Problem, UsageError, raise_all
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, learned, models_inside, param
from mlcli.core.pipeline import adjustable_parameters, decision_in_words, explain_row
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import RowsOfTable, SplitInfo
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.inner_validation import Candidate, InnerEvaluation, InnerScore
from mlcli.engines.search_space import text_of
from mlcli.metrics.registry import metric_named
from mlcli.protocols._base import Protocol, all_alike
from mlcli.protocols.forward_chaining import ForwardChaining
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, Regressor
from mlcli.tasks.table import kind_named

InnerProtocol = str | Mapping[str, Any] | None
"""An inner protocol as it is written: an id, or a mapping of `use` and parameters."""


class Trial(TypedDict):
    """A candidate as it was tried, as plain values."""

    what: str
    at: float | None
    """Its value, if it is a single number."""
    score: float
    error: float
    why: str
    """Why it has no score."""
    effort: float


@dataclass(kw_only=True, eq=False)
class ChoosesByInnerSplits(Classifier, Regressor, CountsParameters, DecidesByRule, RowExplainer):
    """A model that is chosen by inner splits of the training rows, then fitted to all of them."""

    inner: str | dict[str, Any] | None = param(
        None, "how training rows are split again: a protocol; none: 5 folds, or forward-chaining if time matters"
    )
    metric: str | None = param(None, "what decides; none: the first metric of the kind of task")

    model_: Model = learned()
    score_: float = learned()
    """The inner score of the model that was chosen: too good, since it was chosen by that."""
    metric_: str = learned()
    inner_: str = learned()
    trials_: tuple[Trial, ...] = learned()
    """Every candidate as it was tried, the best first."""

    @property
    def accepts(self) -> Accepts:
        """Anything: each model stands behind the steps that it needs."""
        inside = [model.accepts for model in models_inside(self)]
        return Accepts(
            nominal=True,
            missing=True,
            weights=all(accepts.weights for accepts in inside),
            unlabelled=all(accepts.unlabelled for accepts in inside),
            sensitive=any(accepts.sensitive for accepts in inside),
        )

    def conflicts(self) -> list[str]:
        """An inner protocol that does not exist, or that cannot be used to choose."""
        try:
            given_protocol(self.inner)
        except MlcliError as error:
            return [f"inner: {error.in_a_line}"]
        return []

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Choose by inner splits, then fit the chosen model to all rows."""
        raise NotImplementedError

    def ordered_rows(self, data: RowsOfTable) -> RowsOfTable:
        """The rows that count, in an order that follows from their content, unless that of the file matters."""
        data = data.counted()
        by_time = data.order is None and isinstance(given_protocol(self.inner), ForwardChaining)
        return data if data.in_sequences or by_time else data.take(order_of_content(data))

    def inner_evaluation(self, data: RowsOfTable, rng: np.random.Generator) -> InnerEvaluation | None:
        """The rows, split again; None if there are too few to choose by."""
        kind = kind_named(data.kind)
        metric = metric_named(self.metric or kind.metrics[0], kind.answers, getattr(data, "classes", ()))
        split_info = data.split_info()
        protocol = inner_protocol(self.inner, data.kind, split_info)
        self.metric_, self.inner_ = metric.name, protocol.id if protocol else ""
        if protocol is None:
            text = f"{len(data)} training rows cannot be split again to choose by: the first choice is taken"
            warnings.warn(text, MlcliWarning, stacklevel=4)
            return None
        what = "the training rows cannot be split again to choose by"
        problems = protocol.problems_with_rows(split_info)
        raise_all(DataError, [Problem(f"{what}: {problem.what}", hint=problem.hint) for problem in problems])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the outer splits have warned of rare classes
            splits = protocol.splits(split_info, rng)
        return InnerEvaluation(data, splits, metric, int(rng.integers(2**62)), protocol.pooled)

    def fit_chosen(
        self, best: InnerScore, trials: Sequence[InnerScore], data: RowsOfTable, rng: np.random.Generator
    ) -> None:
        """Fit the best candidate to all training rows, and store the trials in their order, the best first."""
        others = [trial for trial in trials if trial is not best]
        self.score_ = float(best.score)
        self.trials_ = tuple(_as_plain_values(trial) for trial in (best, *others))
        self.model_ = fitted(best.candidate.model, data, rng)

    def fit_only(self, candidate: Candidate, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Fit the only candidate, or the first if there are too few rows to choose by."""
        self.fit_chosen(InnerScore(candidate), [], data, rng)

    def predict_proba(self, table: Table) -> Array:
        """The probabilities of the chosen model."""
        return outputs(self.model_, table, CLASSIFICATION)

    def predict_values(self, table: Table) -> Array:
        """The values of the chosen model."""
        return outputs(self.model_, table, REGRESSION)[:, 0]

    def decide(self, probabilities: Array) -> Codes:
        """As the chosen model decides, by its threshold if it has one."""
        return np.asarray(cast(Classifier, self.model_.final).decide(probabilities), np.int32)

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """As the chosen model decides."""
        return cast(Classifier, self.model_.final).decide_among(probabilities, class_totals)

    def decision_in_words(self) -> str:
        """How to read the predictions of the chosen model."""
        return decision_in_words(self.model_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How the chosen model came to its prediction."""
        return explain_row(self.model_, table)

    def adjustable_parameters(self, table: Table) -> float | None:
        """Those of the chosen model."""
        return adjustable_parameters(self.model_, table)

    def check_learned(self) -> None:
        """A model that predicts the same classes."""
        if not isinstance(self.model_, Model) or not self.trials_:
            raise ValueError("there is no model that was chosen")
        if getattr(self.model_.final, "classes_", None) != self.classes_:
            raise ValueError("the model that was chosen does not fit")

    def choice(self) -> Sequence[tuple[str, findings.Entry, str]]:
        """What was chosen: a name, its value, and the end of the range that it is at, if it is at one."""
        return ()

    def explain(self) -> findings.Explanation:
        """What was chosen and why, then what the chosen model says of itself."""
        best, choice = self.trials_[0], self.choice()
        chosen = findings.Choices(
            "Chosen by inner splits",
            names=tuple(name for name, _, _ in choice),
            values=tuple(value for _, value, _ in choice),
            edges=tuple(edge for _, _, edge in choice),
            metric=self.metric_,
            score=best["score"],
            error=None if isnan(best["error"]) else best["error"],
            note=f"By {self.inner_ or 'nothing'} of the training rows, among {len(self.trials_)} candidates. The "
            "best of many scores is optimistic; the test rows had no part in the choice.",
        )
        if len(self.trials_) < 2:
            return chosen, *self.model_.explain()
        return chosen, self._candidate_table(), *self.model_.explain()

    def _candidate_table(self) -> findings.Table:
        scored = [trial for trial in self.trials_ if not isnan(trial["score"])]
        header: tuple[str, ...] = ("candidate", f"inner {self.metric_}", "standard error")
        rows: list[tuple[findings.Entry, ...]] = [
            (trial["what"], trial["score"], None if isnan(trial["error"]) else trial["error"])
            for trial in scored[:20]
        ]
        if any(trial["effort"] < 1 for trial in self.trials_):  # halving gives most candidates fewer rows
            header = (*header, "share of all")
            rows = [(*row, trial["effort"]) for row, trial in zip(rows, scored, strict=False)]
        note = f"{len(scored) - 20} more left out. " if len(scored) > 20 else ""
        if failed := [trial for trial in self.trials_ if trial["why"]]:
            first = failed[0]
            note += f"{len(failed)} could not be scored, the first ({first['what']}): {first['why']}"
        return findings.Table("Candidates", header, tuple(rows), note=note, code="candidates")


def by_score(trials: Sequence[InnerScore], evaluation: InnerEvaluation) -> list[InnerScore]:
    """The best first; those that were scored with all rows or stages before others."""
    return sorted(trials, key=lambda trial: (-trial.effort, trial.badness(evaluation.metric)))


def _as_plain_values(trial: InnerScore) -> Trial:
    values = list(trial.candidate.values.values())
    number = len(values) == 1 and isinstance(values[0], int | float) and not isinstance(values[0], bool)
    return {
        "what": f"{trial.candidate.name} {text_of(trial.candidate.values)}".strip() or "as it is",
        "at": float(values[0]) if number else None,
        "score": float(trial.score),
        "error": float(trial.error),
        "why": trial.why,
        "effort": float(trial.effort),
    }


def given_protocol(written: InnerProtocol) -> Protocol | None:
    """The protocol that is written; None if nothing is."""
    if written is None:
        return None
    params = {"use": written} if isinstance(written, str) else dict(written)
    use = params.pop("use", None)
    if not isinstance(use, str):
        raise UsageError("inner names a protocol, such as {use: k-fold, folds: 5}")
    protocol: Protocol = build(PROTOCOLS.load(use), params)
    if protocol.asks_only_learned_rows():
        raise UsageError(f"{use} asks about the rows that were learned from: nothing can be chosen so")
    return protocol


def inner_protocol(written: InnerProtocol, task: str, rows: SplitInfo) -> Protocol | None:
    """The protocol for some training rows: as written, else 5 folds, in order of time if that is known.

    None if there are too few rows, or groups, to choose by.
    """
    protocol = given_protocol(written)
    if protocol is None:
        in_order = rows.order is not None and not np.isnan(rows.order).any()
        if in_order and (blocks := _forward_chaining(rows)):
            return blocks
        units = len(all_alike(rows))
        use = "k-fold" if rows.strata is None else "stratified-k-fold"
        return build(PROTOCOLS.load(use), {"folds": min(5, units)}) if units > 1 else None
    if isinstance(protocol, ForwardChaining) and (isinstance(written, str) or "folds" not in (written or {})):
        return _forward_chaining(rows, gap=protocol.gap, window=protocol.window)
    kind = kind_named(task)
    if protocol.id not in kind.protocols and kind.name not in protocol.kinds:
        hint = did_you_mean(protocol.id, kind.protocols, f"protocols for {kind.name}")
        raise UsageError(f"{protocol.id} cannot split rows of {kind.name}", hint=hint)
    return protocol


def _forward_chaining(rows: SplitInfo, **params: Any) -> Protocol | None:
    """As many blocks of time as there can be, up to 5; None if rows are too few for two."""
    protocols = (ForwardChaining(folds=folds, **params) for folds in range(5, 0, -1))
    return next((protocol for protocol in protocols if not protocol.problems_with_rows(rows)), None)
