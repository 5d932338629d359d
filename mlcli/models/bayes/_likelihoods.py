"""What naive Bayes learns of single columns: the distribution of each, as it is chosen and as it is shown.

Columns of numbers by class: normal ones, and those that say how often an event happened.

A column that is constant within a class has a normal density there that grows without bound. There a number counts
as measured: to the mean gap between the distinct numbers of its column. No deviation is below a sixth of that gap,
and what counts is the mass of the normal within half a gap of the number, which is never above 1.

With chances θ of an event by class a number x has, but for factors that are the same in every class, the
log-likelihood

    bernoulli   log θ where x > 0, log(1 − θ) elsewhere
    binomial    x log θ + (n − x) log(1 − θ), of n trials
    count       x log θ, where the θ of all such columns add up to 1 (multinomial: the words of a text)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import DataError, FitError, MlcliWarning
from mlcli.core.leave_one_out import LOST
from mlcli.core.moments import Moments, extent
from mlcli.core.names import did_you_mean, listed
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Rows, Table, cell_text
from mlcli.engines.posteriors import logarithm, posterior
from mlcli.tasks.classification import LabelledRows

LEAST_DEVIATION = 1 / 6
"""In gaps: the stretch around a constant then holds all but 0.3 % of the mass."""
FARTHEST = 1e100
"""In deviations; the square of what is farther is no number."""


def log_normal_density(numbers: Array, means: Array, variances: Array, kept: Flags) -> Array:
    """The normal log-density (... × n × classes) of rows (... × n × p), over the columns kept (... × p).

    Means and variances are ... × classes × p; an empty cell adds nothing.
    """
    result = np.empty((*numbers.shape[:-1], means.shape[-2]))
    spreads = np.where(kept[..., None, :], variances, 1.0)
    logs = np.where(kept[..., None, :], np.log(2 * np.pi * spreads), 0.0)
    precisions = kept[..., None, :] / spreads
    with_gaps = bool(np.isnan(numbers).any())
    for k in range(means.shape[-2]):
        away = numbers - means[..., k, None, :]
        away *= away
        if with_gaps:
            terms = away * precisions[..., k, None, :] + logs[..., k, None, :]
            result[..., k] = -0.5 * np.where(np.isnan(numbers), 0.0, terms).sum(axis=-1)
        else:
            result[..., k] = -0.5 * (away @ precisions[..., k, :, None])[..., 0] - 0.5 * logs[..., k, None, :].sum(
                axis=-1
            )
    return result


def mean_gap(numbers: Array) -> float:
    """The mean gap between neighbours among the distinct numbers of a column that varies."""
    distinct = np.unique(numbers[~np.isnan(numbers)])
    return float((distinct[-1] - distinct[0]) / (len(distinct) - 1))


def least_variance(gap: float) -> float:
    """What a column with such a gap can tell."""
    return (LEAST_DEVIATION * gap) ** 2


def log_mass(numbers: Array, means: Array, variances: Array, gap: float) -> Array:
    """The log-mass (n × classes) of the stretch of ``gap`` around each number of a column; 0 for an empty cell."""
    from scipy.special import log_ndtr

    deviations = np.sqrt(variances)
    away = np.abs(numbers[:, None] - means) / deviations
    half = gap / 2 / deviations
    near, far = (log_ndtr(np.maximum(edge, -FARTHEST)) for edge in (half - away, -half - away))
    # Far out both tails round to the same; what is left is tiny, but not nothing.
    apart = np.maximum(near - far, np.finfo(np.float64).tiny)
    return np.where(np.isnan(away), 0.0, near + np.log(-np.expm1(-apart)))


IMPOSSIBLE = -1e300
"""A logarithm of 0 that may be multiplied by 0."""


EVENTS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "bernoulli": lambda numbers, trials: ((numbers > 0).astype(np.float64), (numbers <= 0).astype(np.float64)),
    "binomial": lambda numbers, trials: (numbers, np.maximum(trials - numbers, 0.0)),
    "count": lambda numbers, trials: (numbers, np.zeros_like(numbers)),
}
"""From numbers to how often an event happened and how often it did not."""


@dataclass(frozen=True)
class EventColumns:
    """Numeric columns in which an event happens or does not, and the distribution of each."""

    names: tuple[str, ...]
    distributions: tuple[str, ...]

    def learn(
        self, numbers: Array, by_class: Array, trials: int | None, smoothed: Callable[[Array], Array]
    ) -> tuple[Array, Array]:
        """The trials of each column, and its chances (2 × columns × classes), from weights (n × classes)."""
        self.refuse_what_is_no_count(numbers, trials)
        _, largest = extent(numbers, by_class.sum(axis=1))
        of = np.maximum(largest, 1.0) if trials is None else np.full(len(largest), float(trials))
        counts = self.happened(numbers, of).swapaxes(1, 2) @ by_class
        return of, self._shares(counts, smoothed)

    def happened(self, numbers: Array, trials: Array) -> Array:
        """How often events did and did not happen (2 × n × columns); an empty cell has 0 of both."""
        result = np.zeros((2, *numbers.shape))
        for j, distribution in enumerate(self.distributions):
            result[:, :, j] = EVENTS[distribution](numbers[:, j], trials[j])
        return np.nan_to_num(result, copy=False)

    def drawn(self, chances: Array, trials: Array, classes: Codes, rng: np.random.Generator) -> Array:
        """Of each column a number for each class that was drawn (columns × n)."""
        if "count" in self.distributions:
            name = self.names[self.distributions.index("count")]
            what = f"how many counts a row has in all is not learned, so that '{name}' cannot be drawn"
            raise DataError(what, hint="leave it gaussian, or make it binomial with 'trials'")
        times = np.where([distribution == "binomial" for distribution in self.distributions], trials, 1.0).astype(
            np.int64
        )
        return rng.binomial(times[:, None], chances[:, classes]).astype(np.float64)

    def refuse_what_is_no_count(self, numbers: Array, trials: int | None) -> None:
        """Refuse numbers below 0, and hits beyond the trials, with the name of the column."""
        for name, distribution, cells in zip(self.names, self.distributions, numbers.T, strict=True):
            most = trials if trials is not None and distribution == "binomial" else np.inf
            wrong = cells[(cells < 0) | (cells > most)]
            if distribution != "bernoulli" and len(wrong):
                limits = "0 or more" if most == np.inf else f"from 0 to {most:g}"
                what = f"column '{name}' has {wrong[0]:g}, but as {distribution} its numbers are {limits}"
                raise FitError(what, hint=f"correct it, or choose another distribution for '{name}'")

    def _shares(self, counts: Array, smoothed: Callable[[Array], Array]) -> Array:
        """The chance that an event does and does not happen, from how often it did (2 × columns × classes).

        Counts share the chance of one event among their columns, as words share a text.
        """
        together = np.array([distribution == "count" for distribution in self.distributions], bool)
        result = np.ones_like(counts)
        result[:, ~together] = smoothed(counts[:, ~together])
        result[0, together] = smoothed(counts[0, together])
        return result


def log_likelihood_of_events(happened: Array, shares: Array) -> Array:
    """The log-likelihood (n × classes) of events, but for factors that are the same in every class."""
    logs = np.maximum(logarithm(shares), IMPOSSIBLE)
    result = np.tensordot(happened, logs, axes=([0, 2], [0, 1]))
    return np.where(result < IMPOSSIBLE * 1e-9, -np.inf, result)


MOST_NAMED = 3
"""How many columns, and classes of each, a warning names."""
SUM_TO_ONE = 1e-6
"""How far from 1 probabilities may add up."""
FRACTION = 1e-9
"""What is added to every variance, as a share of the largest variance of any column."""
ROUNDING = 1e-13
"""The relative error of a sum of logarithms."""
FAR = 1e-5
"""A column whose cells are more than 1 / FAR deviations from 0 has lost digits."""


def _nothing(overall: Moments) -> Array:
    return np.zeros(overall.variance.shape[:-1])


ADDED: dict[str, Callable[[Moments], Array]] = {
    "floor": _nothing,
    "add": lambda overall: FRACTION * overall.variance.max(axis=-1, initial=0.0),
    "drop": _nothing,
}
"""What is added to every variance. A column with a variance of 0 in a class even so is treated as "floor" says,
or left out."""


def level_counts(data: LabelledRows, column: Column, codes: Codes) -> Array:
    """The weight of each level of a column in each class (levels × classes), without empty cells."""
    known, classes = codes >= 0, len(data.classes)
    cells = codes[known].astype(np.intp) * classes + data.y[known]
    counts = np.bincount(cells, data.weights[known], len(column.levels) * classes)
    return counts.reshape(len(column.levels), classes).astype(np.float64)


def own_log_density(
    data: LabelledRows, means: Array, variances: Array, kept: Flags, ddof: int
) -> tuple[Array, Flags]:
    """The normal log-density of complete, unweighted rows in their class without them, and where it is certain."""
    away = (data.table.numbers - means[data.y])[:, kept]
    size = np.abs(data.table.numbers[:, kept]).max(axis=0, initial=0.0)
    count = np.maximum(data.class_totals[data.y], 2.0)[:, None]
    whole = variances[:, kept][data.y] * (count - ddof)
    squares = whole - count / (count - 1) * away**2
    known = ((squares > LOST * whole) & (whole > (FAR * size) ** 2)).all(axis=1) & (count[:, 0] - 1 > ddof)
    variance = np.where(known[:, None], squares, 1.0) / np.maximum(count - 1 - ddof, 1.0)
    lengths = (count / (count - 1) * away) ** 2 / variance
    return -0.5 * (np.log(2 * np.pi * variance) + lengths).sum(axis=1), known


def as_counted(counts: Array) -> Array:
    """Relative frequencies; a class without a count has those of all classes together, which tell nothing."""
    totals = counts.sum(axis=0)
    overall = counts.sum(axis=-1, keepdims=True)
    everything = overall.sum(axis=0)
    unknown = np.where(everything > 0, overall / np.where(everything > 0, everything, 1.0), 1 / len(counts))
    return np.asarray(np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), unknown))


def with_pseudocounts(counts: Array, alpha: float) -> Array:
    """``alpha`` more of each level: (count + α) / (total + Vα)."""
    return np.asarray((counts + alpha) / (counts.sum(axis=0) + alpha * len(counts)))


def with_prior(counts: Array, m: float, prior: Array) -> Array:
    """``m`` rows more, spread over the levels by their ``prior`` probabilities: (count + m p) / (total + m)."""
    added = m * prior.reshape(-1, *(1,) * (counts.ndim - 1))
    return np.asarray((counts + added) / (counts.sum(axis=0) + m))


def wrong_level_priors(given: Mapping[str, object]) -> list[str]:
    """What is wrong with the prior probabilities of levels, as they are written."""
    problems = []
    for name, by_level in given.items():
        if not isinstance(by_level, Mapping) or not by_level:
            problems.append(f"level_priors: {name} needs a probability for each level, such as {{a: 0.3, b: 0.7}}")
            continue
        numbers = [one for one in by_level.values() if isinstance(one, int | float) and not isinstance(one, bool)]
        if len(numbers) < len(by_level) or min(numbers) < 0 or abs(sum(numbers) - 1) > SUM_TO_ONE:
            problems.append(f"level_priors: the probabilities of {name} must not be negative and must add up to 1")
    return problems


def refuse_misfitting_level_priors(given: Mapping[str, Mapping[str, float]], columns: Sequence[Column]) -> None:
    """Refuse prior probabilities of columns or levels that are not there, or of a part of the levels."""
    coded = {column.name: column for column in columns if column.coded}
    for name, by_level in given.items():
        if name not in coded:
            hint = did_you_mean(name, coded, "columns with levels")
            raise FitError(f"level_priors: there is no column '{name}' with levels", hint=hint)
        levels = coded[name].levels
        for level in by_level.keys() - set(levels):
            hint = did_you_mean(level, levels, f"levels of {name}")
            raise FitError(f"level_priors: {name} has no level '{level}'", hint=hint)
        if left_out := [level for level in levels if level not in by_level]:
            what = f"level_priors: {name} has no probability for {listed(left_out, MOST_NAMED)}"
            raise FitError(what, hint="give each level one; together they are 1")


def with_floor(counts: Array, epsilon: float) -> Array:
    """``epsilon`` in the place of 0, the rest as counted; the shares then add up to a little more than 1."""
    shares = as_counted(counts)
    return np.asarray(np.where(shares == 0, epsilon, shares))


@dataclass(frozen=True)
class Smoothing:
    """How a level that a class never had is treated."""

    shares: Callable[[Array, float], Array]
    """From counts (levels × ... × classes) and its parameter."""
    parameter: str
    words: str
    """How an explanation puts it, of the method."""


SMOOTHINGS = {
    "alpha": Smoothing(
        with_pseudocounts, "alpha",
        "in P(level | class), {0.alpha:g} is added to the count of every level (alpha).",
    ),
    "none": Smoothing(lambda counts, _: as_counted(counts), "", "P(level | class) is as counted, not smoothed."),
    "epsilon": Smoothing(
        with_floor, "epsilon", "P(level | class) is as counted, with {0.epsilon:g} in the place of 0 (epsilon)."
    ),
    "m-estimate": Smoothing(
        lambda counts, m: with_pseudocounts(counts, m / len(counts)), "m",
        "in P(level | class), {0.m:g} rows are spread over the levels of every class (m).",
    ),
}  # fmt: skip


def log_likelihood(log_shares: Array, codes: Codes) -> Array:
    """The log-likelihood (n × classes) of the levels of one column; an empty cell has 0, whatever the class."""
    with_missing = np.vstack([log_shares, np.zeros(log_shares.shape[1])])
    return np.asarray(with_missing[codes])


def drawn_levels(shares: Array, classes: Codes, rng: np.random.Generator) -> Codes:
    """A level for each class that was drawn, by its shares (levels × classes)."""
    up_to = np.cumsum(shares, axis=0) / shares.sum(axis=0)
    return np.asarray((rng.random(len(classes)) >= up_to[:-1, classes]).sum(axis=0), np.int32)


def drawn_normals(means: Array, variances: Array, classes: Codes, rng: np.random.Generator) -> Array:
    """A number of each column for each class that was drawn (columns × n)."""
    away = rng.standard_normal((means.shape[1], len(classes)))
    return means.T[:, classes] + np.sqrt(variances).T[:, classes] * away


OF_NUMBERS = ("gaussian", *EVENTS)
OF_LEVELS = ("categorical", "bernoulli")
DISTRIBUTIONS = tuple(dict.fromkeys((*OF_NUMBERS, *OF_LEVELS)))


def wrong_distributions(chosen: Mapping[str, object]) -> list[str]:
    """What a configuration asks for that is no distribution."""
    allowed = ", ".join(DISTRIBUTIONS)
    wrong = ((name, given) for name, given in chosen.items() if given not in DISTRIBUTIONS)
    return [f"distributions: {name} is one of {allowed}; was given {given!r}" for name, given in wrong]


def refuse_misfitting_distributions(chosen: Mapping[str, str], columns: Sequence[Column]) -> None:
    """Refuse distributions of columns that are not there, or that cannot have them."""
    known = {column.name: column for column in columns}
    for name in chosen.keys() - known.keys() - set(COLUMN_KINDS):
        hint = did_you_mean(name, (*known, *COLUMN_KINDS), "columns and kinds")
        raise FitError(f"distributions: there is no column or kind '{name}'", hint=hint)
    for column in columns:
        given, possible = distribution_of(column, chosen), OF_LEVELS if column.coded else OF_NUMBERS
        what = f"distributions: column '{column.name}' is {column.kind}, so it cannot be {given}"
        if given not in possible:
            raise FitError(what, hint=f"it can be {' or '.join(possible)}; its sidecar says what kind it is")
        if column.coded and given == "bernoulli" and len(column.levels) > 2:
            raise FitError(f"{what}: it has {len(column.levels)} levels", hint="leave it categorical")


def distribution_of(column: Column, chosen: Mapping[str, str]) -> str:
    """That of its name, else of its kind, else the usual one."""
    usual = "categorical" if column.coded else "gaussian"
    return chosen.get(column.name, chosen.get(column.kind, usual))


def event_columns(columns: Sequence[Column], chosen: Mapping[str, str]) -> EventColumns:
    """Those among some columns whose numbers are of events."""
    pairs = [(column.name, distribution_of(column, chosen)) for column in columns if not column.coded]
    events = [(name, distribution) for name, distribution in pairs if distribution in EVENTS]
    return EventColumns(tuple(name for name, _ in events), tuple(distribution for _, distribution in events))


def split(table: Table, chosen: Mapping[str, str]) -> tuple[EventColumns, Array, Table]:
    """The columns of events, their numbers, and the other columns."""
    events = event_columns(table.columns, chosen)
    if not events.names:
        return events, np.empty((len(table), 0)), table
    others = table.select(column.name for column in table.columns if column.name not in events.names)
    return events, table.select(events.names).numbers, others


def put_floors(data: LabelledRows, variances: Array, columns: Rows) -> tuple[Array, Array]:
    """Variances with a floor in columns that do not vary in a class, which are named, and the gaps of these."""
    variances, gaps, messages = variances.copy(), np.zeros(variances.shape[1]), []
    for j in columns.tolist():
        flat = [label for label, variance in zip(data.classes, variances[:, j], strict=True) if variance == 0]
        messages.append(f"'{data.table.number_columns[j].name}' (in {listed(flat, MOST_NAMED)})")
        gaps[j] = mean_gap(data.table.numbers[data.weights > 0, j])
        variances[:, j] = np.maximum(variances[:, j], least_variance(gaps[j]))
    if messages:
        text = "numbers that do not vary within a class have a floor below their spread"
        warnings.warn(f"{text}: {listed(messages, MOST_NAMED)}", MlcliWarning, stacklevel=3)
    return variances, gaps


def levels_table(column: Column, shares: Array, target: str, classes: Sequence[str]) -> findings.Table:
    """The share of each level in each class."""
    rows = ((level, *by_class) for level, by_class in zip(column.levels, shares.tolist(), strict=True))
    return findings.Table(f"P({column.name} | {target})", (column.name, *classes), tuple(rows))


def events_table(events: EventColumns, shares: Array, target: str, classes: Sequence[str]) -> findings.Table:
    """The chance that each event happens in each class."""
    named = zip(events.names, events.distributions, shares[0].tolist(), strict=True)
    rows = tuple((name, distribution, *chances) for name, distribution, chances in named)
    return findings.Table(f"P(event | {target})", ("column", "distribution", *classes), rows)


def normals_table(
    names: Sequence[str], means: Array, deviations: Array, used: Flags, target: str, classes: Sequence[str]
) -> findings.Table:
    """The mean and the standard deviation of each number in each class."""
    rows = tuple(
        (name, label, float(means[k, j]), float(deviations[k, j]))
        for j, name in enumerate(names)
        for k, label in enumerate(classes)
    )
    left_out = [name for name, counts in zip(names, used, strict=True) if not counts]
    note = f"left out, since they do not vary: {', '.join(left_out)}" if left_out else ""
    header = ("column", target, "mean", "standard deviation")
    return findings.Table(f"Numbers by {target}", header, rows, note=note)


LogJoint = Callable[[Table], Array]


def factors_of(table: Table, log_joint: LogJoint, classes: tuple[str, ...]) -> findings.Table:
    """Of one row: a line for each factor, a column for each class."""
    prior, product = log_joint(_alone(table, "")), log_joint(table)
    possible = np.where(np.isneginf(prior), 0.0, prior)
    factors = [(what, log_joint(_alone(table, name)) - possible) for name, what in _known_cells(table)]
    lines = [("prior", prior), *factors, ("product", product)]
    rows = [(what, *np.exp(logs[0]).tolist()) for what, logs in lines]
    if np.isfinite(product).any():
        rows.append(("share of the products", *posterior(product)[0].tolist()))
    return findings.Table("Factors", ("factor", *classes), tuple(rows))


def _known_cells(row: Table) -> Iterator[tuple[str, str]]:
    """The name of each column that has a cell in the one row, and what is in it."""
    for column, cells in row.parts():
        if not (cells[0] == MISSING_CODE if column.coded else np.isnan(cells[0])):
            yield column.name, f"{column.name} = {cell_text(column, float(cells[0]))}"


def _alone(table: Table, name: str) -> Table:
    """The row with only one of its cells; a cell that is empty adds no factor."""
    numbers = np.array([column.name == name for column in table.number_columns], bool)
    codes = np.array([column.name == name for column in table.code_columns], bool)
    return Table(
        table.columns, np.where(numbers, table.numbers, np.nan), np.where(codes, table.codes, MISSING_CODE)
    )
