"""The likelihoods of single columns in naive Bayes: normal numbers, events, and levels, with their smoothing.

A column that is constant within a class has a normal density there that grows without bound. There a number counts
as measured: to the mean gap between the distinct numbers of its column. No deviation is below a sixth of that gap,
and what counts is the mass of the normal within half a gap of the number, which is never above 1.

With probabilities θ of an event by class, the log-likelihood of a number x, without factors that are the same in
every class, is

    bernoulli   log θ where x > 0, log(1 − θ) elsewhere
    binomial    x log θ + (n − x) log(1 − θ), of n trials
    count       x log θ, where the θ of all such columns add up to 1 (multinomial: the words of a text)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.abilities import LOST
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import extent
from mlcli.core.names import did_you_mean, listed
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.posteriors import logarithm
from mlcli.tasks.supervised import LabelledRows

EVENTS = ("bernoulli", "binomial", "count")
OF_NUMBERS = ("gaussian", *EVENTS)
OF_LEVELS = ("categorical", "bernoulli")
DISTRIBUTIONS = tuple(dict.fromkeys((*OF_NUMBERS, *OF_LEVELS)))


# Normal numbers.


def log_normal_density(numbers: Array, means: Array, variances: Array, used: Flags) -> Array:
    """The normal log-density (n × classes) of rows, over the columns used.

    Means and variances are classes × columns; an empty cell adds nothing.
    """
    result = np.empty((len(numbers), len(means)))
    variances = np.where(used, variances, 1.0)
    logs = np.where(used, np.log(2 * np.pi * variances), 0.0)
    precisions = used / variances
    has_gaps = bool(np.isnan(numbers).any())
    for k in range(len(means)):
        squares = numbers - means[k]
        squares *= squares
        if has_gaps:
            terms = squares * precisions[k] + logs[k]
            result[:, k] = -0.5 * np.where(np.isnan(numbers), 0.0, terms).sum(axis=-1)
        else:
            result[:, k] = -0.5 * (squares @ precisions[k]) - 0.5 * logs[k].sum()
    return result


def log_mass(numbers: Array, means: Array, variances: Array, gap: float) -> Array:
    """The log-mass (n × classes) of the interval of ``gap`` around each number of a column; 0 if it is empty."""
    from scipy.special import log_ndtr

    deviations = np.sqrt(variances)
    distance = np.abs(numbers[:, None] - means) / deviations
    half = gap / 2 / deviations
    # Beyond 1e100 deviations squares overflow.
    near, far = (log_ndtr(np.maximum(edge, -1e100)) for edge in (half - distance, -half - distance))
    # Far out both tails round to the same number; their difference is tiny, but not 0.
    difference = np.maximum(near - far, np.finfo(np.float64).tiny)
    return np.where(np.isnan(distance), 0.0, near + np.log(-np.expm1(-difference)))


def with_floors(data: LabelledRows, variances: Array, columns: Rows) -> tuple[Array, Array]:
    """Variances with a floor in columns that do not vary in a class, with a warning, and the gaps of columns.

    The floor is a deviation of a sixth of the mean gap between distinct numbers: the interval around a constant
    then holds all but 0.3 % of the mass. The gap of other columns is 0.
    """
    variances, gaps, messages = variances.copy(), np.zeros(variances.shape[1]), []
    for j in columns.tolist():
        flat = [label for label, variance in zip(data.classes, variances[:, j], strict=True) if variance == 0]
        messages.append(f"'{data.table.number_columns[j].name}' (in {listed(flat, 3)})")
        numbers = data.table.numbers[data.weights > 0, j]
        distinct = np.unique(numbers[~np.isnan(numbers)])
        gaps[j] = (distinct[-1] - distinct[0]) / (len(distinct) - 1)
        variances[:, j] = np.maximum(variances[:, j], (gaps[j] / 6) ** 2)
    if messages:
        message = "numbers that do not vary within a class have a floor below their spread"
        warnings.warn(f"{message}: {listed(messages, 3)}", MlcliWarning, stacklevel=3)
    return variances, gaps


def own_log_density(
    data: LabelledRows, means: Array, variances: Array, used: Flags, ddof: int
) -> tuple[Array, Flags]:
    """The normal log-density of complete, unweighted rows in their class without them, and where it is certain.

    It is uncertain where a row has nearly all of the variance, or a column is so far from 0 that digits are lost.
    """
    distance = (data.table.numbers - means[data.y])[:, used]
    size = np.abs(data.table.numbers[:, used]).max(axis=0, initial=0.0)
    count = np.maximum(data.class_totals[data.y], 2.0)[:, None]
    with_row = variances[:, used][data.y] * (count - ddof)
    squares = with_row - count / (count - 1) * distance**2
    certain = ((squares > LOST * with_row) & (with_row > (1e-5 * size) ** 2)).all(axis=1)
    certain &= count[:, 0] - 1 > ddof
    variance = np.where(certain[:, None], squares, 1.0) / np.maximum(count - 1 - ddof, 1.0)
    scaled = (count / (count - 1) * distance) ** 2 / variance
    return -0.5 * (np.log(2 * np.pi * variance) + scaled).sum(axis=1), certain


# Events.


@dataclass(frozen=True)
class EventColumns:
    """Numeric columns in which an event happens or does not, and the distribution of each."""

    names: tuple[str, ...]
    distributions: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[Column], chosen: Mapping[str, str]) -> EventColumns:
        """The columns of numbers whose distribution is one of events."""
        pairs = [(column.name, distribution_of(column, chosen)) for column in columns if not column.coded]
        events = [(name, distribution) for name, distribution in pairs if distribution in EVENTS]
        return cls(tuple(name for name, _ in events), tuple(distribution for _, distribution in events))

    def split(self, table: Table) -> tuple[Array, Table]:
        """The numbers of these columns, and the other columns."""
        if not self.names:
            return np.empty((len(table), 0)), table
        others = table.select(column.name for column in table.columns if column.name not in self.names)
        return table.select(self.names).numbers, others

    def learn(
        self, numbers: Array, by_class: Array, trials: int | None, smoothed: Callable[[Array], Array]
    ) -> tuple[Array, Array]:
        """The trials of each column, and the probabilities of events, from weights by class (n × classes).

        The probabilities that an event happens and does not are 2 × columns × classes. Columns of counts share the
        probability of one event, as words share a text.
        """
        self.refuse_illegal(numbers, trials)
        _, largest = extent(numbers, by_class.sum(axis=1))
        n = np.maximum(largest, 1.0) if trials is None else np.full(len(largest), float(trials))
        counts = self.happened(numbers, n).swapaxes(1, 2) @ by_class
        together = np.array([distribution == "count" for distribution in self.distributions], bool)
        result = np.ones_like(counts)
        result[:, ~together] = smoothed(counts[:, ~together])
        result[0, together] = smoothed(counts[0, together])
        return n, result

    def happened(self, numbers: Array, trials: Array) -> Array:
        """How often events did and did not happen (2 × n × columns); an empty cell has 0 of both."""
        result = np.zeros((2, *numbers.shape))
        for j, distribution in enumerate(self.distributions):
            if distribution == "bernoulli":
                result[:, :, j] = numbers[:, j] > 0, numbers[:, j] <= 0
            else:
                result[0, :, j] = numbers[:, j]
            if distribution == "binomial":
                result[1, :, j] = np.maximum(trials[j] - numbers[:, j], 0.0)
        return np.nan_to_num(result, copy=False)

    def log_likelihood(self, numbers: Array, trials: Array, probabilities: Array) -> Array:
        """The log-likelihood (n × classes), without factors that are the same in every class."""
        impossible = -1e300  # a logarithm of 0 that may be multiplied by 0
        logs = np.maximum(logarithm(probabilities), impossible)
        result = np.tensordot(self.happened(numbers, trials), logs, axes=([0, 2], [0, 1]))
        return np.where(result < impossible * 1e-9, -np.inf, result)

    def refuse_illegal(self, numbers: Array, trials: int | None) -> None:
        """Refuse numbers below 0, and hits beyond the trials, with the name of the column."""
        for name, distribution, cells in zip(self.names, self.distributions, numbers.T, strict=True):
            most = trials if trials is not None and distribution == "binomial" else np.inf
            wrong = cells[(cells < 0) | (cells > most)]
            if distribution != "bernoulli" and len(wrong):
                limits = "0 or more" if most == np.inf else f"from 0 to {most:g}"
                message = f"column '{name}' has {wrong[0]:g}, but as {distribution} its numbers are {limits}"
                raise FitError(message, hint=f"correct it, or choose another distribution for '{name}'")


# Levels.


def level_counts(data: LabelledRows, column: Column, codes: Codes) -> Array:
    """The weight of each level of a column in each class (levels × classes), without empty cells."""
    present, classes = codes >= 0, len(data.classes)
    cells = codes[present].astype(np.intp) * classes + data.y[present]
    counts = np.bincount(cells, data.weights[present], len(column.levels) * classes)
    return counts.reshape(len(column.levels), classes).astype(np.float64)


def smoothed_shares(counts: Array, smoothing: str, amount: float, prior: Array | None = None) -> Array:
    """P(level | class) from counts (levels × ... × classes); the amount is α, ε or m.

    ``prior`` has the prior probabilities of the levels for the m-estimate, 1/V by default.
    """
    totals = counts.sum(axis=0)
    if smoothing == "alpha":
        return np.asarray((counts + amount) / (totals + amount * len(counts)))
    if smoothing == "m-estimate":
        prior = np.full(len(counts), 1 / len(counts)) if prior is None else prior
        added = amount * prior.reshape(-1, *(1,) * (counts.ndim - 1))
        return np.asarray((counts + added) / (totals + amount))
    # As counted; a class without a count has the shares of all classes together, which tell nothing.
    overall = counts.sum(axis=-1, keepdims=True)
    everything = overall.sum(axis=0)
    unknown = np.where(everything > 0, overall / np.where(everything > 0, everything, 1.0), 1 / len(counts))
    shares = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), unknown)
    if smoothing == "epsilon":  # the shares then add up to a little more than 1
        shares = np.where(shares == 0, amount, shares)
    return np.asarray(shares)


# Checks of parameters, alone and against the columns of a table.


def distribution_of(column: Column, chosen: Mapping[str, str]) -> str:
    """The distribution chosen for the name of a column, or for its kind, or the default."""
    default = "categorical" if column.coded else "gaussian"
    return chosen.get(column.name, chosen.get(column.kind, default))


def refuse_misfitting_distributions(chosen: Mapping[str, str], columns: Sequence[Column]) -> None:
    """Refuse distributions of columns that are not there, or that cannot have them."""
    names = [column.name for column in columns]
    for name in chosen.keys() - set(names) - set(COLUMN_KINDS):
        hint = did_you_mean(name, (*names, *COLUMN_KINDS), "columns and kinds")
        raise FitError(f"distributions: there is no column or kind '{name}'", hint=hint)
    for column in columns:
        given, possible = distribution_of(column, chosen), OF_LEVELS if column.coded else OF_NUMBERS
        message = f"distributions: column '{column.name}' is {column.kind}, so it cannot be {given}"
        if given not in possible:
            raise FitError(message, hint=f"it can be {' or '.join(possible)}; its sidecar says what kind it is")
        if column.coded and given == "bernoulli" and len(column.levels) > 2:
            raise FitError(f"{message}: it has {len(column.levels)} levels", hint="leave it categorical")


def wrong_level_priors(given: Mapping[str, object]) -> list[str]:
    """What is wrong with prior probabilities of levels, whatever the columns are."""
    problems = []
    for name, by_level in given.items():
        if not isinstance(by_level, Mapping) or not by_level:
            problems.append(f"level_priors: {name} needs a probability for each level, such as {{a: 0.3, b: 0.7}}")
            continue
        numbers = [
            value for value in by_level.values() if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        if len(numbers) < len(by_level) or min(numbers) < 0 or abs(sum(numbers) - 1) > 1e-6:
            problems.append(f"level_priors: the probabilities of {name} must not be negative and must add up to 1")
    return problems


def refuse_misfitting_level_priors(given: Mapping[str, Mapping[str, float]], columns: Sequence[Column]) -> None:
    """Refuse prior probabilities of columns or levels that are not there, or of only some of the levels."""
    levels_of = {column.name: column.levels for column in columns if column.coded}
    for name, by_level in given.items():
        if name not in levels_of:
            hint = did_you_mean(name, levels_of, "columns with levels")
            raise FitError(f"level_priors: there is no column '{name}' with levels", hint=hint)
        levels = levels_of[name]
        for level in by_level.keys() - set(levels):
            hint = did_you_mean(level, levels, f"levels of {name}")
            raise FitError(f"level_priors: {name} has no level '{level}'", hint=hint)
        if left_out := [level for level in levels if level not in by_level]:
            message = f"level_priors: {name} has no probability for {listed(left_out, 3)}"
            raise FitError(message, hint="give each level one; together they are 1")
