"""The whole report of an experiment: what holds over datasets, each dataset, how it was made, how to cite it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.core.findings import Finding, Lines, Table
from mlcli.core.groups import SIMILARITY
from mlcli.core.names import counted
from mlcli.core.registry import MODELS
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.reproduction import (
    SHOWN,
    dataset_as_it_was,
    refuse_missing_plugins,
    versions_and_hardware,
)
from mlcli.experiment.spec.cells import Cell
from mlcli.report.document import (
    Content,
    Document,
    Element,
    Heading,
    Preformatted,
    Sentence,
    explained,
    grid,
    notes,
    strong,
)
from mlcli.report.views.comparison import pairs_of
from mlcli.report.views.inspection import cluster_planes, inspection_of, rows_described
from mlcli.report.views.kinds.classification import probability_pictures
from mlcli.report.views.plan import protocol_words
from mlcli.report.views.results import Details, models_to_draw, over_datasets, results_of_group
from mlcli.scoring.comparison import compared_models
from mlcli.scoring.differences import best_in
from mlcli.scoring.model_results import Group, ModelResult, first_cell, groups_of, subgroup
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.experiment.store.runs import RunFacts

LONGEST_TABLE = 30
"""Rows of a table that a model says of itself."""
CITATION = f"""@software{{mlcli,
  title = {{mlcli: the command-line experiment runner for machine learning on tables}},
  version = {{{__version__}}},
}}"""
FOUND = ("source", "licence", "citation")
"""What is told of where data come from."""


@dataclass(frozen=True)
class Provenance:
    """How results were made."""

    how: str
    """The command, or the file of the experiment."""
    started: str = ""
    source: Path | None = None
    """The experiment file."""
    spec: str = ""
    """The text of the experiment file, as it stands now."""
    versions: Mapping[str, str] | None = None
    """Those of now, where nothing else is known."""
    plugins: Sequence[str] = ()
    """The files of the user's own methods."""


def provenance_of_file(path: Path, **known: Any) -> Provenance:
    """The making of an experiment file."""
    spec = path.read_text(encoding="utf-8") if path.is_file() else ""
    return Provenance(f"mlcli run {path.name}", source=path, spec=spec, **known)


def provenance_of_run(
    facts: RunFacts, kept_versions: Mapping[str, str] | None, plugins: Sequence[str]
) -> Provenance:
    """The making of a stored run, with the versions and plug-ins that were kept of it."""
    started = facts.started.replace("T", " ").replace("+00:00", " UTC")
    known: dict[str, Any] = {"started": started, "versions": kept_versions, "plugins": plugins}
    if facts.source is not None:
        return provenance_of_file(Path(facts.source), **known)
    return Provenance(f"mlcli {facts.title}, run {facts.id} of its store", **known)


def report_of(cells: Sequence[ModelResult], provenance: Provenance, similarity: float = SIMILARITY) -> Document:
    """Everything that is known of the results."""
    return tuple(_elements(cells, provenance, similarity))


def _elements(cells: Sequence[ModelResult], provenance: Provenance, similarity: float) -> Iterator[Element]:
    groups = groups_of(cells)
    if len(groups) > 1:
        yield from over_datasets(cells)
    for group in groups:
        yield from _results(group, similarity)
        yield from _probabilities(group)
        yield from _pictures(group)
        yield from _inspection(group, provenance.plugins)
        yield from _comparison(group)
        yield from _model_findings(group)
    yield from _provenance(cells, provenance)
    yield from _citations(cells)


def _results(group: Group, similarity: float) -> Iterator[Element]:
    """The results of one dataset, the verdict first."""
    sensitive = any(column.sensitive for column in first_cell(group).dataset.schema.features())
    details = Details(fair=sensitive, spread=True, similarity=similarity)
    yield from results_of_group(group, details, verdict_first=True)


def _probabilities(group: Group) -> Iterator[Element]:
    """Curves of all models on one plane where there are two classes, else those of the best."""
    models = subgroup(group, [result for result in group if not result.is_baseline])
    target = first_cell(group).dataset.schema.the("target")
    several = target is not None and len(target.levels) == 2
    best = best_in(models)
    yield from probability_pictures(models if several or best is None else subgroup(models, [best]))


def _pictures(group: Group) -> Iterator[Element]:
    picture_at = kind_named(first_cell(group).kind).picture_of_report_at
    if picture_at and (drawn := models_to_draw(group)):
        yield from named(picture_at)(drawn)


def _inspection(group: Group, plugins: Sequence[str]) -> Iterator[Element]:
    """What the best model does with the columns, where the data are still there."""
    if not (best := best_in(models_to_draw(group))):
        return
    name, cell = group[best], best.cell
    try:
        refuse_missing_plugins([best.cell_result], plugins)
        data = cell.dataset if isinstance(cell.dataset, Dataset) else dataset_as_it_was(cell)
    except UsageError as error:
        data = f"{error.problems[0].what}; {error.problems[0].hint}"
    if isinstance(data, str):
        yield notes(f"left out, since {data}: importances and partial dependence of {name}")
        return
    for shown in (inspection_of, cluster_planes, rows_described):
        yield from explained(shown(best, name, data))


def _comparison(group: Group) -> Iterator[Element]:
    compared = compared_models(group)
    if compared is not None and len(compared.pairs) > 1:
        yield Heading(f"Pairs of models by {compared.metric.name}")
        yield from pairs_of(compared)


def _model_findings(group: Group) -> Iterator[Element]:
    """What models say of themselves, as learned in the first split: of the best all, of the others pictures."""
    best = best_in(group)
    for result, name in group.items():
        told = result.splits[0].explanation if result.done and len(result.splits) else ()
        for finding in (each for each in told if _is_shown(each, result is best)):
            title = f"{name}: {finding.title}" if finding.title else name
            yield from explained([replace(finding, title=title)])


def _is_shown(finding: Finding, best: bool) -> bool:
    if isinstance(finding, Table):
        return best and len(finding.rows) <= LONGEST_TABLE
    return best or not isinstance(finding, Lines)


def _provenance(results: Sequence[ModelResult], provenance: Provenance) -> Iterator[Element]:
    yield Heading("How it was made", 1)
    cells = [result.cell for result in results]
    used = provenance.versions if provenance.versions is not None else versions_and_hardware()
    facts = {
        "command": provenance.how,
        "started": provenance.started,
        "seed": ", ".join(dict.fromkeys(str(cell.seed) for cell in cells)),
        "protocol": "; ".join(dict.fromkeys(map(protocol_words, cells))),
        "versions": ", ".join(f"{name} {version}" for name, version in used.items()),
        "plug-ins": ", ".join(provenance.plugins),
    }
    yield grid(["", ""], [[strong(name), value] for name, value in facts.items() if value])
    once = list({cell.dataset.content: cell for cell in reversed(cells)}.values())[::-1]
    yield Heading("Data")
    yield grid(["dataset", "rows", "SHA-256 of its content", "from"], map(_dataset_cells, once), right=(1,))
    if provenance.spec:
        yield Heading("Experiment file")
        yield Preformatted(tuple(provenance.spec.splitlines()))


def _dataset_cells(cell: Cell) -> list[Content]:
    data = cell.dataset
    about = data.about if isinstance(data, Dataset) else {}
    known = [str(about[key]) for key in FOUND if about.get(key)]
    known += [data.recipe.options] if data.recipe and data.recipe.options else []
    return [strong(data.name), f"{len(data):,}", data.content[:SHOWN], "; ".join(known)]


def _citations(cells: Sequence[ModelResult]) -> Iterator[Element]:
    uses = dict.fromkeys(cell.cell.model.use for cell in cells if cell.cell.model.is_installed)
    known = [(use, str(getattr(MODELS.load(use), "reference", ""))) for use in uses]
    yield Heading("How to cite", 1)
    yield Sentence(f"{counted(len(known), 'method')}, as published:")
    yield notes(*(f"{use}: {reference}" for use, reference in known if reference))
    yield Preformatted(tuple(CITATION.splitlines()))
