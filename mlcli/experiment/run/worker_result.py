"""What a worker sends back: the answers of a block as bytes, ready to be stored, and the split that failed."""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.answers import Answers
from mlcli.experiment.run.judge import Failure, Outcome, judge
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.store.codec import decoded, encoded


@dataclass(frozen=True, eq=False)
class Parcel:
    """The outcome of the block that begins with split ``first``."""

    first: int
    payload: bytes
    failure: Failure | None
    is_empty: bool = False
    """Whether the block was to be answered at once and could not be."""

    def outcome(self, answers: type[Answers]) -> Outcome:
        """What came of the block."""
        return Outcome(decoded(self.payload, answers), self.failure)


def judged(block: Block) -> Parcel:
    """Judge a block where it lies, and encode the answers there too."""
    outcome = judge(block)
    given_up = not outcome.results and outcome.failure is None
    return Parcel(block.first, encoded(outcome.results), outcome.failure, given_up)
