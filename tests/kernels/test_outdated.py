"""What Numba keeps of kernels is forgotten when any of their files changes, and only then."""

from __future__ import annotations

from pathlib import Path

from mlcli.kernels import forget_outdated


def test_compiled_code_is_forgotten_when_a_file_changes(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text("from callee import f\n")
    (tmp_path / "callee.py").write_text("def f(): return 1\n")
    forget_outdated(tmp_path)
    index = tmp_path / "__pycache__" / "caller.f-1.py311.nbi"
    index.write_text("compiled")
    forget_outdated(tmp_path)
    assert index.exists()
    (tmp_path / "callee.py").write_text("def f(): return 22\n")
    forget_outdated(tmp_path)
    assert not index.exists()


def test_files_in_folders_count_and_so_does_what_is_kept_there(tmp_path: Path) -> None:
    inner = tmp_path / "trees"
    inner.mkdir()
    (inner / "growing.py").write_text("def f(): return 1\n")
    forget_outdated(tmp_path)
    index = inner / "__pycache__" / "growing.f-1.py311.nbi"
    index.parent.mkdir()
    index.write_text("compiled")
    forget_outdated(tmp_path)
    assert index.exists()
    (inner / "growing.py").write_text("def f(): return 22\n")
    forget_outdated(tmp_path)
    assert not index.exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("not a folder")
    forget_outdated(tmp_path)
    assert (tmp_path / "__pycache__").read_text() == "not a folder"
