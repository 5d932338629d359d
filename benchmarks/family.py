"""The benchmark of one family of methods: time, scores, memory, first call and growth beside the peers."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.linalg import LinAlgError

from benchmarks.alone import measured
from benchmarks.pair import Pair, answers_of_ours, answers_of_theirs, score
from benchmarks.rows import SIZES, Made, Shipped, all_for
from benchmarks.timing import Times, for_a_while, markdown, median_ms, ratio_of_turns
from mlcli.core.errors import MlcliError

PATIENCE = 0.75
"""Seconds after which no further turn is begun, of fits as of predictions."""
TURNS = 15
HEADER = ("method", "peer", "kind", "rows", "our fit", "fit: ratio", "our predict", "predict: ratio", "scores")
COSTS = ("method", "peer", "kind", "growth with n", "with columns", "memory of a fit", "first call", "compiling")
LEGEND = f"""Ratios above 1 mean that mlcli is faster: medians of the turns, with their middle half. Turns
alternate for {PATIENCE:g} s, at most {TURNS}; one that takes longer (forests and boosting of 100,000 × 50) is
the only one. In pairs ours stands first. Scores are accuracy or R² on rows not seen. Growth is the exponent of
time from 2,000 × 20 to 20,000 × 20, and to 2,000 × 500. Memory is the resident peak above what was there before a
fit to 20,000 × 20, or to 2,000 rows where more are left out. The first call is what it costs more than the next,
imports included, in a process of its own; compiling is the same where no kernel is cached; these three are
measured once per method."""

Row = tuple[object, ...]


def table(family: str, pairs: Sequence[Pair], only: Collection[str] = ()) -> str:
    """A table of times and one of costs."""
    warnings.simplefilter("ignore")
    times: list[Row] = []
    costs: list[Row] = []
    known: set[str] = set()
    for number, pair in enumerate(pairs):
        if pair.missing or (only and pair.method not in only):
            continue
        times_of_pair, fits = side_by_side(pair)
        times += times_of_pair
        costs.append(
            (*named(pair), *growth(fits), *(("",) * 3 if pair.method in known else alone(family, number)))
        )
        known.add(pair.method)
    missing = sorted({pair.missing for pair in pairs if pair.missing})
    remark = [f"Not here: {', '.join(missing)}."] if missing else []
    tables = [LEGEND, markdown(HEADER, times), markdown(COSTS, costs)] if times else []
    return "\n\n".join([*tables, *remark])


def named(pair: Pair) -> tuple[str, str, str]:
    """The first cells of a row."""
    return f"{pair.method} ({pair.remark})" if pair.remark else pair.method, pair.peer_name, pair.kind


def side_by_side(pair: Pair) -> tuple[list[Row], dict[str, Times]]:
    """A row for each size, and the times of the fits by size."""
    rows: list[Row] = []
    fits: dict[str, Times] = {}
    warm(pair)
    for size in sizes_of(pair, all_for(pair.kind)):
        train, test = size.halves(pair.kind, pair.asked)
        try:
            fits[size.label], cells = compared(pair, train, test)
        except (MlcliError, LinAlgError) as problem:
            cells = (f"refused: {problem}", "", "", "", "")
        rows.append((*named(pair), size.label, *cells))
    return rows, fits


def sizes_of(pair: Pair, sizes: Sequence[Made | Shipped]) -> list[Made | Shipped]:
    """Those that do not have too many rows for a pair."""
    return [size for size in sizes if not isinstance(size, Made) or size.n <= pair.most]


def warm(pair: Pair) -> None:
    """Load what both import; and every kernel of ours, as some are only for many rows."""
    train, test = SIZES[0].halves(pair.kind, pair.asked)
    answers_of_theirs(pair.theirs(train), test)
    for size in sizes_of(pair, SIZES):
        train, test = size.halves(pair.kind, pair.asked)
        answers_of_ours(pair.ours(train), test)


@dataclass
class Remembered:
    """Something to do, and what came of it the last time."""

    thing: Callable[[], Any]
    result: Any = None

    def __call__(self) -> None:
        self.result = self.thing()


def compared(pair: Pair, train: Any, test: Any) -> tuple[Times, Row]:
    """Times of the fits, and the cells of a row; what the last fits have learned is asked."""
    learn = {whose: Remembered(partial(learner, train)) for whose, learner in pair.learners().items()}
    fits = for_a_while(learn, PATIENCE, TURNS)
    say = {
        "ours": Remembered(partial(answers_of_ours, learn["ours"].result, test)),
        "theirs": Remembered(partial(answers_of_theirs, learn["theirs"].result, test)),
    }
    asked = for_a_while(say, PATIENCE, TURNS)
    scores = " / ".join(f"{score(answer.result, test):.3f}" for answer in say.values())
    return fits, (
        median_ms(fits["ours"]),
        ratio_of_turns(fits["theirs"], fits["ours"]),
        median_ms(asked["ours"]),
        ratio_of_turns(asked["theirs"], asked["ours"]),
        scores,
    )


def growth(fits: Mapping[str, Times]) -> tuple[str, str]:
    """How time grows with rows and with columns, as exponents."""
    small, long, wide = Made(2_000, 20), Made(20_000, 20), Made(2_000, 500)
    with_rows = _exponents(fits, small, long, long.n / small.n)
    return with_rows, _exponents(fits, small, wide, wide.p / small.p)


def _exponents(fits: Mapping[str, Times], small: Made, large: Made, factor: float) -> str:
    if small.label not in fits or large.label not in fits:
        return ""
    found = []
    for whose in ("ours", "theirs"):
        before, after = (statistics.median(fits[size.label][whose]) for size in (small, large))
        found.append(f"{math.log(after / before) / math.log(factor):.2f}")
    return " / ".join(found)


def alone(family: str, number: int) -> tuple[str, str, str]:
    """Memory, the first call, and compiling."""
    ours, theirs = (measured(family, number, whose) for whose in ("ours", "theirs"))
    compiling = measured(family, number, "ours", cold=True)
    return (
        f"{ours['memory']:.1f} / {theirs['memory']:.1f} MB",
        f"{ours['first call'] * 1e3:.0f} / {theirs['first call'] * 1e3:.0f} ms",
        f"{compiling['first call']:.1f} s",
    )
