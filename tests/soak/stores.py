"""Stores that are damaged: refused, or what is missing is run again and everything is as it was."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.soak.results import EXPERIMENT, same_scores, scores_of
from tests.soak.subject import answered

SOUND_OR_NOT = (0, 5, 6)
MOST_FLIPS = 20


@dataclass
class Stores:
    """Store files in which bytes are others, or that are cut short."""

    promise: str = (
        "A damaged store is refused (exit 6), or what is damaged in it is run again and every score is what it "
        "was; listing, checking and collecting it end in words."
    )

    def prepare(self, folder: Path) -> None:
        """A store, and the scores of its run."""
        (folder / "e.yaml").write_text(EXPERIMENT)
        answered(*_run(folder, "whole.db"), codes=(0,))

    def attempt(self, folder: Path, rng: Random) -> None:
        """Damage a copy."""
        content = bytearray((folder / "whole.db").read_bytes())
        for _ in range(rng.randint(1, MOST_FLIPS)):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        end = len(content) if rng.random() < 0.7 else rng.randrange(len(content))
        for left_over in folder.glob("damaged.db*"):
            left_over.unlink()
        (folder / "damaged.db").write_bytes(content[:end])
        self.hold(folder)

    def hold(self, folder: Path) -> None:
        """Whether the promise holds for a damaged store beside a whole one."""
        store = folder / "damaged.db"
        shutil.copy(store, folder / "damaged.db.kept")
        for words in (
            ("runs",),
            ("runs", "show", "1"),
            ("doctor",),
            ("runs", "verify", "1"),
            ("runs", "show", "1", "--json"),
        ):
            answered(*words, "--store", str(store), codes=(*SOUND_OR_NOT, 2, 8))
        again = answered(*_run(folder, "damaged.db"), "--json", codes=SOUND_OR_NOT)
        if again.exit_code == 0:
            whole = answered(*_run(folder, "whole.db"), "--json", codes=(0,))
            same_scores(scores_of(whole.stdout), scores_of(again.stdout))
        answered("runs", "gc", "--store", str(store), codes=SOUND_OR_NOT)


def _run(folder: Path, store: str) -> tuple[str, ...]:
    return "run", str(folder / "e.yaml"), "-j", "1", "--store", str(folder / store)
