"""Names as users type them: the nearest valid one for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name closest to ``name``, if one is close enough to be meant."""
    from difflib import get_close_matches

    by_lower = {candidate.lower().replace("_", "-"): candidate for candidate in valid}
    wanted = name.lower().replace("_", "-").replace(" ", "-")
    matches = get_close_matches(wanted, by_lower, n=1, cutoff=0.6)
    if matches:
        return by_lower[matches[0]]
    starting = [candidate for lower, candidate in by_lower.items() if wanted and lower.startswith(wanted)]
    return starting[0] if len(starting) == 1 else None


def did_you_mean(name: str, valid: Iterable[str], what: str = "valid names") -> str:
    """Advice for an unknown name: the nearest one, or the list of all."""
    names = sorted(valid)
    close = nearest(name, names)
    if close is not None:
        return f"did you mean '{close}'?"
    return f"{what}: {', '.join(names)}" if names else f"there are no {what}"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Some names in a sentence, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def module_of(name: str) -> str:
    """The module name of a kebab-case id."""
    return name.replace("-", "_")


def id_of(module: str) -> str:
    """The kebab-case id of a module name."""
    return module.replace("_", "-")
