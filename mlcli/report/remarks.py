"""What must be known to read a table: steps, undefined scores, marks and warnings, each said once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from mlcli.core.registry import MODELS, STEPS
from mlcli.experiment.run.learner import with_nested_steps
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell, CellResult, StepSpec
from mlcli.experiment.spec.labels import nested_models, settings_of
from mlcli.metrics.base import Summary
from mlcli.report.document import Notes, notes
from mlcli.report.largest_class import share_of_largest, stands_for_largest_class
from mlcli.report.numbers import fixed
from mlcli.report.scored import Names, Scored, judged, swept_over

ARROW = " → "
RATE_DECIMALS = 3
MOST_ALIKE = 3
"""How many remarks of one kind are shown: with 200 classes nobody reads one for each."""
FEWEST_FOLDS = 3
"""Below this, whether one fold stands apart cannot be said."""
Remark = TypeVar("Remark", bound=Hashable)


def remarks_on(scored: Sequence[Scored], names: Names) -> Notes:
    """Everything worth a note below the table of one dataset."""
    done = [one for one in scored if one.done]
    return notes(
        *_before(scored, names),
        *_shortcuts(done, names),
        *_on_scores(done, names),
        *_unstable(done, names),
        *_below_chance(done, names),
        *_warned(done, names),
    )


def remarks_in_short(scored: Sequence[Scored], names: Names) -> Notes:
    """What the scores are of, what they lack, and what was warned of."""
    done = [one for one in scored if one.done]
    parts = (_before(scored, names), _on_scores(done, names), _below_chance(done, names), _warned(done, names))
    return notes(*chain.from_iterable(parts))


def _before(scored: Sequence[Scored], names: Names) -> Iterator[str]:
    """The steps before models, and what was noted of cells when they were run."""
    noted = ((note, names[one]) for one in scored for note in one.result.notes)
    prepared = ((steps_of(one.cell), names[one]) for one in scored)
    yield from (f"steps before {who}: {steps}" for steps, who in _gathered(prepared, names))
    yield from (f"{who}: {note}" for note, who in _gathered(noted, names))


def _warned(done: Sequence[Scored], names: Names) -> Iterator[str]:
    gathered = _gathered(_warnings(done, names), names)
    alike: dict[tuple[str, str], list[str]] = {}
    for text, who in gathered:
        alike.setdefault((who, text.partition(": ")[0]), []).append(text)
    return chain.from_iterable(_in_short(f"warning from {who}", texts) for (who, _), texts in alike.items())


def steps_of(cell: Cell) -> str:
    """The steps of a cell in order, then those before the models inside its model; or nothing."""
    known = not cell.skipped and cell.model.use in MODELS and any(nested_models(cell.model.params))
    run = with_nested_steps(cell.model, cell.steps, cell.kind, cell.dataset.schema) if known else cell.model
    inside = (
        f"{ARROW.join(map(_step, one.steps))} in {one.start[:-1]}"
        for one in nested_models(run.params)
        if one.steps
    )
    return "; ".join(filter(None, (ARROW.join(map(_step, cell.steps)), *inside)))


def _step(step: StepSpec) -> str:
    settings = settings_of(step, STEPS)
    return f"{step.use} ({settings})" if settings else step.use


def _shortcuts(scored: Sequence[Scored], names: Names) -> Iterator[str]:
    """Which models were answered in closed form over all splits, and how."""
    routes = ((_route(one.result), names[one]) for one in scored)
    found = "; ".join(f"{who} ({route})" for route, who in _gathered(routes, names))
    if found:
        yield f"closed form over all splits (equal to refitting): {found}"


def _route(result: CellResult) -> str:
    counts = result.routes()
    if sum(counts.values()) == len(result.splits):
        return ", ".join(counts)
    return ", ".join(f"{route} in {count} of {len(result.splits)} splits" for route, count in counts.items())


def _on_scores(scored: Sequence[Scored], names: Names) -> Iterator[str]:
    """Why scores are undefined, and what is marked of the others; metrics of which the same is said together."""
    marks = (((summary.metric, text), names[one]) for one in scored for summary, text in _marks(one))
    together: dict[tuple[str, str], list[str]] = {}
    for (metric, text), who in _gathered(marks, names):
        together.setdefault((who, text), []).append(metric)
    alike: dict[str, list[str]] = {}
    for (who, text), metrics in together.items():
        alike.setdefault(f"{who}: {', '.join(metrics)}", []).append(text)
    for whose, texts in alike.items():
        yield from _in_short(whose, texts)


def _in_short(whose: str, texts: Sequence[str]) -> Iterator[str]:
    """The first of remarks that are alike, and how many more there are."""
    yield from (f"{whose}: {text}" for text in texts[:MOST_ALIKE])
    if len(texts) > MOST_ALIKE:
        yield f"{whose}: {len(texts) - MOST_ALIKE} more like these; --json has all of them"


def _unstable(scored: Iterable[Scored], names: Names) -> Iterator[str]:
    """Where the accuracies of folds do not agree, with what makes one say so."""
    from mlcli.metrics.stability import fold_stability

    for one in scored:
        if one.result.pooled or swept_over(one.result) or "accuracy" not in one.summaries:
            continue
        values = [value for value in one.summaries["accuracy"].splits if value is not None]
        rows = [len(split) for split in judged(one.result)]
        if len(values) < max(FEWEST_FOLDS, len(rows)):
            continue
        stability = fold_stability(values, rows)
        if stability.verdict != "consistent":
            yield f"{names[one]}: accuracy over the splits is not consistent: {stability.why}"


def _below_chance(scored: Iterable[Scored], names: Names) -> Iterator[str]:
    """A baseline that splits make look worse than it is, so that no gain over it is believed."""
    for one in scored:
        if stands_for_largest_class(one):
            largest = fixed(share_of_largest(one), RATE_DECIMALS)
            yield (
                f"{names[one]}: what is left out makes its own class rarer, so the most frequent class is another "
                f"one; judge gains by the share of the largest class, {largest}"
            )


def _marks(one: Scored) -> Iterator[tuple[Summary, str]]:
    for summary in one.summaries.values():
        for text in (summary.why,) if summary.mean is None else summary.marks:
            yield summary, text


def _warnings(scored: Iterable[Scored], names: Names) -> Iterator[tuple[str, str]]:
    for one in scored:
        splits = each(one.result.splits, "warnings")
        for text in dict.fromkeys(text for of_split in splits for text in of_split):
            count = sum(text in of_split for of_split in splits)
            yield (text if count == len(splits) else f"{text} ({count} of {len(splits)} splits)"), names[one]


def _gathered(remarks: Iterable[tuple[Remark, str]], names: Names) -> Iterator[tuple[Remark, str]]:
    """Each thing that is said, with everyone it holds for."""
    who: dict[Remark, dict[str, None]] = {}
    for text, name in remarks:
        if text:
            who.setdefault(text, {})[name] = None
    everyone = len(names) if len(names) > 1 else 0
    return ((text, "all models" if len(of) == everyone else ", ".join(of)) for text, of in who.items())
