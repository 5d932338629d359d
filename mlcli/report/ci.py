"""What CI reads: JUnit XML of cells and gates, and a summary in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from mlcli.core.files import replacing
from mlcli.experiment.results import each
from mlcli.report.document import Element, Heading
from mlcli.report.formats.markdown import markdown_of
from mlcli.report.page import Page
from mlcli.report.views.results import gates_as_elements, table_of_group
from mlcli.report.views.sentences import gate_sentence
from mlcli.scoring.gates import SKIPPED, ExperimentOutcome, Gate
from mlcli.scoring.model_results import ModelResult, groups_of


def write_junit(file: Path, outcomes: Sequence[ExperimentOutcome]) -> None:
    """Write a file of JUnit XML in place of what was there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as beside:
        beside.write_text(_junit_of(outcomes), encoding="utf-8")


def append_summary(file: Path, outcomes: Sequence[ExperimentOutcome]) -> None:
    """Add gates, then the table of each dataset, as Markdown at the end of a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    document = tuple(element for outcome in outcomes for element in _summary_elements(outcome))
    with file.open("a", encoding="utf-8") as opened:
        opened.write(markdown_of(document, Page()))


def _summary_elements(outcome: ExperimentOutcome) -> Iterator[Element]:
    yield Heading(outcome.title, 1)
    for element in gates_as_elements(outcome.gates):
        yield Heading(element.text, 2) if isinstance(element, Heading) else element
    for group in groups_of(outcome.cells):
        yield from table_of_group(group)


def _junit_of(outcomes: Sequence[ExperimentOutcome]) -> str:
    """A test suite for each experiment: a case for each cell, and for each gate."""
    suites = ET.Element("testsuites")
    for outcome in outcomes:
        cases = [*(_case_of_cell(cell, outcome) for cell in outcome.cells), *map(_case_of_gate, outcome.gates)]
        suite = ET.SubElement(suites, "testsuite", name=Page().shown(outcome.title), tests=str(len(cases)))
        for counted, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
            suite.set(counted, str(sum(case.find(tag) is not None for case in cases)))
        suite.extend(cases)
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml.decode() + "\n"


def _case_of_cell(model_result: ModelResult, outcome: ExperimentOutcome) -> ET.Element:
    result, cell = model_result.cell_result, model_result.cell
    case = _case(cell.dataset.name, cell.label, sum(each(result.splits, "seconds")))
    why = Page().shown(model_result.why)
    if result.status == SKIPPED:
        ET.SubElement(case, "failure" if model_result in outcome.skipped else "skipped", message=why)
    elif not model_result.done:
        ET.SubElement(case, "error", message=f"{result.status}: {why}")
    return case


def _case_of_gate(gate: Gate) -> ET.Element:
    case = _case(gate.dataset, f"{gate.model}: {gate.expected}", 0.0)
    if not gate.passed:
        ET.SubElement(case, "failure", message=Page().shown(f"found {gate_sentence(gate.found)}"))
    return case


def _case(dataset: str, name: str, seconds: float) -> ET.Element:
    shown = {"classname": Page().shown(dataset), "name": Page().shown(name)}
    return ET.Element("testcase", {**shown, "time": f"{seconds:.3f}"})
