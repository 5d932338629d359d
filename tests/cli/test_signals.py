"""Ctrl-C and SIGTERM end a command in words, whenever they come; a second one ends it at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

LONG_ENOUGH = 60.0
IMPORTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.{sent})
sys.meta_path.insert(0, Interrupting())
from mlcli.cli.main import main
sys.argv = ["mlcli", "eval", "iris", "-m", "one-r"]
main()
"""
STUBBORN = """
import os, signal
from mlcli.cli.main import interruptible
with interruptible():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        os.kill(os.getpid(), signal.{sent})
        print("still here")
"""
BY_SIGNAL = {"SIGINT": 130, "SIGTERM": 143}


def ended(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=LONG_ENOUGH
    )


@pytest.mark.parametrize("sent", BY_SIGNAL)
@pytest.mark.parametrize("name", ["mlcli.core.processes", "mlcli.cli.eval", "numpy", "mlcli.experiment.run.batch"])
def test_a_signal_during_imports_is_answered_in_words(name: str, sent: str) -> None:
    done = ended(IMPORTING.format(name=name, sent=sent))
    assert (done.returncode, done.stdout) == (BY_SIGNAL[sent], "")
    assert done.stderr == "\nInterrupted.\n"


@pytest.mark.parametrize("sent", BY_SIGNAL)
def test_a_second_signal_ends_it_at_once(sent: str) -> None:
    done = ended(STUBBORN.format(sent=sent))
    assert (done.returncode, done.stdout) == (-getattr(signal, sent), "")


def test_a_signal_that_meets_the_making_of_a_dataclass_is_no_other(tmp_path: Path) -> None:
    made = "exec('os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass')"
    head = "import os, signal\nfrom mlcli.cli.main import interruptible\nwith interruptible():\n    "
    (tmp_path / "met.py").write_text(head + made)
    done = subprocess.run([sys.executable, "-m", "met"], cwd=tmp_path, timeout=LONG_ENOUGH, check=False)
    assert done.returncode == BY_SIGNAL["SIGTERM"]


@pytest.mark.parametrize("sent", BY_SIGNAL)
def test_what_is_finished_stays_and_the_way_on_is_named(tmp_path: Path, sent: str) -> None:
    code = f"""
import os, signal
from mlcli.experiment.run import batch
whole = batch.evaluate
def evaluate(block):
    os.kill(os.getpid(), signal.{sent})
    return whole(block)
batch.evaluate = evaluate
import sys
from mlcli.cli.main import main
sys.argv = ["mlcli", "eval", "iris", "-m", "one-r", "--store", "{tmp_path / "runs.db"}"]
main()
"""
    done = ended(code)
    assert done.returncode == BY_SIGNAL[sent]
    assert done.stderr.startswith("\nInterrupted.\n")
    assert "the same command does only the rest" in done.stderr
    assert "Traceback" not in done.stderr
