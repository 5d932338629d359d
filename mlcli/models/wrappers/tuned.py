"""Tuned: parameters of a model are chosen by inner splits of the training rows, then it is fitted to all of them.

Formula:
    Let θ be the values of a candidate and M(θ; v) the metric of inner split v, of a model with θ, and its steps,
    that has learned from the training rows of v. Chosen is the θ with the best mean m(θ) = Σ_v M(θ; v) / V
    (``rule: best``), or the simplest one with m within one standard error of the best, s = sd_v(M) / √V. The model
    with that θ learns from all training rows.

Assumes:
    Test rows that have no part in it: so it is scored in outer splits, each of which chooses for itself.

Cost:
    Candidates × inner splits fits, and one more. What candidates have in common is done once: steps, the path of
    lasso, the kernel matrix of svm, the neighbours of all k, and the rounds, trees or epochs of one fit.

Choices:
    ``search`` tries a ``grid`` (of ranges as many points as ``trials`` allows), ``random`` draws, or ``halving``:
    the better third of the candidates goes on to three times the rows (or ``resource: stages``). Steps are fitted
    in every inner split anew. Groups stay whole, and where a column says when rows were, later rows test earlier
    ones. Where a split has no score, all inner predictions are scored together. Of equal candidates the
    first is chosen. Which end of a range is simpler is declared; of a list it is the first. Whole groups of a
    ranking, and whole sequences, are split; densities are scored by the likelihood of rows not learned from.
    Detectors, clusterings, projections and rules are not tuned, since nothing that a fit may see says which
    values are better: values of theirs are compared by ``mlcli curve validation``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ExplainsTask, Generative, stage_name
from mlcli.core.configuration import with_steps
from mlcli.core.errors import UsageError
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.pipeline import fit_steps, sample_rows
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.inner_validation import Candidate, InnerScore
from mlcli.engines.search_space import SearchSpace, Values, space_of, value_text, with_values
from mlcli.models.wrappers._choosing import ChoosesByInnerSplits, by_score
from mlcli.models.wrappers._search import RESOURCES, RULES, VALUES, halved
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.ranking import Ranker
from mlcli.tasks.recommendation import Recommender
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger
from mlcli.tasks.supervised import Classifier, Regressor


def as_chosen(name: str) -> Any:
    """A method that answers as that of the chosen model, which sees tables behind its steps."""

    def answer(self: Tuned, *arguments: object) -> object:
        seen = (self.model_.prepared(part) if isinstance(part, Table) else part for part in arguments)
        return getattr(self.model_.final, name)(*seen)

    return answer


@register("tuned", reference="Stone 1974; Bergstra & Bengio 2012 (random); Jamieson & Talwalkar 2016 (halving)")
class Tuned(
    ChoosesByInnerSplits, Classifier, Regressor, Ranker, Tagger, Recommender, DensityEstimator, Generative
):
    """A model with the parameters that inner splits choose."""

    base: Model = model_param(
        "knn",
        "the model that is tuned",
        of=(Classifier, Regressor, Ranker, Tagger, Recommender, DensityEstimator),
    )
    ranges: dict[str, Any] | None = param(
        None, "by path the values to try, or {from, to, scale, points}; none: what parameters of the model declare"
    )
    search: str = param("grid", "which candidates are tried", choices=VALUES)
    trials: int | None = param(None, "how many candidates at most; none: 20, or all that a list names", ge=1)
    resource: str = param(
        "rows", "what halving is sparing on", choices=RESOURCES, matters_when={"search": "halving"}
    )
    rule: str = param("best", "which candidate is chosen", choices=RULES)

    values_: dict[str, Any] = learned()
    edges_: dict[str, str] = learned()
    """The values that lie at the end of what was tried."""
    seen_user_: Rows = learned()
    seen_item_: Rows = learned()
    user_ratings_: Array = learned()
    item_ratings_: Array = learned()
    """Who has rated what, of the ratings that the chosen model knows."""

    def conflicts(self) -> list[str]:
        """Paths that lead nowhere, values that are illegal, stages where there are none."""
        result = super().conflicts()
        try:
            space_of(self.base, self.ranges)
        except UsageError as error:
            for problem in error.problems:
                result.append(problem.what + (f" ({problem.hint})" if problem.hint else ""))
        if self.search == "halving" and self.resource == "stages" and not stage_name(self.base.final):
            result.append(f"{self.base.final.id} has no stages for halving to be sparing on: resource: rows")
        return result

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Score every candidate in inner splits, then fit the one that is chosen to all rows."""
        data = self.ordered_rows(data)
        splits_rng, search_rng, fit_rng = rng.spawn(3)
        space, evaluation = space_of(self.base, self.ranges), self.inner_evaluation(data, splits_rng)
        if evaluation is None or not space.dimensions:
            self.values_, self.edges_ = {}, {}
            self.fit_only(self._candidate({}), data, fit_rng)
            return
        space = self._settled(space, data)
        candidates, impossible = self._candidates(space, search_rng)
        if self.search == "halving":
            trials = halved(candidates, evaluation, self.resource, search_rng)
        else:
            trials = evaluation.trials(candidates)
        trials += impossible
        best = RULES[self.rule](trials, evaluation.metric, space)
        values = best.candidate.values
        self.values_ = {path: tuple(value) if isinstance(value, list) else value for path, value in values.items()}
        # A value is at an edge if all candidates of the best score agree that it is.
        equals = [trial.candidate.values for trial in trials if trial.score == best.score]
        self.edges_ = {}
        for dimension in space.dimensions:
            edges = {dimension.edge(values[dimension.path]) for values in equals}
            if len(edges) == 1 and "" not in edges:
                self.edges_[dimension.path] = edges.pop()
        self.fit_chosen(best, by_score(trials, evaluation), data, fit_rng)

    def candidates_for(self, data: RowsOfTable, rng: np.random.Generator) -> list[Candidate]:
        """All candidates, to be compared with other models in the same inner splits."""
        self.columns_ = data.table.columns
        space = space_of(self.base, self.ranges)
        if not space.dimensions:
            return [self._candidate({})]
        return self._candidates(self._settled(space, data), rng)[0]

    def _candidate(self, values: Values) -> Candidate:
        model = with_values(self.base, values) if values else self.base
        return Candidate(values, with_steps(model, self.columns_))

    def _candidates(
        self, space: SearchSpace, rng: np.random.Generator
    ) -> tuple[list[Candidate], list[InnerScore]]:
        """The candidates, and those whose values do not go together."""
        candidates, impossible = list[Candidate](), list[InnerScore]()
        for values in VALUES[self.search](space, self.trials, rng, stage_name(self.base.final)):
            try:
                candidates.append(self._candidate(values))
            except UsageError as error:
                impossible.append(InnerScore(Candidate(values, self.base), why=str(error.problems[0].what)))
        return candidates, impossible

    def _settled(self, space: SearchSpace, data: RowsOfTable) -> SearchSpace:
        """The space with the ranges that depend on the rows, which a model sees behind its steps."""
        model = with_steps(self.base, self.columns_).fresh()
        by_rows = any(dimension.by_rows for dimension in space.dimensions)
        prepared = fit_steps(model, data, np.random.default_rng(0)) if by_rows else data
        return space.settled(model, prepared)

    def judged_tags(self, data: TaggedRows) -> tuple[Codes, Array | None]:
        """The tags by which the chosen model is scored."""
        return cast(Tagger, self.model_.final).judged_tags(data.transformed(self.model_.prepared))

    score_rows, tag, tag_shares = as_chosen("score_rows"), as_chosen("tag"), as_chosen("tag_shares")
    rate, cold, rated_before = as_chosen("rate"), as_chosen("cold"), as_chosen("rated_before")
    likes, top_items = as_chosen("likes"), as_chosen("top_items")
    log_density, free_parameters = as_chosen("log_density_in_file"), as_chosen("free_parameters")
    noise_cluster, responsibilities = as_chosen("noise_cluster"), as_chosen("responsibilities")
    cluster_count, cluster_names = as_chosen("cluster_count"), as_chosen("cluster_names")
    cluster_of = as_chosen("cluster_of")

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Rows that the chosen model draws."""
        return sample_rows(self.model_, n, rng)

    def choice(self) -> Sequence[tuple[str, findings.Entry, str]]:
        """Each path with its value, and the end of the range that it is at."""
        return [
            (path, value if isinstance(value, int | float | str) else value_text(value), self.edges_.get(path, ""))
            for path, value in self.values_.items()
        ]

    def explain_task(self) -> findings.Explanation:
        """What the task reports of the chosen model; one behind steps has done so already."""
        return self.model_.explain_task() if isinstance(self.model_, ExplainsTask) else ()

    def explain(self) -> findings.Explanation:
        """What was chosen, the candidates, and the curve if one number was tuned; then the model."""
        choice, *others = super().explain()
        points = sorted(
            (trial["at"], trial["score"]) for trial in self.trials_ if trial["at"] is not None and not trial["why"]
        )
        if len(points) < 3 or len(self.values_) != 1:
            return choice, *others
        values, scores = zip(*points, strict=True)
        (name,) = self.values_
        series = ((f"inner {self.metric_}", scores),)
        return choice, findings.Curve(f"Inner {self.metric_} by {name}", name, values, series), *others
