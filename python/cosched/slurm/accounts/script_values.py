"""Values of options in commands of sacctmgr, as ``sacctmgr show`` prints them."""

import math
import re
from collections.abc import Mapping, Sequence

from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.script_commands import WORDS, CommandOption
from cosched.units import MINUTE, parse_slurm_time

#: The resources whose numbers are the same in each slurmdbd (tres_types_t of slurmdb.h).
_TRES_BY_NUMBER = {
    "1": "cpu", "2": "mem", "3": "energy", "4": "node", "5": "billing", "6": "fs/disk",
    "7": "vmem", "8": "pages",
}  # fmt: skip
_NO_LIMIT = ("-1", "infinite", "unlimited")
_TRES_NAME = re.compile(r"[a-z]+(/[\w.:-]+)?")


def names_of(text: str) -> list[str]:
    """Return names of a list, in lower case as a slurmdbd keeps them; ``u[1-3]`` is three.

    Examples
    --------
    >>> names_of("Ann, bob,u[1-3]")
    ['ann', 'bob', 'u1', 'u2', 'u3']
    """
    names: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text.strip("\"'")):
        names += _expanded(part.strip().lower())
    return list(dict.fromkeys(name for name in names if name))


def _expanded(name: str) -> list[str]:
    parts = re.fullmatch(r"([^\[\]]*)\[([0-9,-]+)\]([^\[\]]*)", name)
    if parts is None:
        return [name]
    names: list[str] = []
    for span in parts[2].split(","):
        first, _, last = span.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or len(first) > 9:
            return [name]
        last_number = min(int(last or first), int(first) + 100_000)
        names.extend(
            f"{parts[1]}{number:0{len(first)}}{parts[3]}"
            for number in range(int(first), last_number + 1)
        )
    return names


def printed_value(option: CommandOption, place: str) -> str:
    """Return a value of one of the kinds count, real, minutes, share and word; empty: no limit."""
    value = option.value.strip("\"'")
    if option.kind == "word":
        return value.strip().lower()
    if option.kind == "share" and value.lower().startswith("parent"):
        return "parent"
    if option.kind == "minutes":
        if value.lower() in _NO_LIMIT:
            return ""
        seconds = parse_slurm_time(value, MINUTE)
        if seconds is None or not math.isfinite(seconds):
            raise _unlike(option, place, "minutes, or 2-00:00:00")
        return value if seconds % 60 == 0 else str(math.ceil(seconds / 60))
    if option.kind == "real":
        return _real(option, value, place)
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        raise _unlike(option, place, "a whole number")
    return value.lstrip("+") if int(value) >= 0 else ""


def _real(option: CommandOption, value: str, place: str) -> str:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _unlike(option, place, "a number")
    return value if number >= 0 else ""


def tres_of(option: CommandOption, place: str) -> dict[str, str]:
    """Amounts by resource; empty: no limit on it any more.

    Examples
    --------
    >>> tres_of(CommandOption("GrpTRES", "tres", "", "cpu=8,Node=-1,6=4", ""), "a.sh:1")
    {'cpu': '8', 'node': '', 'fs/disk': '4'}
    """
    value = option.value.strip("\"'")
    if option.kind != "tres":
        value = f"{option.kind}={value}"
    amounts: dict[str, str] = {}
    for part in value.split(","):
        name, separator, amount = (piece.strip() for piece in part.lower().partition("="))
        name = _TRES_BY_NUMBER.get(name, name)
        is_amount = re.fullmatch(r"-1|[0-9]{1,18}[kmgtp]?", amount)
        if not separator or not _TRES_NAME.fullmatch(name) or not is_amount:
            raise _unlike(option, place, "amounts as cpu=8,node=2")
        amounts[name] = "" if amount == "-1" else amount.upper()
    return amounts


def changed_names(
    names: Sequence[str], option: CommandOption, known_names: Sequence[str], place: str
) -> list[str]:
    """Return a list after ``=``, ``+=`` or ``-=``; ``+a,-b`` does the same for single names."""
    value = option.value.strip("\"'")
    changes = [_change(part, option.operator) for part in names_of(value)]
    for _, name in changes:
        if name not in known_names:
            raise InvalidInstance(
                f"{place}: {shorten(option.word)}: no QOS {shorten(name)}: expected one of "
                f"{', '.join(known_names)}"
            )
    operators = {bool(operator) for operator, _ in changes}
    if len(operators) > 1:
        raise _unlike(option, place, "names alone, or + and - before each")
    if operators != {True}:
        return [name for _, name in changes]
    changed = list(names)
    for operator, name in changes:
        changed = [other for other in changed if other != name]
        if operator == "+":
            changed.append(name)
    return changed


def _change(part: str, operator: str) -> tuple[str, str]:
    return (part[0], part[1:]) if part[:1] in ("+", "-") else (operator, part)


def changed_flags(flags: Sequence[str], option: CommandOption, place: str) -> list[str]:
    """Flags of a QOS after ``=``, ``+=`` or ``-=``; -1 clears all of them."""
    value = option.value.strip("\"'")
    if value == "-1":
        return []
    flag_names = WORDS["flags"]["names"]
    chosen = []
    for part in filter(None, value.split(",")):
        matching_flags = [name for name in flag_names if name.lower() == part.strip().lower()]
        if not matching_flags:
            raise _unlike(option, place, f"flags: {', '.join(flag_names)}")
        chosen.append(matching_flags[0])
    if option.operator == "-":
        return [flag for flag in flags if flag not in chosen]
    if option.operator == "+":
        return list(dict.fromkeys([*flags, *chosen]))
    return list(dict.fromkeys(chosen))


def merged_tres(outer: Mapping[str, str], inner: Mapping[str, str]) -> dict[str, str]:
    """Amounts of an association; those that it does not have are of the one above it."""
    return {**outer, **{name: amount for name, amount in inner.items() if amount}}


def _unlike(option: CommandOption, place: str, expected: str) -> InvalidInstance:
    return InvalidInstance(f"{place}: {shorten(option.word)}: expected {expected}")
