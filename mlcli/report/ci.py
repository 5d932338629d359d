"""What CI reads: JUnit XML of model results and gates, and a summary in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from mlcli.core.processes import replacing
from mlcli.experiment.results import each
from mlcli.report.document import Element, Heading
from mlcli.report.formats.markdown import markdown_of
from mlcli.report.page import Page
from mlcli.report.views.results import gate_sentence, gates_as_elements, table_of_group
from mlcli.scoring.gates import SKIPPED, ExperimentOutcome
from mlcli.scoring.model_results import groups_of


def write_junit(file: Path, outcomes: Sequence[ExperimentOutcome]) -> None:
    """Write a file of JUnit XML: a test suite for each experiment, a case for each model result and each gate."""
    shown = Page().shown

    def new_case(dataset: str, name: str, seconds: float) -> ET.Element:
        attributes = {"classname": shown(dataset), "name": shown(name), "time": f"{seconds:.3f}"}
        return ET.Element("testcase", attributes)

    suites = ET.Element("testsuites")
    for outcome in outcomes:
        cases: list[ET.Element] = []
        for result in outcome.cells:
            cell, why = result.cell, shown(result.why)
            case = new_case(cell.dataset.name, cell.label, sum(each(result.splits, "seconds")))
            if result.status == SKIPPED:
                ET.SubElement(case, "failure" if result in outcome.skipped else "skipped", message=why)
            elif not result.done:
                ET.SubElement(case, "error", message=f"{result.status}: {why}")
            cases.append(case)
        for gate in outcome.gates:
            case = new_case(gate.dataset, f"{gate.model}: {gate.expected}", 0.0)
            if not gate.passed:
                ET.SubElement(case, "failure", message=shown(f"found {gate_sentence(gate.found)}"))
            cases.append(case)
        suite = ET.SubElement(suites, "testsuite", name=shown(outcome.title), tests=str(len(cases)))
        for attribute, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
            suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
        suite.extend(cases)
    ET.indent(suites)
    xml: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as beside:
        beside.write_text(f"{xml.decode()}\n", encoding="utf-8")


def append_summary(file: Path, outcomes: Sequence[ExperimentOutcome]) -> None:
    """Add gates, then the table of each dataset, as Markdown at the end of a file."""
    document: list[Element] = []
    for outcome in outcomes:
        document.append(Heading(outcome.title, 1))
        document += (
            Heading(element.text, 2) if isinstance(element, Heading) else element
            for element in gates_as_elements(outcome.gates)
        )
        for group in groups_of(outcome.cells):
            document += table_of_group(group)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(markdown_of(tuple(document), Page()))
