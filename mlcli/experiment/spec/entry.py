"""One entry that names a registered thing (model, step or protocol), checked against what that thing declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mlcli.core.errors import MlcliError, Problem
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, parameters, problems_with
from mlcli.core.registry import Catalogue
from mlcli.experiment.spec.written import Written, placed


@dataclass(frozen=True)
class Entry:
    """An id, or a mapping that begins with ``use``; whatever is wrong with it is added to ``found``."""

    written: Written
    catalogue: Catalogue
    found: list[Problem]

    @cached_property
    def parts(self) -> dict[str, Written]:
        """The parts by key; an id alone is short for ``use``."""
        if isinstance(self.written.value, str):
            return {"use": self.written}
        if isinstance(self.written.value, dict):
            return self.written.named()
        what = f"a {self.noun} is an id or a mapping with 'use'; this is {self.written.given}"
        self.refuse(self.written, what, f"such as {self._example} or {{use: {self._example}}}")
        return {}

    @cached_property
    def cls(self) -> Any:
        """The class that the entry uses, None when there is no such thing."""
        use = self.parts.get("use")
        if use is None or not isinstance(use.value, str):
            self._refuse_use(use)
            return None
        try:
            return self.catalogue.load(use.value)
        except MlcliError as error:
            self.found.extend(placed(error.problems, use.where))
            return None

    @property
    def noun(self) -> str:
        """What is named."""
        return self.catalogue.noun

    def refuse(self, part: Written, what: str, hint: str = "") -> None:
        """Add one problem."""
        self.found.append(part.problem(what, hint))

    def refuse_other_keys(self, keys: Sequence[str]) -> None:
        """Every key but these is a problem."""
        for key, part in self.parts.items():
            if key not in keys:
                self.refuse(part, f"a {self.noun} has no key '{key}'", self._hint_for_key(key, keys))

    def mapping(self, key: str) -> dict[str, Written]:
        """The parts of a key that takes a mapping; nothing when it is not there or is something else."""
        part = self.parts.get(key)
        if part is None:
            return {}
        if not isinstance(part.value, dict):
            self.refuse(part, f"'{key}' takes a mapping, was given {part.given}", f"such as {key}: {{k: ...}}")
            return {}
        return part.named()

    def checked(self, given: Mapping[str, Written]) -> dict[str, Any]:
        """The values of some parameters; a problem that is known already is not added again."""
        values = {name: part.bare for name, part in given.items()}

        def place(name: str, *keys: str | int) -> str:
            return given.get(name, self.written).place(*keys)

        self.found.extend(one for one in problems_with(self.cls, values, place) if one not in self.found)
        return values

    def check_together(self, params: Mapping[str, Any]) -> None:
        """Parameters that are legal one by one must be legal together."""
        try:
            build(self.cls, params)
        except MlcliError as error:
            self.found.extend(placed(error.problems, self.written.where))

    def _hint_for_key(self, key: str, keys: Sequence[str]) -> str:
        """Often the key is a parameter, or an id, in the wrong place."""
        if self.cls and key in {parameter.name for parameter in parameters(self.cls)}:
            return f"it is a parameter: write params: {{{key}: {self.parts[key].value}}}"
        if key in self.catalogue:
            return f"write {{use: {key}}}, with its parameters under 'params'"
        return did_you_mean(key, keys, "keys")

    def _refuse_use(self, use: Written | None) -> None:
        """The id is missing or is not text; an entry of the wrong form has been refused already."""
        if use is not None:
            self.refuse(use, f"'use' takes the id of a {self.noun}, was given {use.given}")
        elif isinstance(self.written.value, dict):
            missing = f"which {self.noun}? The key 'use' is missing"
            self.refuse(self.written, missing, f"such as {{use: {self._example}}}")

    @property
    def _example(self) -> str:
        return self.catalogue.names()[0]
