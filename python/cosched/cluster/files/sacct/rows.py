"""Rows of ``sacct -P`` as texts."""

from __future__ import annotations

import re
import shlex
from io import BytesIO
from os import PathLike
from pathlib import Path

import numpy as np

from cosched import io
from cosched.cluster.files.sbatch import BESIDE, Asked, options_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

_NEEDED = ("JobID", "State", "Submit", "Start")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES")
_FILE = Path(__file__).with_name("columns.toml")
_KNOWN: dict[str, str] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_READ, _FEW = frozenset(_KNOWN["read"].split()), frozenset(_KNOWN["few"].split())
_FREE = tuple(_KNOWN["free"].split())
#: As sacct prints them, by names in lower case.
_NAMES = {name.lower(): name for name in (*_READ, *_FREE)}
_STATE = re.compile(r"[A-Z_]+( by \S+|\+)?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-.*|[0-9]{9,11}|Unknown|None|")


def read_rows(path: str | PathLike[str], delimiter: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The columns that are looked at, as texts, with ``line``; and the lines that have other
    fields than the first. Where a text holds the delimiter, the fields are counted from both
    ends of the line."""
    text = io.read_bytes(path, renamed=True)
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInstance(f"{path}: not UTF-8 text")
    text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    text, mark = _with_mark(text, delimiter)
    first = text.partition(b"\n")[0].decode("utf-8", "replace")
    header = [_NAMES.get(name.lower(), name) for name in first.rstrip(mark).split(mark)]
    _check(path, header, delimiter)
    text = text if text.endswith(b"\n") else text + b"\n"
    raw = np.frombuffer(text, dtype=np.uint8)
    begin = np.concatenate([[0], np.flatnonzero(raw == ord("\n")) + 1])  # one more than lines
    bars = np.flatnonzero(raw == ord(mark))
    count = np.diff(np.searchsorted(bars, begin))
    del bars
    empty = np.diff(begin) == 1
    good = (count == count[0]) & ~empty
    wrong = np.flatnonzero(~good & ~empty)
    good[0] = False
    names = header + ["_"] * (int(count[0]) + 1 - len(header))  # -p ends lines with a bar
    mended, bad = _mended(text, begin, wrong, names, mark, header)
    # Runs of good lines, whole: a mask of all bytes would be as large as the file.
    others = np.concatenate([np.flatnonzero(~good), [len(good)]])
    spans = zip(others.tolist(), begin[others[:-1] + 1].tolist(), begin[others[1:]].tolist(),
                strict=False)  # fmt: skip
    kept = b"".join([mended.get(line, b"") + text[a:b] for line, a, b in spans])
    good[list(mended)] = True
    del text, raw, begin
    read = [name for name in header if name in _READ]
    kinds = {name: "category" if name in _FEW else str for name in read}
    frame = pd.read_csv(
        BytesIO(kept), sep=mark, header=None, names=names, usecols=read, quoting=3, dtype=kinds,
        keep_default_na=False, na_filter=False, encoding_errors="replace", index_col=False,
        lineterminator="\n",  # a carriage return may stand in a name
    ) if kept else pd.DataFrame({name: [] for name in read}).astype(kinds)  # fmt: skip
    frame["line"] = np.flatnonzero(good) + 1
    return frame, np.array(bad, dtype=np.int64) + 1


def _with_mark(text: bytes, delimiter: str) -> tuple[bytes, str]:
    """The text with one byte between fields."""
    if not isinstance(delimiter, str) or not delimiter or set(delimiter) & set("\n\r"):
        raise InvalidInstance(f"delimiter = {shorten(delimiter)}: expected what sacct was given")
    if len(delimiter.encode()) == 1:
        return text, delimiter
    return text.replace(delimiter.encode(), b"\x1f"), "\x1f"


def _check(path: str | PathLike[str], header: list[str], delimiter: str) -> None:
    missing = [name for name in _NEEDED if name not in header]
    if not missing and not {"Elapsed", "ElapsedRaw"} & set(header):
        missing = ["Elapsed"]
    if not missing and not set(_CPUS) & set(header):
        missing = ["NCPUS"]
    if not set(_NEEDED) & set(header) and re.match("[0-9]+[_.|+]?", header[0]):
        raise InvalidInstance(f"{path}: line 1: no header: sacct -P prints one without -n")
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InvalidInstance(
            f"{path}: line 1: {header.count(twice[0])} columns {twice[0]!r}: expected one"
        )
    if missing:
        other = "" if delimiter == "|" else f" with --delimiter {delimiter!r}"
        raise InvalidInstance(
            f"{path}: line 1: no column {missing[0]!r}: expected sacct -P output{other}"
        )


def _mended(
    text: bytes, begin: np.ndarray, wrong: np.ndarray, names: list[str], mark: str,
    header: list[str],
) -> tuple[dict[int, bytes], list[int]]:  # fmt: skip
    """Lines with too many delimiters, those of one free text taken out; and those that stay bad."""
    places = [names.index(name) for name in _FREE if name in header]
    mended: dict[int, bytes] = {}
    bad: list[int] = []
    for index in wrong.tolist():
        line = text[begin[index] : begin[index + 1] - 1].decode("utf-8", "replace")
        found = next(filter(None, (_split(line, k, names, mark) for k in places)), None)
        if found is None:
            bad.append(index)
        else:
            mended[index] = mark.join(found).encode() + b"\n"
    return mended, bad


def _split(line: str, free: int, names: list[str], mark: str) -> list[str] | None:
    """Fields where the text of column `free` may hold the delimiter; None if they make no sense."""
    left = line.split(mark, free)
    right = left[-1].rsplit(mark, len(names) - 1 - free)
    fields = [*left[:-1], right[0].replace(mark, " "), *right[1:]]
    if len(fields) != len(names):
        return None
    row = dict(zip(names, fields, strict=True))
    sound = _STATE.fullmatch(row["State"]) and all(
        _TIME.fullmatch(row[name]) for name in ("Submit", "Start", "Eligible") if name in row
    )
    return fields if sound else None


#: Columns that it brings, empty where it says nothing.
ASKED = ("constraint", "memory_per", *BESIDE, "name")
_SAYS = r"\s(?:--(?:constraint|mem|exclusive|licenses|dependency|nodelist|exclude|nice)|-[CLdwx])"


def of_lines(rows: pd.DataFrame) -> tuple[dict[str, np.ndarray], list[str]]:
    """Texts by the names of :data:`ASKED`, where a line has any; notes of what is not followed."""
    if "SubmitLine" not in rows:
        return {}, []
    found = {name: np.full(len(rows), "", dtype=object) for name in ASKED}
    codes, lines = pd.factorize(rows["SubmitLine"])
    says = pd.Series(lines, dtype=str).str.contains(_SAYS).to_numpy(dtype=bool)
    asked = Asked()
    told = {code: _of_line(lines[code], asked) for code in np.flatnonzero(says).tolist()}
    for row in np.flatnonzero(says[codes]).tolist():
        for name, text in told[codes[row]].items():
            found[name][row] = text
    return {name: texts for name, texts in found.items() if (texts != "").any()}, asked.notes()


def _of_line(line: str, asked: Asked) -> dict[str, str]:
    try:
        given = options_of(shlex.split(line)[1:], "SubmitLine")
    except (ValueError, InvalidInstance):
        asked.left["SubmitLine that cannot be read"] += 1
        return {}
    own = asked.beside(given)
    if "constraint" in given:
        own["constraint"] = given["constraint"]
    if "singleton" in own.get("dependency", ""):
        own["name"] = given.get("job-name", "")
    if given.get("mem") == "0":
        own["memory_per"] = "all"
    elif "mem-per-cpu" in given:
        own["memory_per"] = "core"
    return own
