"""What lies in a study's folder, and whether it is what was written there.

``state/rows.jsonl`` has a line a row, each behind its SHA-256. Its first line says whose the rows
are (study, plan, version), how many, and the digests of the finished results; the last line says
that again, so that no damage in one place hides it.

A Parquet table carries its own digest, so that damage is seen before anything is parsed: the
SHA-256 of all bytes of the file, with 64 zeros in its place, in the metadata after :data:`KEY`.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cosched.errors import StudyError, optional, printable
from cosched.experiments.worker import Outcome
from cosched.io import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS, REPORT = "state/rows.jsonl", "report.html"
RESULTS = ("results.parquet", "timings.parquet")
_FILE = re.compile(r"\w[^/\0]*(/\w[^/\0]*)?")
_FIELDS = ("id", *Outcome._fields)

#: Study, plan and version: what all rows of a state have in common.
Owner = dict[str, Any]


class CheckedFile(NamedTuple):
    """A file of a study, as :func:`verify` found it.

    Attributes
    ----------
    name : str
        Relative to the study's folder.
    damage : str
        What is wrong with it; empty where it is whole.
    rows : int
        Of the rows or a table that is whole, else 0.

    Examples
    --------
    >>> CheckedFile("results.parquet", "missing").damage
    'missing'
    """

    name: str
    damage: str = ""
    rows: int = 0


@dataclass(frozen=True)
class Stored:
    """A study's folder: ``owner`` is None where nothing there says whose the rows are."""

    owner: Owner | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)  # of what is finished, by name
    files: list[CheckedFile] = field(default_factory=list)


def verify(out: str | PathLike[str]) -> list[CheckedFile]:
    """Compare the files of a study with the digests that were written with them.

    Parameters
    ----------
    out : str or path-like
        The folder that the study was told as ``out``; it may be at work there.

    Returns
    -------
    list of CheckedFile
        The state's rows, ``results.parquet`` and ``timings.parquet``; tables, figures and the
        report.

    Raises
    ------
    StudyError
        No study is there.

    Notes
    -----
    A digest is a SHA-256: no damage of a byte goes unseen. It is no signature: who wants to can
    forge it. ``run(..., resume=True)`` runs the tasks of damaged rows again.

    Examples
    --------
    >>> from cosched import experiments
    >>> files = experiments.verify("packs")  # doctest: +SKIP
    >>> [file.name for file in files if file.damage]  # doctest: +SKIP
    []
    """
    folder = Path(out)
    files = read_stored(folder).files
    if not files:
        raise StudyError(f"{printable(folder)}: no study is there: expected the --out of a study")
    return files


def sealed(fields: dict[str, Any]) -> str:
    """A line of the rows' file: fields as JSON behind their digest."""
    text = json.dumps(fields)
    return f"{hashlib.sha256(text.encode()).hexdigest()} {text}\n"


def write_rows(folder: Path, owner: Owner, lines: Collection[str], digests: dict[str, str]) -> None:
    """Write ``state/rows.jsonl``, as a whole or not at all."""
    head = sealed({"owner": owner, "rows": len(lines), "digests": digests})
    with replacing(folder / ROWS) as temporary:
        temporary.write_text("".join([head, *lines, head]), encoding="utf-8")


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Digests of finished files."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def read_stored(folder: Path) -> Stored:
    """Read and judge all that a study keeps in `folder`."""
    stored, damage = _read_rows(folder / ROWS)
    digests = stored.digests
    results = [
        _checked(folder, name, digests.get(name))
        for name in RESULTS
        if name in digests or (folder / name).exists()
    ]
    others = [_checked(folder, name, digests[name]) for name in digests if name not in RESULTS]
    if damage == MISSING and not results:
        return stored
    rows = CheckedFile(ROWS, damage, 0 if damage else len(stored.rows))
    return Stored(stored.owner, stored.rows, digests, [rows, *results, *others])


def _read_rows(path: Path) -> tuple[Stored, str]:
    """What the lines say that are whole, and what is wrong with the file."""
    try:
        *lines, rest = read_bytes(path).split(b"\n")
    except Damaged as lost:
        return Stored(), lost.why
    whole = [fields for line in lines if (fields := _opened(line)) is not None]
    heads = [fields for fields in whole if _is_head(fields)]
    rows = [fields for fields in whole if tuple(fields) == _FIELDS]
    if not heads:
        return Stored(), f"none of its {len(lines)} lines says whose the rows are"
    head, broken = heads[0], len(lines) - len(heads) - len(rows)
    damage = ""
    if broken or rest:
        damage = f"{broken + bool(rest)} of its lines do not match their digests"
    elif (len(heads), len(rows)) != (2, head["rows"]):
        damage = f"{len(rows)} rows where {head['rows']} were written"
    return Stored(head["owner"], rows, head["digests"]), damage


def _opened(line: bytes) -> dict[str, Any] | None:
    """The fields of a line that is whole."""
    digest, _, text = line.partition(b" ")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    fields = json.loads(text)
    return fields if isinstance(fields, dict) else None


def _is_head(fields: dict[str, Any]) -> bool:
    owner, digests = fields.get("owner"), fields.get("digests")
    if not isinstance(owner, dict) or not isinstance(digests, dict) or "rows" not in fields:
        return False
    return all(_FILE.fullmatch(name) and isinstance(d, str) for name, d in digests.items())


def _checked(folder: Path, name: str, digest: str | None) -> CheckedFile:
    """Judge a finished file by its digest; results have one of their own, too."""
    try:
        rows = read_table(folder / name).metadata.num_rows if name in RESULTS else 0
        data = read_bytes(folder / name)
    except Damaged as damage:
        return CheckedFile(name, damage.why)
    if digest in (None, hashlib.sha256(data).hexdigest()):
        return CheckedFile(name, "", rows)
    return CheckedFile(name, "it is not the one that was written" if rows else OTHER_BYTES)


KEY = "cosched.sha256"
#: Why a file is damaged that is not there, and one whose bytes are others.
MISSING, OTHER_BYTES = "missing", "its bytes do not match its digest"
_NAME = "cosched.file"
_BLANK = "0" * 64
# Type and length of the digest stand between name and digest.
_SEAL = re.compile(KEY.replace(".", "\\.").encode() + b".{2,4}([0-9a-f]{64})", re.DOTALL)


class Damaged(StudyError):
    """A file is not what was written; ``why`` says how that is known."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: damaged ({why})")
        self.why = why


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, as a whole or not at all; its name is in its metadata too."""
    pq = optional("pyarrow.parquet", extra="studies")
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_NAME: path.name, KEY: _BLANK})
    data = sink.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    *_, seal = _SEAL.finditer(data)
    with replacing(path) as temporary:
        temporary.write_bytes(data[: seal.start(1)] + digest.encode() + data[seal.end(1) :])


def read_table(path: Path) -> pq.ParquetFile:
    """A table that is whole; Damaged if it is not."""
    pq = optional("pyarrow.parquet", extra="studies")
    data = read_bytes(path)
    if not data.startswith(b"PAR1") or not any(map(_is_of, _SEAL.finditer(data))):
        raise Damaged(path, OTHER_BYTES)
    file = pq.ParquetFile(io.BytesIO(data))
    if file.metadata.metadata.get(_NAME.encode(), b"").decode() != path.name:
        raise Damaged(path, "it was not written by that name")
    return file


def read_bytes(path: Path) -> bytes:
    """All of a file; Damaged if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Damaged(path, MISSING) from None
    except OSError as error:
        raise Damaged(path, f"cannot be read: {error.strerror}") from None


def _is_of(seal: re.Match[bytes]) -> bool:
    """Whether what looks like the digest of a file is the digest of the rest of it."""
    data = seal.string
    blank = data[: seal.start(1)] + _BLANK.encode() + data[seal.end(1) :]
    return hashlib.sha256(blank).hexdigest().encode() == seal[1]
