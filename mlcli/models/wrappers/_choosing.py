"""What choosing by inner splits has in common: how rows are split again, what judges, and what is said of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, DecidesByRule, RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import DataError, MlcliError, MlcliWarning, Problem, UsageError, raise_all
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, learned, models_inside, param
from mlcli.core.pipeline import adjustable_parameters, decision_in_words, explain_row
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.inner_validation import Candidate, InnerEvaluation, InnerScore
from mlcli.engines.tuning.space import text_of
from mlcli.metrics.registry import metric_named
from mlcli.protocols._base import Protocol, all_alike
from mlcli.protocols.forward_chaining import ForwardChaining
from mlcli.tasks.classification import CLASSIFICATION, Classifier
from mlcli.tasks.regression import REGRESSION, Regressor
from mlcli.tasks.supervised import SupervisedRows
from mlcli.tasks.table import kind_named

SHOWN = 20


@dataclass(kw_only=True, eq=False)
class ChoosesByInnerSplits(Classifier, Regressor, CountsParameters, DecidesByRule, RowExplainer):
    """A model that is chosen by inner splits of the training rows, then fitted to all of them."""

    inner: str | dict[str, Any] | None = param(
        None, "how training rows are split again: a protocol; none: 5 folds, or forward-chaining if time matters"
    )
    metric: str | None = param(None, "what decides; none: the first metric of the kind of task")

    model_: Model = learned()
    score_: float = learned()
    """What the inner splits say of the model that was chosen: too good, since it was chosen by that."""
    metric_: str = learned()
    inner_: str = learned()
    trials_: tuple[dict[str, Any], ...] = learned()
    """Every candidate as it was tried, the best first."""

    @property
    def accepts(self) -> Accepts:
        """Anything: each model stands behind the steps that it needs."""
        inside = [model.accepts for model in models_inside(self)]
        unlabelled = all(one.unlabelled for one in inside)
        return Accepts(
            nominal=True,
            missing=True,
            weights=all(one.weights for one in inside),
            unlabelled=unlabelled,
            sensitive=any(one.sensitive for one in inside),
        )

    def conflicts(self) -> list[str]:
        """An inner protocol that there is none of, or that chooses nothing."""
        wrong = problem_with(self.inner)
        return [f"inner: {wrong}"] if wrong else []

    def rows_of(self, data: SupervisedRows) -> SupervisedRows:
        """The rows that count, in an order that follows from content unless that of the file is their own."""
        data = data.counted()
        if data.in_sequences:
            return data
        if data.order is None and isinstance(given_protocol(self.inner), ForwardChaining):
            return data
        return data.take(order_of_content(data))

    def examination(self, data: SupervisedRows, rng: np.random.Generator) -> InnerEvaluation | None:
        """The rows, split again; None where there are too few to choose by."""
        known = kind_named(data.kind)
        metric = metric_named(self.metric or known.metrics[0], known.answers, getattr(data, "classes", ()))
        protocol = inner_protocol(self.inner, data)
        self.metric_, self.inner_ = metric.name, protocol.id if protocol else ""
        if protocol is None:
            text = f"{len(data)} training rows cannot be split again to choose by: the first choice is taken"
            warnings.warn(text, MlcliWarning, stacklevel=4)
            return None
        raise_all(DataError, refuse_too_few(protocol, data.split_info()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a rare class is said of the outer splits already
            splits = protocol.splits(data.split_info(), rng)
        return InnerEvaluation(data, splits, metric, int(rng.integers(2**62)), protocol.pooled)

    def keep(
        self, best: InnerScore, trials: Sequence[InnerScore], data: SupervisedRows, rng: np.random.Generator
    ) -> None:
        """Fit what was chosen to all training rows, and note how it came about."""
        self.score_ = float(best.score)
        others = [trial for trial in trials if trial is not best]
        self.trials_ = tuple(described(other) for other in (best, *others))
        self.model_ = fitted(best.candidate.model, data, rng)

    def keep_only(self, candidate: Candidate, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Fit the only candidate, or the first where there are too few rows to choose by."""
        self.keep(InnerScore(candidate), [], data, rng)

    def predict_proba(self, table: Table) -> Array:
        """What the chosen model says."""
        return outputs(self.model_, table, CLASSIFICATION)

    def predict_values(self, table: Table) -> Array:
        """What the chosen model says."""
        return outputs(self.model_, table, REGRESSION)[:, 0]

    def decision_in_words(self) -> str:
        """How the answers of the chosen model are to be read."""
        return decision_in_words(self.model_)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How the chosen model came to its answer."""
        return explain_row(self.model_, table)

    def decide(self, probabilities: Array) -> Codes:
        """As the chosen model decides, by its threshold where it has one."""
        final: Any = self.model_.final
        return np.asarray(final.decide(probabilities), np.int32)

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """As the chosen model decides."""
        final: Any = self.model_.final
        codes: Codes = final.decide_among(probabilities, class_totals)
        return codes

    def adjustable_parameters(self, table: Table) -> float | None:
        """Those of the chosen model."""
        return adjustable_parameters(self.model_, table)

    def check_learned(self) -> None:
        """A model that answers the classes of the whole."""
        if not isinstance(self.model_, Model) or not self.trials_:
            raise ValueError("there is no model that was chosen")
        if getattr(self.model_.final, "classes_", None) != self.classes_:
            raise ValueError("the model that was chosen does not fit")

    def choice(self) -> Sequence[tuple[str, findings.Entry, str]]:
        """What was chosen: a name, its value, and the end of the range that it is at, if it is at one."""
        return ()

    def explain(self) -> findings.Explanation:
        """What was chosen and why, then what the chosen model says of itself."""
        best = self.trials_[0]
        note = (
            f"By {self.inner_ or 'nothing'} of the training rows, among {len(self.trials_)} candidates. The best "
            "of many scores is optimistic; the rows that judge the model had no part in the choice."
        )
        names, values, edges = zip(*self.choice(), strict=True) if self.choice() else ((), (), ())
        error = best["error"] if best["error"] == best["error"] else None
        title, score = "Chosen by inner splits", best["score"]
        chosen = findings.Choices(title, names, values, edges, self.metric_, score, error, note=note)
        return chosen, *self._candidates(), *self.model_.explain()

    def _candidates(self) -> tuple[findings.Table, ...]:
        if len(self.trials_) < 2:
            return ()
        known = [trial for trial in self.trials_ if trial["score"] == trial["score"]]
        sparing = any(trial["effort"] < 1 for trial in self.trials_)
        names = ("what", "score", "error", *(("effort",) if sparing else ()))
        rows = tuple(
            tuple(None if one[name] != one[name] else one[name] for name in names) for one in known[:SHOWN]
        )
        failed = [trial for trial in self.trials_ if trial["why"]]
        note = (
            f"{len(failed)} could not be judged, the first ({failed[0]['what']}): {failed[0]['why']}"
            if failed
            else ""
        )
        more = f"{len(known) - SHOWN} more left out. " if len(known) > SHOWN else ""
        header = ("candidate", f"inner {self.metric_}", "standard error", "share of all")[: len(names)]
        return (findings.Table("Candidates", header, rows, note=more + note, code="candidates"),)


def described(trial: InnerScore) -> dict[str, Any]:
    """A trial as plain values."""
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


def by_score(trials: Sequence[InnerScore], examination: InnerEvaluation) -> list[InnerScore]:
    """The best first, those with the whole effort before others."""
    return sorted(trials, key=lambda trial: (-trial.effort, trial.badness(examination.metric)))


FOLDS = 5
Written = str | Mapping[str, Any] | None


def problem_with(written: Written) -> str:
    """What is wrong with an inner protocol as it is written, or nothing."""
    try:
        given_protocol(written)
    except MlcliError as error:
        return error.in_a_line
    return ""


def given_protocol(written: Written) -> Protocol | None:
    """The protocol that is written: an id, or a mapping of `use` and parameters; none where nothing is."""
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


def inner_protocol(written: Written, data: Any) -> Protocol | None:
    """The protocol for some training rows: as written, else 5 folds, in order of time where it is known.

    None where there are too few rows, or groups, to choose by.
    """
    protocol, strata = given_protocol(written), data.split_info()
    if protocol is None:
        return _usual(strata)
    if isinstance(protocol, ForwardChaining) and (isinstance(written, str) or "folds" not in (written or {})):
        return _forward({"gap": protocol.gap, "window": protocol.window}, strata)
    kind = kind_named(data.kind)
    if protocol.id not in kind.protocols and kind.name not in protocol.kinds:
        hint = did_you_mean(protocol.id, kind.protocols, f"protocols for {kind.name}")
        raise UsageError(f"{protocol.id} cannot split rows of {kind.name}", hint=hint)
    return protocol


def _usual(strata: SplitInfo) -> Protocol | None:
    if strata.order is not None and not np.isnan(strata.order).any():
        protocol = _forward({}, strata)
        if protocol is not None:
            return protocol
    units = len(all_alike(strata))
    use = "k-fold" if strata.strata is None else "stratified-k-fold"
    return build(PROTOCOLS.load(use), {"folds": min(FOLDS, units)}) if units > 1 else None


def _forward(params: Mapping[str, Any], strata: SplitInfo) -> Protocol | None:
    """As many blocks of time as there can be, up to the usual number; none where rows are too few for two."""
    for folds in range(FOLDS, 0, -1):
        protocol = ForwardChaining(folds=folds, **params)
        if not protocol.problems_with_rows(strata):
            return protocol
    return None


def refuse_too_few(protocol: Protocol, strata: SplitInfo) -> list[Problem]:
    """What keeps training rows from being split once more, in words that say so."""
    what = "the training rows cannot be split again to choose by"
    return [
        Problem(f"{what}: {problem.what}", hint=problem.hint) for problem in protocol.problems_with_rows(strata)
    ]
