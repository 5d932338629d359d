"""Comparisons as a document: pairs of models on each dataset, then ranks and pairs over the datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from mlcli import __version__
from mlcli.metrics.over_datasets import ScoreTable, compared_over
from mlcli.report.as_json import plain
from mlcli.report.compared import ComparedModels, ComparedPair, Comparison
from mlcli.report.document import Content, Document, Element, Field, Sentence, grid, notes
from mlcli.report.numbers import counted, fixed, p_text
from mlcli.report.over_datasets import (
    MOST_PAIRS,
    elements_over_datasets,
    over_datasets_as_json,
    pairs_over_datasets,
)
from mlcli.report.results import opening
from mlcli.report.scores import decimals_of

DIFFERS = "*"
LEGEND = f"{DIFFERS} differs at 5 %; p corrected by Holm for {{}}"


def comparison_of(comparison: Comparison) -> Document:
    """The pairs of each dataset, then what holds over datasets."""
    return (*(element for one in comparison.datasets for element in _dataset(one)), *_over(comparison))


def _over(comparison: Comparison) -> Iterator[Element]:
    for table in comparison.tables:
        beaten = Counter(pair for one in comparison.datasets if _is_in(one, table) for pair in _beaten(one))
        over = compared_over(table, comparison.rope, comparison.against)
        yield from elements_over_datasets(over)
        yield from pairs_over_datasets(over, comparison.rope, beaten)


def _is_in(compared: ComparedModels, table: ScoreTable) -> bool:
    """Whether a table over datasets holds the scores of one of them."""
    dataset = compared.group[0].cell.dataset.name
    return dataset in table.datasets and compared.metric.name == table.metric


def _beaten(compared: ComparedModels) -> Iterator[tuple[str, str]]:
    """The pairs of one dataset of which the first is better, and not by chance."""
    return ((pair.first, pair.second) for pair in compared.pairs if pair.difference.distinguishable)


def _dataset(compared: ComparedModels) -> Iterator[Element]:
    yield from opening([one.cell for one in compared.group])
    yield from pairs_of(compared)


def pairs_of(compared: ComparedModels) -> Iterator[Element]:
    """Pairs of models of one dataset, and what they say of the best."""
    few = len(compared.pairs) <= MOST_PAIRS
    shown = [pair for pair in compared.pairs if few or compared.best in (pair.first, pair.second)]
    summaries = [one.summaries[compared.metric.name] for one in compared.group if one.done]
    decimals = decimals_of(compared.metric, summaries)
    header = ["model", "against", compared.metric.name, "95 % interval", "p", "corrected p"]
    yield grid(header, [_row(pair, decimals) for pair in shown], right=range(2, len(header)), keys=2)
    tests = dict.fromkeys(pair.difference.test for pair in compared.pairs if pair.difference.test)
    left = len(compared.pairs) - len(shown)
    yield notes(
        f"{LEGEND.format(counted(len(compared.pairs), 'comparison'))}; "
        f"{compared.metric.name}: the first model's score minus the other's",
        *(f"test: {test}" for test in tests),
        *(
            f"{pair.first} against {pair.second}: {pair.difference.why}"
            for pair in shown
            if pair.difference.p is None and pair.difference.why
        ),
        *([f"no score to compare: {', '.join(compared.unscored)}"] if compared.unscored else []),
        *([f"{left} more pairs are in --json"] if left else []),
    )
    if shown:
        yield Sentence(_sentence(compared), "strong")


def _sentence(compared: ComparedModels) -> str:
    of_best = [pair for pair in compared.pairs if pair.first == compared.best]
    beaten = [pair.second for pair in of_best if pair.difference.distinguishable]
    untested = [pair.second for pair in of_best if pair.difference.p is None]
    alike = [one.second for one in of_best if one.second not in untested and not one.difference.distinguishable]
    parts = [f"Best by {compared.metric.name}: {compared.best}"]
    parts += [f"better than {', '.join(beaten)}"] if beaten else []
    parts += [f"not distinguishable from {', '.join(alike)}"] if alike else []
    parts += [f"not tested against {', '.join(untested)}"] if untested else []
    return "; ".join(parts) + "."


def _row(pair: ComparedPair, decimals: int | None) -> list[Content]:
    found = pair.difference
    if found.mean is None:
        return [Field(pair.first, "strong"), pair.second, Field("untested", "weak"), "-", "-", "-"]
    known = found.low is not None and found.high is not None
    interval = f"{fixed(found.low or 0.0, decimals)} to {fixed(found.high or 0.0, decimals)}" if known else "-"
    mean = fixed(found.mean, decimals)
    shown = Field(DIFFERS + mean, "best") if found.distinguishable else Field(mean)
    return [Field(pair.first, "strong"), pair.second, shown, interval, p_text(found.p), p_text(found.corrected)]


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """All comparisons as plain values."""
    over = (compared_over(table, comparison.rope, comparison.against) for table in comparison.tables)
    return {
        "version": __version__,
        "datasets": [_dataset_as_json(one) for one in comparison.datasets],
        "rope": comparison.rope,
        "over_datasets": [over_datasets_as_json(one) for one in over],
    }


def _dataset_as_json(compared: ComparedModels) -> dict[str, Any]:
    cell = compared.group[0].cell
    return {
        "dataset": cell.dataset.name,
        "kind": cell.kind,
        "metric": compared.metric.name,
        "best": compared.best,
        "pairs": [_pair_as_json(pair) for pair in compared.pairs],
        **({"unscored": list(compared.unscored)} if compared.unscored else {}),
    }


def _pair_as_json(pair: ComparedPair) -> dict[str, Any]:
    found = pair.difference
    return {
        "models": [pair.first, pair.second],
        "difference": plain(found.mean),
        "low": plain(found.low),
        "high": plain(found.high),
        "p": plain(found.p),
        "corrected_p": plain(found.corrected),
        "distinguishable": found.distinguishable,
        "test": found.test,
        **({"why": found.why} if found.why else {}),
    }
