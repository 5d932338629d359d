"""Names as users type them: the nearest valid one for a name that is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mlcli.core.aliases import other_names, setting_for, without_ending

LONGEST = 100
"""Longer names get no suggestion, since comparing them takes long; messages shorten them."""
MOST_LISTED = 200
MOST = 3
"""At most so many equally similar names are suggested."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that is meant, if there is one."""
    return next(iter(likely_names(name, valid)), None)


def likely_names(name: str, valid: Iterable[str]) -> list[str]:
    """The valid names that may be meant: an alias, the only one that starts so, or the most similar ones."""
    if len(name) > LONGEST:
        return []
    valid_names = {_plain(candidate): candidate for candidate in valid}
    wanted = _plain(name)
    aliases = [
        alias
        for alias in map(_plain, (wanted, *other_names(name), without_ending(wanted)))
        if alias in valid_names
    ]
    longer = [plain for plain in valid_names if wanted and plain.startswith(wanted)]
    if aliases or len(longer) == 1:
        return [valid_names[(aliases or longer)[0]]]
    from difflib import SequenceMatcher, get_close_matches

    cutoff = 0.6 if len(wanted) < 5 else 0.7  # a letter is more of a short name
    close = get_close_matches(wanted, valid_names, n=MOST, cutoff=cutoff)
    similarity = {plain: SequenceMatcher(None, plain, wanted).ratio() for plain in close}
    return sorted(valid_names[plain] for plain in close if similarity[plain] == similarity[close[0]])


def did_you_mean(name: str, valid: Iterable[str], what: str = "valid names") -> str:
    """Advice for an unknown name: the nearest ones, or the list of all."""
    names = sorted(valid)
    close = likely_names(name, names)
    if close:
        setting = setting_for(name) if close == list(other_names(name)) else ""
        meant_by = " or ".join(f"'{name}'" for name in close)
        return f"did you mean {meant_by}{f' with {setting}' if setting else ''}?"
    return f"{what}: {listed(names, MOST_LISTED)}" if names else f"there are no {what}"


def shortened(name: object) -> str:
    """A name as messages show it: of a long one the beginning."""
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Some names in a sentence, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things: 1 row, 2 rows."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def free_name(name: str, taken: Collection[str]) -> str:
    """A name, or where it is taken one such as "component 1 (2)" that is not."""
    free, count = name, 2
    while free in taken:
        free, count = f"{name} ({count})", count + 1
    return free


def module_of(name: str) -> str:
    """The module name of a kebab-case id."""
    return name.replace("-", "_")


def id_of(module: str) -> str:
    """The kebab-case id of a module name."""
    return module.replace("_", "-")
