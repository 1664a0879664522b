"""The lines of a slurm.conf: keys and values, ``Include``."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.units import MINUTE, parse_duration, parse_slurm_time

#: Lines that describe something with several keys; every other line is one key.
_RECORDS = ("nodename", "partitionname", "downnodes", "nodeset", "frontendname", "switchname")
#: As "Slurm 22.05.8", "SLURM_VERSION = 23.11.4", "slurm-wlm version 21.08".
_VERSION = re.compile(
    r"slurm[^0-9]{0,30}\b([12][0-9]\.(?:0[2358]|11))(?:\.[0-9]{1,2})?(?![.0-9])", re.IGNORECASE
)
_MAX_INCLUDE_DEPTH = 16


@dataclass(frozen=True)
class Line:
    """A line of the file: where it is, and its keys in lower case."""

    place: str  # slurm.conf:12
    #: Values by key in lower case.
    keys: dict[str, str]
    spellings: dict[str, str]  # as the file has them

    @property
    def record(self) -> str:
        """The kind of a line with several keys, or empty."""
        first = next(iter(self.keys))
        return first if first in _RECORDS else ""


@dataclass(frozen=True)
class Source:
    """What a machine was read from, so that it can be read again with another line."""

    #: The file, its lines, the version that it is read as, and types of GPUs by host.
    path: str
    #: The lines of the file and of those that it includes.
    lines: tuple[Line, ...]
    #: The version of Slurm that the file is read as; None: the file says it.
    version: str | None
    #: The type of the GPUs of a host, by its name.
    gpu_types: Mapping[str, str]


def read_lines(path: str | PathLike[str], depth: int = 0) -> list[Line]:
    """Return lines of the file and of those that it includes, in order."""
    if depth > _MAX_INCLUDE_DEPTH:
        raise InvalidInstance(
            f"{path}: Include: expected at most {_MAX_INCLUDE_DEPTH} files in each other"
        )
    return parse_lines(io.read_text(path), path, depth)


def parse_lines(content: str, path: str | PathLike[str], depth: int = 0) -> list[Line]:
    """Return lines of a text that stands in the file of this name."""
    lines = []
    for number, text in _joined(content):
        place = f"{Path(path).name}:{number}"
        included = re.fullmatch(r"include\s+(\S+)", text, flags=re.IGNORECASE)
        if included:
            lines += read_lines(Path(path).parent / included[1], depth + 1)
        else:
            lines.append(_line(place, text))
    return lines


def version_of(path: str | PathLike[str]) -> str | None:
    """Return the version of Slurm that the comments at the begin of the file name, if they do."""
    for line in io.read_text(path).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return None
        match = _VERSION.search(line)
        if match:
            return match[1]
    return None


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments; one that ends in a backslash goes on in the next."""
    unfinished, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        without_comment = re.sub(r"(?<!\\)#.*", "", raw).rstrip()
        first = first or number
        if without_comment.endswith("\\"):
            unfinished += without_comment[:-1]
            continue
        joined_line = (unfinished + without_comment).strip()
        if joined_line:
            yield first, joined_line
        unfinished, first = "", 0
    if unfinished.strip():
        yield first, unfinished.strip()


_PAIR = re.compile(r'([A-Za-z_0-9/]+)\s*=\s*("[^"]*"|\S*)')


def _line(place: str, text: str) -> Line:
    """Return a line ``Key=Value Key=Value``, parsed."""
    keys: dict[str, str] = {}
    spellings: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if not match:
            raise InvalidInstance(f"{place}: {shorten(text[position:])}: expected Key=Value")
        key = match[1].lower()
        keys[key], spellings[key] = match[2].strip('"'), match[1]
        position = match.end()
        while position < len(text) and text[position].isspace():
            position += 1
    return Line(place, keys, spellings)


def read_gres_conf(path: str | PathLike[str]) -> tuple[dict[str, str], tuple[Note, ...]]:
    """Return the type of the GPUs by host (the empty name is for all) of a gres.conf beside the
    file, and notes of the rest of it."""
    file = Path(path).with_name("gres.conf")
    types: dict[str, str] = {}
    notes: list[Note] = []
    for line in read_lines(file) if file.is_file() else ():
        name, hosts_text = line.keys.get("name", ""), line.keys.get("nodename", "")
        if name.lower() == "gpu" and line.keys.get("type"):
            types |= dict.fromkeys(
                hosts(hosts_text, line.place) if hosts_text else [""], line.keys["type"]
            )
        elif name and name.lower() != "gpu":
            subject = f"Name={name} of gres.conf"
            notes.append(Note(NoteKind.NOT_USED, f"{subject}: not handed out", subject=subject))
        for key in sorted(set(line.keys) & {"cores", "cpus", "links", "flags"}):
            subject = f"{line.spellings[key]} of gres.conf"
            text = f"{subject}: cores and GPUs are chosen without it"
            notes.append(Note(NoteKind.NOT_USED, text, subject=subject))
    return types, tuple(dict.fromkeys(notes))


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def seconds_of_limit(text: str, place: str) -> float:
    """Return seconds of minutes, or of ``[days-]hours:minutes:seconds`` as Slurm reads a time
    limit."""
    if text.upper() in ("NONE", "-1"):
        return float("inf")
    seconds = parse_slurm_time(text, MINUTE)
    if seconds is None:
        raise InvalidInstance(f"{place}: {shorten(text)}: expected minutes, or 2-00:00:00")
    return seconds


def seconds_of_minutes(text: str, place: str) -> float:
    """Return seconds of a limit that Slurm keeps in whole minutes, rounded up (``time_str2mins``).

    Examples
    --------
    >>> seconds_of_minutes("00:00:30", "slurm.conf:3"), seconds_of_minutes("5", "slurm.conf:3")
    (60.0, 300.0)
    """
    seconds = seconds_of_limit(text, place)
    return seconds if math.isinf(seconds) else 60.0 * math.ceil(seconds / 60)


def seconds_of_time(text: str, place: str) -> float:
    """Return seconds of a time that somebody types: ``4h``, ``1h30m``, or as Slurm reads a
    limit."""
    seconds = parse_duration(text)
    if seconds is not None:
        return seconds
    try:
        return seconds_of_limit(text, place)
    except InvalidInstance:
        raise InvalidInstance(
            f"{place}: {shorten(text)}: expected 4h, 90m, 4:00:00 or minutes"
        ) from None
