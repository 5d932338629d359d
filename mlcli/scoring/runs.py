"""Stored runs as records: listed, in shards, verified, and run again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlcli import __version__
from mlcli.core.names import counted
from mlcli.core.serialise import shown
from mlcli.experiment.results import each
from mlcli.experiment.run.reproduction import answers_digest, is_other_hardware
from mlcli.experiment.store.housekeeping import Freed
from mlcli.experiment.store.runs import RunFacts
from mlcli.experiment.store.transfer import Carried
from mlcli.scoring.model_results import ModelResult

if TYPE_CHECKING:
    from mlcli.experiment.run.reproduction import RepeatedCell

NOT_KEPT = "nothing was kept to compare with"
SCORES, VERSIONS = "scores", "versions"
"""Under which names a run keeps what it showed, and by which versions."""
ENDS = ("mean", "low", "high")
ROUNDING = 1e-12


@dataclass(frozen=True)
class RunsRecord:
    """The runs in a store."""

    runs: tuple[RunFacts, ...]


@dataclass(frozen=True)
class RemovedRecord:
    """The runs that were removed."""

    removed: tuple[int, ...]


@dataclass(frozen=True)
class HousekeepingRecord:
    """What was removed from a store, or brought to it."""

    version: str
    done: Freed | Carried = field(metadata=shown(merged=True))


@dataclass(frozen=True)
class ShardCellRecord:
    """How a cell of a shard ended."""

    dataset: str
    model: str
    protocol: str
    status: str
    why: str
    seconds: float


@dataclass(frozen=True)
class ShardRecord:
    """A shard of an experiment that was run: some of all its cells, kept in a store."""

    title: str
    shard: str
    cells_of_all: int
    store: Path
    cells: tuple[ShardCellRecord, ...]


@dataclass(frozen=True)
class ShardsRecord:
    """The shards that were run."""

    version: str
    shards: tuple[ShardRecord, ...]


def shard_record(title: str, shard: str, cells: int, results: Sequence[ModelResult], store: Path) -> ShardRecord:
    """A shard with how each of its cells ended."""
    ended = tuple(
        ShardCellRecord(
            result.cell.dataset.name,
            result.cell.label,
            result.cell.protocol.use,
            result.status,
            result.cell_result.why,
            float(sum(each(result.splits, "seconds"))),
        )
        for result in results
    )
    return ShardRecord(title, shard, cells, store, ended)


@dataclass(frozen=True)
class VerifiedCell:
    """A cell of a run: how many scores were made again, and what differs from what was shown."""

    dataset: str
    model: str
    scores: int
    digest: str
    faults: tuple[str, ...]


def scores_to_keep(model_result: ModelResult) -> dict[str, Any]:
    """What a run keeps of a cell: the digest of its answers, and every score as it is shown."""
    metrics = {name: [getattr(summary, end) for end in ENDS] for name, summary in model_result.summaries.items()}
    return {"digest": answers_digest(model_result.splits), "metrics": metrics}


def verified_cells(
    cells: Sequence[ModelResult], kept_scores: Sequence[Mapping[str, Any]] | None
) -> list[VerifiedCell]:
    """Each cell beside what was kept of it when it was run."""
    beside = kept_scores if kept_scores is not None and len(kept_scores) == len(cells) else [None] * len(cells)
    return [_verified_cell(cell, was) for cell, was in zip(cells, beside, strict=True)]


def _verified_cell(model_result: ModelResult, was: Mapping[str, Any] | None) -> VerifiedCell:
    cell, now = model_result.cell, scores_to_keep(model_result)
    faults = [model_result.cell_result.damage] if model_result.cell_result.damage else []
    if was is None:
        faults += [NOT_KEPT] if model_result.done else []
    else:
        faults += ["the answers are not those that were stored"] if was["digest"] != now["digest"] else []
        faults += _differing_scores(was["metrics"], now["metrics"])
    return VerifiedCell(cell.dataset.name, cell.label, len(now["metrics"]), now["digest"], tuple(faults))


def _differing_scores(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Each score that was shown and is another now."""
    for name, ends in was.items():
        if name not in now:
            yield f"{name} is not known any more"
            continue
        for end, before, after in zip(ENDS, ends, now[name], strict=True):
            if not _is_equal(before, after):
                yield f"{name} {end}: shown as {_score_text(before)}, now {_score_text(after)}"


def _is_equal(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return before == after or math.isclose(before, after, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _score_text(score: float | None) -> str:
    return "nothing" if score is None else f"{score:.10g}"


@dataclass(frozen=True)
class VerificationRecord:
    """A run whose scores were computed again from its stored predictions."""

    version: str
    run: int
    verified: bool
    cells: tuple[VerifiedCell, ...]


@dataclass(frozen=True)
class VersionsRecord:
    """The versions that made a run, and those of now."""

    then: Mapping[str, str] | None
    now: Mapping[str, str]


@dataclass(frozen=True)
class RepeatedCellRecord:
    """A cell that was run again, with the digests of its predictions."""

    dataset: str
    model: str
    then: str
    now: str | None
    same: bool
    agrees: bool
    why: tuple[str, ...] = field(metadata=shown(optional=True))


@dataclass(frozen=True)
class RerunRecord:
    """A run that was run again."""

    version: str
    run: int
    same: bool
    agrees: bool
    versions: VersionsRecord
    cells: tuple[RepeatedCellRecord, ...]


def verification_record(run: RunFacts, cells: Sequence[VerifiedCell]) -> VerificationRecord:
    """What ``--json`` writes of a verified run."""
    return VerificationRecord(__version__, run.id, not any(cell.faults for cell in cells), tuple(cells))


def rerun_record(
    run: RunFacts, cells: Sequence[RepeatedCell], was: Mapping[str, str] | None, now: Mapping[str, str]
) -> RerunRecord:
    """What ``--json`` writes of a run that was run again."""
    records = tuple(
        RepeatedCellRecord(
            cell.before.cell.dataset.name,
            cell.before.cell.label,
            *digests_of(cell),
            cell.same,
            agrees(cell, was, now),
            tuple(differences_between(cell)),
        )
        for cell in cells
    )
    same, agree = all(record.same for record in records), all(record.agrees for record in records)
    return RerunRecord(__version__, run.id, same, agree, VersionsRecord(was or None, now), records)


def agrees(repeated: RepeatedCell, was: Mapping[str, str] | None, now: Mapping[str, str]) -> bool:
    """Whether a cell came out as it was: to the bit, or closely where the hardware is another."""
    return repeated.close if is_other_hardware(was, now) else repeated.same


def digests_of(repeated: RepeatedCell) -> tuple[str, str | None]:
    """The digests of the predictions then and now."""
    after = repeated.after
    return answers_digest(repeated.before.splits), answers_digest(after.splits) if after else None


def differences_between(repeated: RepeatedCell) -> Iterator[str]:
    """How a cell that was run again differs, in words; nothing where it does not."""
    if repeated.same:
        return
    who = f"{repeated.before.cell.dataset.name}, {repeated.before.cell.label}"
    if repeated.after is not None and repeated.after.status != repeated.before.status:
        yield f"{who}: {repeated.before.status} then, {repeated.after.status} now {repeated.after.why}".rstrip()
    if repeated.difference is not None:
        far = (
            ""
            if math.isnan(repeated.difference.furthest)
            else f", numbers by up to {repeated.difference.furthest:.2g}"
        )
        yield f"{who}: {counted(repeated.difference.splits, 'split')} answered otherwise{far}"
    if repeated.why:
        yield f"{who}: {repeated.why}"
