"""The datasets that come with mlcli, and which file a reference means: a shipped name, or a path."""

from __future__ import annotations

import re
from glob import escape, glob, has_magic
from os.path import exists, expanduser, isdir, isfile, join
from pathlib import Path

from mlcli.core.errors import DataError
from mlcli.core.names import did_you_mean, listed, nearest, other_names
from mlcli.core.registry import MODELS

FILE_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet")
OTHER_FILES = {
    **dict.fromkeys((".yaml", ".yml"), "an experiment is run with: mlcli run {}"),
    ".mlcli": "evaluate a saved model with: mlcli eval DATA -m {}",
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), "save the sheet as CSV"),
    **dict.fromkeys(
        (".json", ".arff", ".pkl", ".feather", ".sav", ".dta"), "convert it to CSV, with a line of names"
    ),
}
"""By suffix, what to do with files that are not tables."""
DASHES = ("–", "—", "−")


def find(reference: str, base: Path | None = None) -> Path:
    """The CSV file that a reference means; relative paths begin at ``base``, or where the user is."""
    if not reference.strip():
        hint = "give the name of a shipped dataset, or the path of a CSV file"
        raise DataError("no dataset is named", hint=hint)
    path = Path(expanduser(reference))
    path = base / path if base is not None else path
    if path.suffix.lower() in OTHER_FILES:
        raise DataError(f"'{reference}' is no table", hint=OTHER_FILES[path.suffix.lower()].format(reference))
    if isfile(path):
        return path
    if reference == "-" or (exists(path) and not isdir(path)):
        hint = "save it as a file first: ... > my.csv; mlcli predict alone reads standard input, as -"
        raise DataError(f"'{reference}' is a stream, which can be read only once", hint=hint)
    shipped = None if is_path(reference) else shipped_path(reference)
    if shipped is not None:
        return shipped
    if isdir(path):
        raise DataError(f"'{reference}' is a folder, not a CSV file", hint=_files_hint(path))
    what = f"there is no {'file' if is_path(reference) else 'dataset'} '{reference}'"
    raise DataError(what, hint=_other_word_hint(reference) or _near_file_hint(path, reference))


def table_files(reference: str, base: Path | None = None) -> list[str]:
    """The tables of a folder, or of a pattern such as ``data/*.csv``; anything else stands for itself.

    A text file of a folder is seldom a table; a pattern takes it.
    """
    pattern = expanduser(reference)
    path = (base or Path()) / pattern
    if not reference.strip() or "\0" in reference:
        return [reference]
    suffixes: tuple[str, ...] = FILE_SUFFIXES
    if isdir(path) and (is_path(reference) or shipped_path(reference) is None):
        pattern = join(escape(pattern), "*")
        suffixes = tuple(suffix for suffix in FILE_SUFFIXES if not suffix.startswith(".txt"))
    elif exists(path) or not has_magic(pattern):
        return [reference]
    files = sorted(glob(pattern, root_dir=base, recursive=True))
    return [file for file in files if file.lower().endswith(suffixes)] or [reference]


def find_or_none(reference: str) -> Path | None:
    """The file that a reference means, or None if there is none."""
    try:
        return find(reference)
    except DataError:
        return None


def is_path(reference: str) -> bool:
    """Whether a reference is written as a path rather than as the name of a shipped dataset."""
    return "/" in reference or "\\" in reference or reference.lower().endswith(FILE_SUFFIXES)


def _other_word_hint(reference: str) -> str | None:
    """What to do with a word of the command line that is not a dataset but something else."""
    model = next((name for name in (reference, *other_names(reference)) if name in MODELS), None)
    if model is not None:
        return f"'{reference}' is a model: say -m {model}"
    if re.fullmatch(r"\w+=\S*", reference):
        return f"a parameter of a model: say -p {reference}"
    if reference.startswith(DASHES):
        return f"options begin with plain hyphens: --{reference.lstrip(''.join((*DASHES, '-')))}"
    if re.match(r"(https?|ftp|s3)://", reference):
        return f"fetch it first: curl -O {reference}"
    return None


def _near_file_hint(path: Path, reference: str) -> str:
    """A shipped dataset that may be meant, or the nearest file of the folder, or what there is."""
    shipped = shipped_path(Path(reference).stem)
    if shipped is not None:
        return f"'{shipped.stem}' is a shipped dataset: give its name alone"
    if not isdir(path.parent):
        return f"there is no folder {path.parent}"
    by_stem = {Path(file).stem: file for file in _tables_in(path.parent)}
    close = nearest(path.stem, by_stem) or next((stem for stem in by_stem if f"{stem}csv" == path.name), None)
    if close is not None:
        return f"did you mean '{path.parent / by_stem[close]}'?"
    if is_path(reference):
        return _files_hint(path.parent)
    return did_you_mean(reference, shipped_paths(), "shipped datasets")


def _tables_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.lower().endswith(FILE_SUFFIXES))


def _files_hint(folder: Path) -> str:
    files = _tables_in(folder)
    return f"the folder holds {listed(files) if files else 'no .csv, .tsv, .txt or .parquet file'}"


def datasets_folder() -> Path:
    """The folder of the shipped datasets: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def shipped_paths() -> dict[str, Path]:
    """The CSV file of each shipped dataset, by name."""
    return {path.stem: path for path in sorted(datasets_folder().glob("*.csv"))}


def shipped() -> dict[str, str]:
    """The shipped datasets with one line each, from their sidecars."""
    from mlcli.core.strict_yaml import read  # yaml is slow to import

    summaries = {}
    for name, path in shipped_paths().items():
        sidecar = path.with_suffix(".yaml")
        summaries[name] = str(read(sidecar, DataError).value.get("summary", "")) if sidecar.is_file() else ""
    return summaries


def shipped_path(name: str) -> Path | None:
    """The CSV file of a shipped dataset; hyphens, underscores and capitals do not matter."""

    def plain(text: str) -> str:
        return text.lower().replace("-", "_").replace(" ", "_")

    return {plain(known): path for known, path in shipped_paths().items()}.get(plain(name))
