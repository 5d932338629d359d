"""Naive Bayes: multiplies the prior of each class by the likelihood of every column as if they were independent.

Formula:
    By Bayes' rule the posterior P(k | x) ∝ P(k) Π_j P(x_j | k), summed as logarithms. The prior P(k) is the share
    of the class in training. For nominal, ordinal and boolean columns with V levels and N_k rows of class k, of
    which n_vk have level v, P(v | k) is

        (n_vk + α) / (N_k + Vα)    `smoothing: alpha`; α = 1 is the Laplace estimator
        n_vk / N_k                 `smoothing: none`, maximum likelihood (MLE)
        n_vk / N_k, or ε for 0     `smoothing: epsilon`
        (n_vk + m p_v) / (N_k + m) `smoothing: m-estimate`; p_v = 1/V, or as `level_priors` say

    For numeric columns it is the normal density with the mean and the variance of the column in class k, or what
    `distributions` names: `bernoulli`, θ_k where x > 0 and 1 − θ_k elsewhere; `binomial`, θ_k^x (1 − θ_k)^(n−x)
    for n `trials`; `count`, θ_k^x, where the θ_k of all such columns add up to 1 (multinomial), so that one alone
    says nothing. A θ_k is smoothed as a level is: one of two, or one of as many as there are such columns.

Assumes:
    Columns independent of each other within each class, numbers normally distributed there unless said otherwise.

Cost:
    One pass over the cells to fit; rows × columns × classes to predict.

Choices:
    V counts the declared levels, so that a fold which lacks a level changes nothing. Priors are not smoothed
    unless `smooth_prior`. The notes print a sum over all classes in the denominator of Laplace's estimate; that
    is not a distribution. Epsilon replaces 0 without renormalising, and must be below 1/N.

    A column that does not vary within some class has no normal density there. With `zero_variance: floor` its
    numbers count as measured to the mean gap between its distinct training values: no deviation is below a sixth
    of that gap, and for every class the mass of the normal within half a gap of the number replaces the density,
    which could outweigh all other columns. `add` adds 1e-9 times the largest variance of any column to every
    variance, as scikit-learn does (the notes add a share of a variance to a standard deviation, whose units
    differ); `drop` leaves such columns out. Variances divide by N unless `ddof` is 1.

    Missing cells are left out of the product. If a class has no cell of a column, its numbers there have the
    distribution of all rows, and so do levels that are not smoothed. A class that is absent in training has
    prior 0, smoothed or not, unless `priors` are given. A row to which every class gives probability 0, as can
    happen without smoothing, gets the priors, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import (
    CountsParameters,
    Generative,
    GivesEvidence,
    LeaveOneOut,
    LeaveOneOutTable,
    RowExplainer,
)
from mlcli.core.errors import DataError, FitError, MlcliWarning
from mlcli.core.model import Step
from mlcli.core.moments import from_origin, spreads
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import MISSING_CODE, Array, Flags, Table, blocks_of, cell_text, is_missing
from mlcli.engines.posteriors import (
    certain_posterior,
    log_sum,
    logarithm,
    posterior,
    prior_conflicts,
    prior_table,
    priors_of,
    refuse_misfitting_priors,
)
from mlcli.models.bayes._likelihoods import (
    DISTRIBUTIONS,
    EventColumns,
    level_counts,
    log_mass,
    log_normal_density,
    own_log_density,
    refuse_misfitting_distributions,
    refuse_misfitting_level_priors,
    smoothed_shares,
    with_floors,
    wrong_level_priors,
)
from mlcli.tasks.supervised import Classifier, LabelledRows


@register(
    "naive-bayes", reference="Witten, Frank & Hall, Data Mining, section 4.2; John & Langley 1995", revision=2
)
class NaiveBayes(Classifier, CountsParameters, Generative, GivesEvidence, LeaveOneOut, RowExplainer):
    """Categorical and normal columns together."""

    smoothing: str = param(
        "alpha",
        "how levels are treated that a class never had",
        choices=("alpha", "none", "epsilon", "m-estimate"),
    )
    alpha: float = param(
        1.0,
        "rows added to each level (smoothing: alpha)",
        gt=0,
        tune=log_range(0.01, 10, simpler="high"),
        matters_when={"smoothing": "alpha"},
    )
    epsilon: float = param(
        1e-9,
        "probability instead of 0 (smoothing: epsilon)",
        gt=0,
        lt=1,
        matters_when={"smoothing": "epsilon"},
    )
    m: float = param(
        1.0,
        "rows added to each class (smoothing: m-estimate)",
        gt=0,
        tune=log_range(0.1, 10, simpler="high"),
        matters_when={"smoothing": "m-estimate"},
    )
    level_priors: dict[str, dict[str, float]] | None = param(
        None,
        "prior probabilities of levels by column: {outlook: {sunny: 0.5, rainy: 0.5}}; 1/V if none",
        if_given=True,
        matters_when={"smoothing": "m-estimate"},
    )
    smooth_prior: bool = param(
        False,
        "whether class shares are smoothed in the same way",
        matters_when={"smoothing": ("alpha", "m-estimate")},
    )
    priors: tuple[float, ...] | None = param(
        None, "probabilities of the classes, in their order; as counted if none", ge=0, le=1
    )
    zero_variance: str = param(
        "floor", "how numbers are treated that do not vary in a class", choices=("floor", "add", "drop")
    )
    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)
    distributions: dict[str, str] | None = param(
        None, "columns or kinds with other distributions: {clicks: count, numeric: bernoulli}", if_given=True
    )
    trials: int | None = param(
        None, "number of trials of binomial columns; the largest number of each if none", ge=1, if_given=True
    )

    priors_: Array = learned("classes")
    likelihoods_: tuple[Array, ...] = learned()
    means_: Array = learned("classes", "measured")
    variances_: Array = learned("classes", "measured")
    kept_: Flags = learned("measured")
    """The numeric columns whose normal density counts."""
    gaps_: Array = learned("measured")
    """The mean gap of columns whose mass within a gap counts instead; 0 for others."""
    events_: Array = learned(2, "events", "classes")
    """The probability that an event does and does not happen (2 × columns × classes)."""
    trials_: Array = learned("events")

    accepts = Accepts(nominal=True, missing=True, weights=True, large=True)

    def conflicts(self) -> list[str]:
        """Given priors add up to 1 and are not smoothed; distributions exist; trials are of a binomial column."""
        allowed, chosen = ", ".join(DISTRIBUTIONS), self.distributions or {}
        result = [
            f"distributions: {name} is one of {allowed}; was given {given!r}"
            for name, given in chosen.items()
            if given not in DISTRIBUTIONS
        ]
        result += [*prior_conflicts(self.priors), *wrong_level_priors(self.level_priors or {})]
        if self.priors is not None and self.smooth_prior:
            result.append("priors that are given are not smoothed: leave out smooth_prior")
        if self.trials is not None and "binomial" not in chosen.values():
            result.append("trials are of binomial columns: name one in distributions, or leave them out")
        return result

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Count classes, events and levels, and find the mean and variance of numbers in each class."""
        self._refuse_misfits(data)
        self.priors_ = self._priors(data.class_totals)
        events = EventColumns.of(data.table.columns, self.distributions or {})
        numbers, others = events.split(data.table)
        by_class = data.weights[:, None] * (data.y[:, None] == np.arange(len(data.classes)))
        self.trials_, self.events_ = events.learn(numbers, by_class, self.trials, self._smoothed)
        data = data.with_table(others)
        self.likelihoods_ = tuple(
            self._smoothed(level_counts(data, column, codes), column)
            for column, codes in zip(others.code_columns, others.codes.T, strict=True)
        )
        # A class without cells has the mean and variance of all rows.
        numbers, origin = from_origin(others.numbers)
        moments = spreads(numbers, data.weights, data.y, len(data.classes))
        own, overall = moments.moments(self.ddof), moments.together().moments(0)
        self.means_ = np.where(own.weight > 0, own.mean, overall.mean) + origin
        variances = np.where(own.weight > 0, own.variance, overall.variance)
        if self.zero_variance == "add":
            variances += 1e-9 * overall.variance.max(axis=-1, initial=0.0)
        self.kept_ = np.asarray((variances > 0).all(axis=0))
        # A column that never varies says nothing, whatever is done about others.
        floored = ~self.kept_ & (overall.variance > 0) & (self.zero_variance == "floor")
        self.variances_, self.gaps_ = with_floors(data, variances, np.flatnonzero(floored))

    def _refuse_misfits(self, data: LabelledRows) -> None:
        """Refuse parameters that do not fit the classes, columns or weights."""
        refuse_misfitting_priors(self.id, self.priors, data)
        refuse_misfitting_distributions(self.distributions or {}, data.table.columns)
        refuse_misfitting_level_priors(self.level_priors or {}, data.table.columns)
        total = data.weights.sum()
        if self.smoothing == "epsilon" and self.epsilon * total >= 1:
            message = f"naive-bayes: epsilon {self.epsilon:g} is not below 1/N = {1 / total:.3g}"
            hint = "a level that was never seen would count as much as one seen once; lower epsilon"
            raise FitError(message, hint=hint)

    def _smoothed(self, counts: Array, column: Column | None = None) -> Array:
        """P(level | class) from counts (levels × ... × classes)."""
        if not len(counts):
            return counts
        amount = {"alpha": self.alpha, "none": 0.0, "epsilon": self.epsilon, "m-estimate": self.m}[self.smoothing]
        prior = None
        if column is not None and self.level_priors and column.name in self.level_priors:
            prior = np.array([self.level_priors[column.name][level] for level in column.levels])
        return smoothed_shares(counts, self.smoothing, amount, prior)

    def _priors(self, totals: Array) -> Array:
        """The priors of classes (last axis); a class without rows has none, smoothed or not."""
        if not self.smooth_prior:
            return priors_of(totals, self.priors)
        priors = np.zeros(totals.shape)
        for index in np.ndindex(totals.shape[:-1]):
            present = totals[index] > 0
            priors[index][present] = self._smoothed(totals[index][present, None])[:, 0]
        return priors

    def leave_one_out(self, rows: LabelledRows, steps: Sequence[Step]) -> Array | None:
        """The posteriors of each row: without it only its own class has other counts, means and variances."""
        self._refuse_misfits(rows)
        view = LeaveOneOutTable.behind(rows.table, steps)
        if view is None or self.distributions or self.level_priors or self.zero_variance == "add":
            return None
        rows, model = rows.with_table(view.table), self.fresh()
        model.columns_ = view.table.columns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a column that does not vary in a class is left to fits, which warn
            model.fit(rows, np.random.default_rng(0))
        varies = np.ptp(rows.table.numbers, axis=0) > 0
        if (model.gaps_ > 0).any() or (varies & ~model.kept_).any():
            return None
        index, y = np.arange(len(rows)), rows.y
        own, certain = own_log_density(rows, model.means_, model.variances_, model.kept_, self.ddof)
        for column, codes in zip(rows.table.code_columns, rows.table.codes.T, strict=True):
            counts = level_counts(rows, column, codes)[:, y]
            counts[codes, index] -= 1
            own += logarithm(self._smoothed(counts, column)[codes, index])
        likelihood = model.log_joint(rows.table) - logarithm(model.priors_)
        likelihood[index, y] = own
        joint = likelihood + logarithm(self._priors(rows.class_totals - rows.outputs))
        certain &= rows.class_totals[y] > 1
        # A sum of logarithms has a relative error of about 1e-13.
        return certain_posterior(joint, np.where(certain, 1e-13 * np.abs(joint.max(axis=1)), np.inf))

    def predict_proba(self, table: Table) -> Array:
        """The posterior of each class."""
        log_joint = self.log_joint(table)
        impossible = np.isneginf(log_joint).all(axis=1)
        if impossible.any():
            log_joint[impossible] = logarithm(self.priors_)
            count = int(impossible.sum())
            message = f"no class is possible for {count} of {len(table)} rows; they answer the priors"
            warnings.warn(f"{self.id}: {message}", MlcliWarning, stacklevel=2)
        return posterior(log_joint)

    def log_joint(self, table: Table) -> Array:
        """The logarithm of P(k) Π_j P(x_j | k) for each row and class."""
        result = np.tile(logarithm(self.priors_), (len(table), 1))
        events = EventColumns.of(table.columns, self.distributions or {})
        numbers, table = events.split(table)
        events.refuse_illegal(numbers, self.trials)
        result += events.log_likelihood(numbers, self.trials_, self.events_)
        for rows in blocks_of(len(table), table.numbers.shape[1], 2**14):  # blocks that fit a cache
            result[rows] += log_normal_density(table.numbers[rows], self.means_, self.variances_, self.kept_)
        for j in np.flatnonzero(self.gaps_).tolist():
            result += log_mass(table.numbers[:, j], self.means_[:, j], self.variances_[:, j], self.gaps_[j])
        for shares, codes in zip(self.likelihoods_, table.codes.T, strict=True):
            logs = np.vstack([logarithm(shares), np.zeros(shares.shape[1])])  # -1, an empty cell, adds nothing
            result += logs[codes]
        return result

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of Σ_k P(k) Π_j P(x_j | k), over the cells that are known."""
        return log_sum(self.log_joint(table).T)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """A class by its prior, then each cell by the distribution of its column in that class."""
        classes = rng.choice(len(self.priors_), n, p=self.priors_ / self.priors_.sum()).astype(np.int32)
        events = EventColumns.of(self.columns_, self.distributions or {})
        if "count" in events.distributions:
            name = events.names[events.distributions.index("count")]
            message = f"how many counts a row has in all is not learned, so that '{name}' cannot be drawn"
            raise DataError(message, hint="leave it gaussian, or make it binomial with 'trials'")
        binomial = np.array([distribution == "binomial" for distribution in events.distributions], bool)
        trials = np.where(binomial, self.trials_, 1.0).astype(np.int64)
        hits = rng.binomial(trials[:, None], self.events_[0][:, classes]).astype(np.float64)
        cells_of = dict(zip(events.names, hits, strict=True))
        noise = rng.standard_normal((self.means_.shape[1], n))
        normals = iter(self.means_.T[:, classes] + np.sqrt(self.variances_).T[:, classes] * noise)
        likelihoods = iter(self.likelihoods_)
        cells: list[NDArray[np.float64 | np.int32]] = []
        for column in self.columns_:
            if column.coded:
                shares = next(likelihoods)
                cumulative = np.cumsum(shares, axis=0) / shares.sum(axis=0)
                cells.append((rng.random(n) >= cumulative[:-1, classes]).sum(axis=0).astype(np.int32))
            else:
                cells.append(cells_of[column.name] if column.name in cells_of else next(normals))
        return self.drawn(cells, classes)

    def explain(self) -> findings.Explanation:
        """The priors, the chances of levels and events, and the mean and deviation of each number, by class."""
        events = EventColumns.of(self.columns_, self.distributions or {})
        coded = [column for column in self.columns_ if column.coded]
        note = self._smoothing_note() if coded or events.names else ""
        tables = [prior_table(self.target_, self.classes_, self.priors_, note)]
        for column, shares in zip(coded, self.likelihoods_, strict=True):
            rows = ((level, *by_class) for level, by_class in zip(column.levels, shares.tolist(), strict=True))
            title = f"P({column.name} | {self.target_})"
            tables.append(findings.Table(title, (column.name, *self.classes_), tuple(rows)))
        if events.names:
            chances = zip(events.names, events.distributions, self.events_[0].tolist(), strict=True)
            lines = tuple((name, distribution, *by_class) for name, distribution, by_class in chances)
            header = ("column", "distribution", *self.classes_)
            tables.append(findings.Table(f"P(event | {self.target_})", header, lines))
        names = [column.name for column in self.columns_ if not column.coded and column.name not in events.names]
        if names:
            deviations, used = np.sqrt(self.variances_), self.kept_ | (self.gaps_ > 0)
            numbers = tuple(
                (name, label, float(self.means_[k, j]), float(deviations[k, j]))
                for j, name in enumerate(names)
                for k, label in enumerate(self.classes_)
            )
            left_out = [name for name, counts in zip(names, used, strict=True) if not counts]
            note = f"left out, since they do not vary: {', '.join(left_out)}" if left_out else ""
            header = ("column", self.target_, "mean", "standard deviation")
            tables.append(findings.Table(f"Numbers by {self.target_}", header, numbers, note=note))
        return tuple(tables)

    def _smoothing_note(self) -> str:
        note = {
            "alpha": f"in P(level | class), {self.alpha:g} is added to the count of every level (alpha).",
            "none": "P(level | class) is as counted, not smoothed.",
            "epsilon": f"P(level | class) is as counted, with {self.epsilon:g} in the place of 0 (epsilon).",
            "m-estimate": f"in P(level | class), {self.m:g} rows are spread over the levels of every class (m).",
        }[self.smoothing]
        if self.smoothing == "m-estimate" and self.level_priors:
            note = f"{note.rstrip('.')}; those of {listed(list(self.level_priors))} as level_priors say."
        priors = "The priors are as counted" if self.priors is None else "The priors are as given"
        return note if self.smooth_prior else f"{priors}; {note}"

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The prior and the factor of each cell, whose product is the joint probability."""
        prior, product = self.log_joint(_only_cell(table, "")), self.log_joint(table)
        possible = np.where(np.isneginf(prior), 0.0, prior)
        factors = [("prior", prior)]
        for column, cells in table.parts():
            if not is_missing(cells)[0]:
                factor = self.log_joint(_only_cell(table, column.name)) - possible
                factors.append((f"{column.name} = {cell_text(column, float(cells[0]))}", factor))
        factors.append(("product", product))
        rows = [(name, *np.exp(logs[0]).tolist()) for name, logs in factors]
        if np.isfinite(product).any():
            rows.append(("share of the products", *posterior(product)[0].tolist()))
        return (findings.Table("Factors", ("factor", *self.classes_), tuple(rows)),)

    def adjustable_parameters(self, table: Table) -> float | None:
        """Means, variances, and of shares that add up to 1 one less than there are."""
        classes = len(self.classes_)
        shares = sum(likelihood.size - classes for likelihood in self.likelihoods_)
        return float(classes - 1 + shares + self.means_.size + self.variances_.size)

    def check_learned(self) -> None:
        """A likelihood for each level and class, a mean and a variance for each number."""
        coded = [column for column in self.columns_ if column.coded]
        events = len(EventColumns.of(self.columns_, self.distributions or {}).names)
        likelihoods = [(len(column.levels), len(self.classes_)) for column in coded]
        if [len(self.trials_), len(self.kept_)] != [events, len(self.columns_) - len(coded) - events]:
            raise ValueError("likelihoods of other columns")
        if [np.shape(array) for array in self.likelihoods_] != likelihoods:
            raise ValueError("likelihoods that do not fit the levels and classes")


def _only_cell(table: Table, name: str) -> Table:
    """The row with only one of its cells; the others are empty and add no factor."""
    numbers = np.array([column.name == name for column in table.number_columns], bool)
    codes = np.array([column.name == name for column in table.code_columns], bool)
    numbers_left = np.where(numbers, table.numbers, np.nan)
    return Table(table.columns, numbers_left, np.where(codes, table.codes, MISSING_CODE))
