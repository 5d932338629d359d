"""Streams that are closed or full, and files of a size that no memory holds: words and the right exit code."""

from __future__ import annotations

import fcntl
import json
import resource
import signal
import subprocess
import sys
import termios
from pathlib import Path
from time import sleep

import pytest

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")
PIPE = 65_536
MOST_MEMORY = 4 * 2**30
HUGE = 30 * 2**30
ONE_ARRAY = b'{"a":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}'
REST = HUGE - 8 - len(ONE_ARRAY % (HUGE, HUGE))
ABOUT = ONE_ARRAY % (REST, REST)
START_OF_A_HUGE_ONE = len(ABOUT).to_bytes(8, "little") + ABOUT
EVAL = "eval iris -m one-r"


def ended(shell: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which mlcli is a command, with little memory."""
    line = shell.replace("mlcli ", f"{sys.executable} -m mlcli ")
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY)),
    )


def test_a_closed_stdout_is_said_and_nothing_else_is_written_into_its_place(tmp_path: Path) -> None:
    done = ended(f"mlcli {EVAL} --store runs.db >&-", tmp_path)
    assert (done.returncode, done.stderr) == (6, "Error: stdout is closed, so that no result could be shown\n")


def test_a_closed_stderr_costs_remarks_only(tmp_path: Path) -> None:
    done = ended(f"mlcli {EVAL} --store runs.db 2>&-", tmp_path)
    assert done.returncode == 0
    assert "one-r" in done.stdout
    assert ended("mlcli eval nothing 2>&-", tmp_path).returncode == 4


def test_all_streams_closed_still_end_with_the_right_code(tmp_path: Path) -> None:
    assert ended(f"mlcli {EVAL} <&- >&- 2>&-", tmp_path).returncode == 6


def test_a_full_device_is_the_disks_matter(tmp_path: Path) -> None:
    assert FULL.exists()
    done = ended(f"mlcli {EVAL} > {FULL}", tmp_path)
    assert (done.returncode, done.stderr) == (6, "Error: standard output: No space left on device\n")
    assert ended(f"mlcli eval nothing 2> {FULL}", tmp_path).returncode == 4


def test_an_experiment_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A limit on sizes of files stands for a full disk."""
    done = ended("ulimit -f 0; mlcli init iris", tmp_path)
    assert done.returncode == 6
    assert done.stderr == "Error: .mlcli/experiment.schema.json: cannot be written: File too large\n"
    assert not (tmp_path / "experiment.yaml").exists()


@pytest.mark.parametrize(
    "start",
    [(HUGE - 100).to_bytes(8, "little") + b'{"', START_OF_A_HUGE_ONE],
    ids=["a text of 30 GB", "as it says"],
)
def test_a_huge_file_that_is_no_model_is_refused_before_it_is_read(tmp_path: Path, start: bytes) -> None:
    with (tmp_path / "huge.bin").open("wb") as file:
        file.write(start)
        file.truncate(HUGE)
    done = ended("mlcli predict huge.bin iris", tmp_path)
    assert done.returncode == 7
    assert ("is larger than the memory" if start == START_OF_A_HUGE_ONE else "is not a model") in done.stderr


def test_a_command_that_is_stopped_while_it_prints_goes_on_where_it_was() -> None:
    with subprocess.Popen([sys.executable, "-u", "-m", "mlcli", "schema"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        waiting = bytearray(4)
        while int.from_bytes(waiting, sys.byteorder) < PIPE:
            sleep(0.01)
            fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            process.send_signal(number)
        json.loads(process.stdout.read())


def test_a_folder_that_is_not_there_is_said_before_anything_is_learned(tmp_path: Path) -> None:
    done = ended("mlcli train iris -m one-r -o new/m.mlcli", tmp_path)
    assert (done.returncode, done.stdout) == (6, "")
    assert "mkdir -p new" in done.stderr
