"""Troubled: a method from a plugin that misbehaves as it is told, for the tests of those who run it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.tasks.supervised import Classifier, LabelledRows


def _refuse() -> None:
    raise FitError("these rows cannot be learned")


def _break_down() -> None:
    raise ZeroDivisionError("one over nothing")


def _warn() -> None:
    for _ in range(3):
        warnings.warn("stopped early", MlcliWarning, stacklevel=2)
    np.log(np.zeros(1))


def _kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_itself_once() -> None:
    """The first time; the log has two fits of that split afterwards."""
    mark = Path(f"{os.environ['TROUBLED_LOG']}.killed")
    if not mark.exists():
        mark.touch()
        _kill_itself()


def _print() -> None:
    sys.stdout.write("a remark of a method\n")
    os.write(1, b"a remark of compiled code\n")


def _become_two() -> None:
    os.fork()


def _leave_a_fork() -> None:
    """A process that outlives the worker, and notes who it is."""
    if not (process := os.fork()):
        time.sleep(3600.0)
    with Path(os.environ["TROUBLED_LOG"]).open("a") as log:
        log.write(f"forked {process}\n")


def _leave_a_fork_and_die() -> None:
    _leave_a_fork()
    _kill_itself()


def _interrupt_its_parent() -> None:
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(3600.0)


class _WordlessError(Exception):
    def __str__(self) -> str:
        raise ValueError


def _cannot_say_why() -> None:
    raise _WordlessError


def _break_what_answers_are_written_by() -> None:
    json.dumps = None  # type: ignore[assignment]


def _press_ctrl_c() -> None:
    raise KeyboardInterrupt


def _stop_generating() -> None:
    raise GeneratorExit


def _warn_in_half_a_character() -> None:
    warnings.warn("a lone surrogate: \ud83d", MlcliWarning, stacklevel=2)


def _refuse_in_half_a_character() -> None:
    raise FitError("a lone surrogate: \ud83d")


def _sleep_in_compiled_code() -> None:
    """Without letting go of the interpreter's lock, so that no signal handler and no other thread can run."""
    ctypes.PyDLL(None).sleep(3600)


def _take_memory() -> None:
    held = [np.ones(2_000_000) for _ in range(20)]
    time.sleep(3600.0 * len(held))


TROUBLES: dict[str, Callable[[], object]] = {
    "none": lambda: None,
    "refuses": _refuse,
    "breaks": _break_down,
    "warns": _warn,
    "stops generating": _stop_generating,
    "cannot say why": _cannot_say_why,
    "breaks its process": _break_what_answers_are_written_by,
    "presses Ctrl-C": _press_ctrl_c,
    "says half a character": _refuse_in_half_a_character,
    "warns in half a character": _warn_in_half_a_character,
    "leaves in silence": lambda: os._exit(0),
    "leaves": lambda: os._exit(3),
    "exits": lambda: exit(4),
    "killed": _kill_itself,
    "killed once": _kill_itself_once,
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "prints": _print,
    "two": _become_two,
    "leaves a fork": _leave_a_fork,
    "leaves a fork and dies": _leave_a_fork_and_die,
    "slow": lambda: time.sleep(0.1),
    "endless": lambda: time.sleep(3600.0),
    "endless in compiled code": _sleep_in_compiled_code,
    "hungry": _take_memory,
    "interrupted": _interrupt_its_parent,
}


ANSWERS: dict[str, Callable[[Array], Array]] = {
    "shares": lambda shares: shares,
    "too few rows": lambda shares: shares[:-1],
    "too many classes": lambda shares: np.hstack([shares, shares]),
    "one column": lambda shares: shares[:, 0],
    "not numbers": lambda shares: shares * np.nan,
    "beyond one": lambda shares: shares * 3,
    "words": lambda shares: shares.astype(str),
    "nothing": lambda shares: None,  # type: ignore[dict-item,return-value]
}
"""What it makes of the shares of classes that it should answer."""


@register("troubled", reference="none")
class Troubled(Classifier):
    """Answers at random (seeded); notes every fit in the file that TROUBLED_LOG names."""

    how: str = param("none", "what goes wrong", choices=tuple(TROUBLES))
    answers: str = param("shares", "what it answers", choices=tuple(ANSWERS))
    when: str = param("first-row-hidden", "in which splits", choices=("always", "first-row-hidden"))
    lines: int = param(1, "how much it has to say", ge=0)

    shares_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: no cell is read."""
        return Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Draw the class shares."""
        if "TROUBLED_LOG" in os.environ:
            with Path(os.environ["TROUBLED_LOG"]).open("a") as log:
                log.write(f"{self.how} {len(data)} {data.rows.sum()}\n")
        if self.when == "always" or 0 not in data.rows:
            TROUBLES[self.how]()
        self.shares_ = rng.dirichlet(np.ones(len(data.classes)))

    def predict_proba(self, table: Table) -> Array:
        """The shares that were drawn."""
        return ANSWERS[self.answers](np.tile(self.shares_, (len(table), 1)))

    def explain(self) -> Explanation:
        """As many lines as asked for."""
        return (findings.Lines("Shares", lines=tuple(f"line {i}" for i in range(self.lines))),)
