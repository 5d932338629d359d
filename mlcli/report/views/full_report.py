"""The whole report of an experiment: models over datasets, each dataset, how it was made, how to cite it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.core.findings import Lines, Table
from mlcli.core.names import counted
from mlcli.core.registry import MODELS
from mlcli.core.rows import SIMILARITY
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
from mlcli.report.views.classification import probability_pictures
from mlcli.report.views.comparison import pairs_of
from mlcli.report.views.plan import protocol_words
from mlcli.report.views.results import Details, models_to_draw, over_datasets, results_of_group
from mlcli.scoring.clusters import cluster_planes
from mlcli.scoring.comparison import compared_models
from mlcli.scoring.differences import best_in
from mlcli.scoring.importance import inspection_of, trained_rows_of
from mlcli.scoring.model_results import Group, ModelResult, first_cell, groups_of, subgroup
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.experiment.store.runs import RunFacts

CITATION = f"""@software{{mlcli,
  title = {{mlcli: the command-line experiment runner for machine learning on tables}},
  version = {{{__version__}}},
}}"""


@dataclass(frozen=True)
class Provenance:
    """How results were made."""

    how: str
    """The command, or the file of the experiment."""
    started: str = ""
    source: Path | None = None
    """The experiment file."""
    spec: str = ""
    """The text of the experiment file, as it is now."""
    versions: Mapping[str, str] | None = None
    """The current ones if None."""
    plugins: Sequence[str] = ()
    """The files of the user's own methods."""


def provenance_of_file(path: Path, plugins: Sequence[str] = ()) -> Provenance:
    """The provenance of the results of an experiment file."""
    spec = path.read_text(encoding="utf-8") if path.is_file() else ""
    return Provenance(f"mlcli run {path.name}", source=path, spec=spec, plugins=plugins)


def provenance_of_run(
    facts: RunFacts, kept_versions: Mapping[str, str] | None, plugins: Sequence[str]
) -> Provenance:
    """The provenance of a stored run, with the versions and plug-ins that were kept of it."""
    if facts.source is not None:
        provenance = provenance_of_file(Path(facts.source), plugins)
    else:
        provenance = Provenance(f"mlcli {facts.title}, run {facts.id} of its store", plugins=plugins)
    started = facts.started.replace("T", " ").replace("+00:00", " UTC")
    return replace(provenance, started=started, versions=kept_versions)


def report_of(results: Sequence[ModelResult], provenance: Provenance, similarity: float = SIMILARITY) -> Document:
    """The whole report."""
    groups = groups_of(results)
    elements: list[Element] = [*(over_datasets(results) if len(groups) > 1 else ())]
    for group in groups:
        elements += _dataset_elements(group, provenance.plugins, similarity)
    elements += _provenance_elements([result.cell for result in results], provenance)
    elements += _citations(results)
    return tuple(elements)


def _dataset_elements(group: Group, plugins: Sequence[str], similarity: float) -> Iterator[Element]:
    """The results of one dataset, the verdict first, then pictures, pairs of models, and what models learned."""
    schema = first_cell(group).dataset.schema
    has_sensitive = any(column.sensitive for column in schema.features())
    details = Details(fair=has_sensitive, spread=True, similarity=similarity)
    yield from results_of_group(group, details, verdict_first=True)
    # Curves of all models on one plane where there are two classes, else those of the best.
    models = subgroup(group, [result for result in group if not result.is_baseline])
    target, best = schema.the("target"), best_in(models)
    is_binary = target is not None and len(target.levels) == 2
    yield from probability_pictures(models if is_binary or best is None else subgroup(models, [best]))
    picture_at = kind_named(first_cell(group).kind).picture_of_report_at
    if picture_at and (drawn := models_to_draw(group)):
        yield from named(picture_at)(drawn)
    yield from _inspection(group, plugins)
    compared = compared_models(group)
    if compared is not None and len(compared.pairs) > 1:
        yield Heading(f"Pairs of models by {compared.metric.name}")
        yield from pairs_of(compared)
    yield from _model_findings(group)


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
    for findings_of in (inspection_of, cluster_planes, trained_rows_of):
        yield from explained(findings_of(best, name, data))


def _model_findings(group: Group) -> Iterator[Element]:
    """What models learned in the first split: all of the best but long tables, only pictures of the others."""
    best = best_in(group)
    for result, name in group.items():
        for finding in result.splits[0].explanation if result.done and len(result.splits) else ():
            if isinstance(finding, Table):
                is_shown = result is best and len(finding.rows) <= 30
            else:
                is_shown = result is best or not isinstance(finding, Lines)
            if is_shown:
                yield from explained(
                    [replace(finding, title=f"{name}: {finding.title}" if finding.title else name)]
                )


def _provenance_elements(cells: Sequence[Cell], provenance: Provenance) -> Iterator[Element]:
    versions = provenance.versions if provenance.versions is not None else versions_and_hardware()
    facts = {
        "command": provenance.how,
        "started": provenance.started,
        "seed": ", ".join(dict.fromkeys(str(cell.seed) for cell in cells)),
        "protocol": "; ".join(dict.fromkeys(map(protocol_words, cells))),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "plug-ins": ", ".join(provenance.plugins),
    }
    yield Heading("How it was made", 1)
    yield grid(["", ""], [[strong(name), value] for name, value in facts.items() if value])
    first_of_dataset: dict[str, Cell] = {}
    for cell in cells:
        first_of_dataset.setdefault(cell.dataset.content, cell)
    rows: list[list[Content]] = []
    for data in (cell.dataset for cell in first_of_dataset.values()):
        about = data.about if isinstance(data, Dataset) else {}
        origin = [str(about[key]) for key in ("source", "licence", "citation") if about.get(key)]
        origin += [data.recipe.options] if data.recipe and data.recipe.options else []
        rows.append([strong(data.name), f"{len(data):,}", data.content[:SHOWN], "; ".join(origin)])
    yield Heading("Data")
    yield grid(["dataset", "rows", "SHA-256 of its content", "from"], rows, right=(1,))
    if provenance.spec:
        yield Heading("Experiment file")
        yield Preformatted(tuple(provenance.spec.splitlines()))


def _citations(results: Sequence[ModelResult]) -> Iterator[Element]:
    uses = dict.fromkeys(result.cell.model.use for result in results if result.cell.model.is_installed)
    references = {use: str(getattr(MODELS.load(use), "reference", "")) for use in uses}
    yield Heading("How to cite", 1)
    yield Sentence(f"{counted(len(references), 'method')}, as published:")
    yield notes(*(f"{use}: {reference}" for use, reference in references.items() if reference))
    yield Preformatted(tuple(CITATION.splitlines()))
