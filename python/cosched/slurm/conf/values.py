"""Values of slurm.conf as Slurm's parser takes them.

Forms of ``options.csv``:

``uint16``, ``uint32``, ``uint64``
    A whole number, decimal, octal (``0..``) or hexadecimal (``0x..``), in 32 and 64 bits also with
    K for 1024; UNLIMITED or INFINITE (``parse_value.c``). A range behind a colon: ``uint32:1..``.
``int:LOW..HIGH|OTHER``
    A decimal number of SchedulerParameters; OTHER: a further one that has a meaning of its own.
``boolean``
    YES, UP, TRUE or 1; NO, DOWN, FALSE or 0.
``minutes``
    Minutes, ``[days-]hours:minutes:seconds``, or UNLIMITED. A range behind a colon is in minutes.
``seconds``
    Seconds, NONE, INFINITE or -1.
``one:A|B``, ``some:A|B``
    One of the words, or several with commas between them, in any case.
``flag``
    A word of SchedulerParameters without a value: a what-if sets it with yes, and removes it with
    no.
``preempt``, ``sharing``
    PreemptMode; OverSubscribe.
``tres``
    ``CPU=1000,Mem=2000,GRES/gpu=3000``.
``words``
    Words of a list whose own rows say what they take.
``text``, ``hosts``, ``record``
    Anything that is not empty.
"""

import re
from collections.abc import Callable, Mapping

from cosched.errors import InvalidInstance, printable
from cosched.slurm.conf.known_keys import Option, option_of
from cosched.slurm.conf.lines import seconds_of_minutes

#: Characters of a wrong value that a message repeats.
_LONGEST_VALUE = 40
_BITS = {"uint16": 16, "uint32": 32, "uint64": 64}
WITHOUT_LIMIT = ("UNLIMITED", "INFINITE")
YES, NO = ("yes", "up", "true", "1"), ("no", "down", "false", "0")


def canonical_value(option: Option, value: str) -> str:
    """Return the value as the reader of slurm.conf takes it.

    Returns
    -------
    str
        The same text; of a number its decimal digits.

    Raises
    ------
    InvalidInstance
        Slurm does not start with it, or falls back to its default: key, value, and what it takes.
    """
    form, _, about = option.takes.partition(":")
    canonical = _PARSERS[form](option, about, value)
    if canonical is None:
        raise InvalidInstance(
            f"{option.key}={printable(value)[:_LONGEST_VALUE]}: Slurm takes "
            f"{values_in_words(option)}"
        )
    return canonical


def values_in_words(option: Option) -> str:
    """Return what Slurm takes, for messages and documentation.

    Examples
    --------
    >>> bf_interval = option_of("SchedulerParameters", "bf_interval")
    >>> values_in_words(bf_interval)
    'a whole number from 1 to 10800, or -1'
    """
    form, _, about = option.takes.partition(":")
    if form in _BITS:
        low, high = _range(about or "0..")
        top = 2 ** _BITS[form] - 1 if high is None else high
        limitless = "" if about else ", or UNLIMITED"
        return f"a whole number from {low} to {top}{limitless}"
    if form == "int":
        bounds, _, other = about.partition("|")
        low, high = _range(bounds)
        numbers = f"a whole number from {low} to {high}" if high else f"a whole number from {low}"
        return f"{numbers}, or {other}" if other else numbers
    if form == "minutes":
        low, high = _range(about or "0..")
        if high is not None:
            return f"minutes (from {low} to {high}) or [days-]hours:minutes:seconds"
        return f"minutes (at least {low}) or [days-]hours:minutes:seconds, or UNLIMITED"
    if form in ("one", "some"):
        listed = ", ".join(about.split("|"))
        return f"one of {listed}" if form == "one" else f"some of {listed}"
    return _IN_WORDS[form]


_IN_WORDS: Mapping[str, str] = {
    "boolean": "YES or NO",
    "seconds": "seconds, NONE or INFINITE",
    "flag": "the word alone: yes or no here sets or removes it",
    "preempt": "one of OFF, CANCEL, REQUEUE, SUSPEND, also with GANG or WITHIN",
    "sharing": "NO, EXCLUSIVE, YES[:COUNT] or FORCE[:COUNT]",
    "tres": "weights such as CPU=1000,Mem=2000",
    "words": "words with commas between them",
    "text": "a text",
    "hosts": "hosts such as n[1-16],g1, or ALL",
    "record": "a name",
}


def _range(text: str) -> tuple[int, int | None]:
    low, _, high = text.partition("..")
    return int(low), int(high) if high else None


def _inside(number: float, text: str) -> bool:
    low, high = _range(text)
    return low <= number and (high is None or number <= high)


def integer_range(option: Option) -> tuple[int, int | None] | None:
    """Return the lowest and highest number that a word of SchedulerParameters takes (None: any);
    None: it takes no number."""
    form, _, about = option.takes.partition(":")
    return _range(about.partition("|")[0]) if form == "int" else None


#: Older names of words of SchedulerParameters that Slurm reads where the new name is missing.
OLD_WORDS = {"max_job_bf": "bf_max_job_test", "max_rpc_count": "max_rpc_cnt"}


def value_by_word(text: str) -> dict[str, str]:
    """Return the value of each word of SchedulerParameters, by the word in lower case.

    Slurm searches for each word from the left (``xstrcasestr``): of a word that is there twice the
    first counts. A word without a value is ``yes``.

    Examples
    --------
    >>> value_by_word("bf_interval=30,BF_Interval=60,bf_continue,max_job_bf=50")
    {'bf_interval': '30', 'bf_continue': 'yes', 'bf_max_job_test': '50'}
    """
    values: dict[str, str] = {}
    for part in text.split(","):
        word, equals, value = part.partition("=")
        if word.strip():
            values.setdefault(word.strip().lower(), value if equals else "yes")
    for old_word, word in OLD_WORDS.items():
        value = values.pop(old_word, "")
        if value:
            values.setdefault(word, value)
    return values


def unsigned(text: str, bits: int) -> int | None:
    """Return a number as ``strtoul`` with base 0 reads it; None: it is none of so many bits."""
    parts = re.fullmatch(r"(0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)(k?)", text.strip(), re.IGNORECASE)
    if not parts or (parts[2] and bits < 32):
        return None
    digits = parts[1].lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    number = int(digits, base) * (1024 if parts[2] else 1)
    return number if number < 2**bits else None


def _parse_unsigned(option: Option, about: str, value: str) -> str | None:
    form = option.takes.partition(":")[0]
    if value.upper() in WITHOUT_LIMIT:
        return value if not about else None
    number = unsigned(value, _BITS[form])
    if number is None or (about and not _inside(number, about)):
        return None
    return str(number)


def _parse_integer(_option: Option, about: str, value: str) -> str | None:
    bounds, _bar, other = about.partition("|")
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        return None
    number = int(value)
    return str(number) if _inside(number, bounds) or str(number) == other else None


def _parse_boolean(_option: Option, _about: str, value: str) -> str | None:
    return value if value.lower() in (*YES, *NO) else None


def _parse_minutes(option: Option, about: str, value: str) -> str | None:
    try:
        minutes = seconds_of_minutes(value, option.key) / 60
    except InvalidInstance:
        return None
    return value if not about or _inside(minutes, about) else None


def _parse_seconds(_option: Option, _about: str, value: str) -> str | None:
    is_number = re.fullmatch(r"[0-9]{1,9}|-1", value.strip()) is not None
    return value if is_number or value.upper() in ("NONE", *WITHOUT_LIMIT) else None


def _parse_one(_option: Option, about: str, value: str) -> str | None:
    return value if value.lower() in about.lower().split("|") else None


def _parse_some(_option: Option, about: str, value: str) -> str | None:
    choices = about.lower().split("|")
    words = [word for word in value.lower().split(",") if word]
    return value if words and all(word in choices for word in words) else None


def _parse_preempt(option: Option, _about: str, value: str) -> str | None:
    words = [word for word in value.lower().split(",") if word]
    modes = [word for word in words if word not in ("gang", "within")]
    known_modes = ("off", "cluster", "cancel", "requeue", "suspend", "on")
    is_known = bool(words) and len(modes) <= 1 and all(mode in known_modes for mode in modes)
    both = {"gang", "within"} <= set(words)
    of_partition = option.record == "PartitionName" and "gang" in words
    return value if is_known and not both and not of_partition else None


def _parse_sharing(_option: Option, _about: str, value: str) -> str | None:
    return (
        value if re.fullmatch(r"no|exclusive|(yes|force)(:[1-9][0-9]*)?", value.lower()) else None
    )


def _parse_tres(_option: Option, _about: str, value: str) -> str | None:
    part = r"[A-Za-z][\w/:]*=[0-9]+(\.[0-9]*)?[KMGTP]?"
    return value if re.fullmatch(rf"{part}(,{part})*", value, re.IGNORECASE) else None


def _parse_text(_option: Option, _about: str, value: str) -> str | None:
    return value if value.strip() else None


def _parse_flag(_option: Option, _about: str, value: str) -> str | None:
    return value if value.lower() in ("yes", "no", "1", "0") else None


def _parse_words(option: Option, _about: str, value: str) -> str | None:
    """Return the words of a value, each read by its own row; the reader reports words that no
    row has."""
    for part in filter(None, value.split(",")):
        name, equals, word_value = part.partition("=")
        word = option_of(option.key, name.strip())
        if word is not None and word.takes != "flag" and equals:
            canonical_value(word, word_value)
    return value


_PARSERS: Mapping[str, Callable[[Option, str, str], str | None]] = {
    **dict.fromkeys(_BITS, _parse_unsigned),
    "int": _parse_integer,
    "boolean": _parse_boolean,
    "minutes": _parse_minutes,
    "seconds": _parse_seconds,
    "one": _parse_one,
    "some": _parse_some,
    "flag": _parse_flag,
    "preempt": _parse_preempt,
    "sharing": _parse_sharing,
    "tres": _parse_tres,
    "words": _parse_words,
    "text": _parse_text,
    "hosts": _parse_text,
    "record": _parse_text,
}
