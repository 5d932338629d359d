"""Files are whole or not there: a failure half-way leaves the old one, and nothing beside it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mlcli.core.processes import replacing


def test_a_body_that_fails_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as beside, beside.open("w") as file:
        file.writelines(["half", None])  # type: ignore[list-item]
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "out.csv", tmp_path / "link"
    link.symlink_to(file)
    with replacing(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_pipe_is_written_to_as_it_is() -> None:
    out, into = os.pipe()
    with replacing(Path(f"/dev/fd/{into}")) as place:
        place.write_text("new")
    os.close(into)
    with open(out, encoding="utf-8") as read:
        assert read.read() == "new"


def test_what_cannot_be_written_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    for path in (tmp_path / "no folder" / "out.csv", tmp_path):
        with pytest.raises(OSError, match="directory") as problem, replacing(path) as beside:
            beside.write_text("new")
        assert problem.value.filename in (path, str(path))


def test_a_read_only_disk_is_told_by_the_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a disk refuses to remove a file, too, even one that is not there."""

    def refused(path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "touch", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(OSError, match="Read-only") as found, replacing(tmp_path / "page.html"):
        pass
    assert found.value.filename == str(tmp_path / "page.html")
