"""Names as users type them: the nearest valid one for a name that is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mlcli.core.aliases import other_names, setting_for, without_ending

LONGEST = 100
"""A longer name is no slip of a valid one: none is suggested, which would take long, and messages shorten it."""
SHORT = 3
"""In names of so few letters one may be wrong."""
MOST_LISTED = 200
MOST = 3
"""So many names are suggested where they are equally near."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that is meant, if there is one."""
    return next(iter(likely_names(name, valid)), None)


def likely_names(name: str, valid: Iterable[str]) -> list[str]:
    """The valid names that may be meant: what another program calls so, or those with the fewest other letters."""
    if len(name) > LONGEST:
        return []
    known = {_plain(candidate): candidate for candidate in valid}
    wanted = _plain(name)
    others = [
        other for other in map(_plain, (wanted, *other_names(name), without_ending(wanted))) if other in known
    ]
    starting = [plain for plain in known if wanted and plain.startswith(wanted)]
    if others or len(starting) == 1:
        return [known[(others or starting)[0]]]
    as_long = (plain for plain in known if abs(len(plain) - len(wanted)) <= _most_wrong(wanted, plain))
    wrong = {plain: _wrong_letters(wanted, plain) for plain in as_long}
    close = [plain for plain, letters in wrong.items() if letters <= _most_wrong(wanted, plain)]
    best = sorted((wrong[plain], -_common_start(wanted, plain), plain) for plain in close)
    return [known[plain] for letters, _, plain in best[:MOST] if letters == best[0][0]]


def did_you_mean(name: str, valid: Iterable[str], what: str = "valid names") -> str:
    """Advice for an unknown name: the nearest ones, or the list of all."""
    names = sorted(valid)
    close = likely_names(name, names)
    if close:
        setting = setting_for(name) if close == list(other_names(name)) else ""
        meant_by = " or ".join(f"'{one}'" for one in close)
        return f"did you mean {meant_by}{f' with {setting}' if setting else ''}?"
    return f"{what}: {listed(names, MOST_LISTED)}" if names else f"there are no {what}"


def shortened(name: object) -> str:
    """A name as messages show it: of a long one the beginning."""
    text = str(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


def _most_wrong(wanted: str, plain: str) -> int:
    """How many letters may be wrong: two, in long names about a third of all, in short ones one."""
    length = max(len(wanted), len(plain))
    return min(1, length - 1) if length <= SHORT else max(2, (length + 2) // 3)


def _wrong_letters(first: str, second: str) -> int:
    """How many letters must be left out, added, changed, or swapped with the next (Damerau 1964)."""
    lines = [list(range(len(second) + 1))]
    for i, letter in enumerate(first, start=1):
        line, last = [i], lines[-1]
        for j, other in enumerate(second, start=1):
            cost = min(last[j] + 1, line[-1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, lines[-2][j - 2] + 1)
            line.append(cost)
        lines.append(line)
    return lines[-1][-1]


def _common_start(first: str, second: str) -> int:
    pairs = zip(first, second, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


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
