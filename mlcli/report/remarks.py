"""What must be known to read a table: steps, undefined scores, marks and warnings, each said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlcli.experiment.cells import Cell, StepSpec
from mlcli.experiment.labels import said
from mlcli.report.document import Notes, notes
from mlcli.report.scored import Scored

ARROW = " → "


def remarks_on(scored: Sequence[Scored], names: Mapping[Scored, str]) -> Notes:
    """Everything worth a note below the table of one dataset."""
    done = [one for one in scored if one.done]
    return notes(
        *_gathered("steps before {}: {}", ((steps_of(one.result.cell), names[one]) for one in scored)),
        *_gathered("{}: {}", _on_scores(done, names)),
        *_gathered("warning from {}: {}", _warnings(done, names)),
    )


def steps_of(cell: Cell) -> str:
    """The steps of a cell in order, or nothing."""
    return ARROW.join(map(_step, cell.steps))


def settings_of(asked: Cell | StepSpec) -> str:
    """The parameters of a cell's model, or of a step."""
    params = asked.model.params if isinstance(asked, Cell) else asked.params
    return ", ".join(f"{name}={said(value)}" for name, value in params.items())


def _step(step: StepSpec) -> str:
    settings = settings_of(step)
    return f"{step.use} ({settings})" if settings else step.use


def _on_scores(scored: Iterable[Scored], names: Mapping[Scored, str]) -> Iterator[tuple[str, str]]:
    """Why scores are undefined, and what is marked of the others."""
    for one in scored:
        for summary in one.summaries.values():
            for text in (summary.why,) if summary.mean is None else summary.marks:
                yield f"{summary.metric}: {text}", names[one]


def _warnings(scored: Iterable[Scored], names: Mapping[Scored, str]) -> Iterator[tuple[str, str]]:
    for one in scored:
        splits = one.result.splits
        for text in dict.fromkeys(text for split in splits for text in split.warnings):
            count = sum(text in split.warnings for split in splits)
            yield (text if count == len(splits) else f"{text} ({count} of {len(splits)} splits)"), names[one]


def _gathered(form: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """One sentence per text, naming everyone it holds for."""
    who: dict[str, dict[str, None]] = {}
    for text, name in pairs:
        if text:
            who.setdefault(text, {})[name] = None
    return (form.format(", ".join(names), text) for text, names in who.items())
