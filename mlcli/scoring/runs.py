"""Stored runs as records: listed, in shards, verified, and run again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

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

SCORES, VERSIONS = "scores", "versions"
"""Under which names a run keeps what it showed, and by which versions."""


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
    """A cell of a run: how many scores were computed again, and what differs from what was shown."""

    dataset: str
    model: str
    scores: int
    digest: str
    faults: tuple[str, ...]


class KeptScores(TypedDict):
    """What a run keeps of a cell."""

    digest: str
    metrics: dict[str, list[float | None]]


def scores_to_keep(result: ModelResult) -> KeptScores:
    """The digest of the predictions, and every score as it is shown."""
    metrics = {name: [summary.mean, summary.low, summary.high] for name, summary in result.summaries.items()}
    return {"digest": answers_digest(result.splits), "metrics": metrics}


def verified_cells(results: Sequence[ModelResult], kept: Sequence[KeptScores] | None) -> list[VerifiedCell]:
    """Each result beside what was kept of it when it was run."""
    beside: Sequence[KeptScores | None] = [None] * len(results)
    if kept is not None and len(kept) == len(results):
        beside = kept
    cells: list[VerifiedCell] = []
    for result, before in zip(results, beside, strict=True):
        now = scores_to_keep(result)
        faults = [result.cell_result.damage] if result.cell_result.damage else []
        if before is not None:
            if before["digest"] != now["digest"]:
                faults.append("the answers are not those that were stored")
            faults += _differing_scores(before, now)
        elif result.done:
            faults.append("nothing was kept to compare with")
        cell = result.cell
        scores = len(now["metrics"])
        cells.append(VerifiedCell(cell.dataset.name, cell.label, scores, now["digest"], tuple(faults)))
    return cells


def _differing_scores(before: KeptScores, now: KeptScores) -> Iterator[str]:
    """Each score that was shown and is another now."""

    def text(score: float | None) -> str:
        return "nothing" if score is None else f"{score:.10g}"

    for name, ends in before["metrics"].items():
        if name not in now["metrics"]:
            yield f"{name} is not known any more"
            continue
        for end, old, new in zip(("mean", "low", "high"), ends, now["metrics"][name], strict=True):
            if old is None or new is None:
                is_equal = old is new
            else:  # rounding aside
                is_equal = old == new or math.isclose(old, new, rel_tol=1e-12, abs_tol=1e-12)
            if not is_equal:
                yield f"{name} {end}: shown as {text(old)}, now {text(new)}"


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
    before, after, difference = repeated.before, repeated.after, repeated.difference
    who = f"{before.cell.dataset.name}, {before.cell.label}"
    if after is not None and after.status != before.status:
        yield f"{who}: {before.status} then, {after.status} now {after.why}".rstrip()
    if difference is not None:
        is_known = not math.isnan(difference.furthest)
        furthest = f", numbers by up to {difference.furthest:.2g}" if is_known else ""
        yield f"{who}: {counted(difference.splits, 'split')} answered otherwise{furthest}"
    if repeated.why:
        yield f"{who}: {repeated.why}"
