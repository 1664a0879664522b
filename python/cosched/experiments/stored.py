"""What lies in a study's folder, and whether it is what was written there.

``state/study.json`` says whose the state is (study, plan, version) and lists its parts and the
finished results with their digests. Rows lie in ``state/part-NNNNNN.parquet``; a part says again
whose it is, so that it can be judged without that list.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cosched.errors import StudyError, printable
from cosched.experiments.seal import (
    MISSING,
    Damaged,
    read_json,
    read_table,
    write_json,
    write_table,
)

if TYPE_CHECKING:
    import pyarrow as pa

LIST = "state/study.json"
#: Digests of what is made of the results: tables, figures and the report.
OUTPUTS, REPORT = "state/outputs.json", "report.html"
RESULTS = ("results.parquet", "timings.parquet")
_PART = re.compile(r"part-([0-9]{6,9})\.parquet")
_FILE = re.compile(r"\w[^/\0]*(/\w[^/\0]*)?")
#: In the metadata of a part: whose it is.
_OWNER = "cosched.owner"

#: Study, plan and version: what all files of a state have in common.
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
        Of a table that is whole, else 0.

    Examples
    --------
    >>> CheckedFile("state/part-000002.parquet", "missing").damage
    'missing'
    """

    name: str
    damage: str = ""
    rows: int = 0


@dataclass(frozen=True)
class Stored:
    """A study's folder: ``owner`` is None where nothing there says whose the state is."""

    owner: Owner | None
    parts: dict[str, str]  # of those that are whole: name -> digest
    rows: list[dict[str, Any]]
    results: dict[str, str]  # finished: name -> digest
    files: list[CheckedFile]


def verify(out: str | PathLike[str]) -> list[CheckedFile]:
    """Compare the files of a study with the digests that were written with them.

    Parameters
    ----------
    out : str or path-like
        The folder that the study was told as ``out``; it may be at work there.

    Returns
    -------
    list of CheckedFile
        The state's list, its parts, ``results.parquet`` and ``timings.parquet``; tables, figures
        and the report.

    Raises
    ------
    StudyError
        No study is there.

    Notes
    -----
    A digest is the SHA-256 of a whole file: no damage of a byte goes unseen. It is no signature:
    who wants to can forge it. ``run(..., resume=True)`` runs the tasks of damaged parts again.

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


def part_number(name: str) -> int:
    """The number in the name of a part; 0 for the names of other files."""
    found = _PART.fullmatch(name)
    return int(found[1]) if found else 0


def write_list(folder: Path, owner: Owner, parts: dict[str, str], results: dict[str, str]) -> None:
    """Write ``state/study.json``."""
    write_json({"owner": owner, "parts": parts, "results": results}, folder / LIST)


def write_digests(folder: Path, outputs: Iterable[Path]) -> None:
    """Write ``state/outputs.json``: digests of files made of the results."""
    names = {path.relative_to(folder).as_posix(): _digest(path) for path in outputs}
    write_json({"files": names}, folder / OUTPUTS)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_outputs(folder: Path) -> list[CheckedFile]:
    """Judge tables, figures and the report by their digests, which are written after them."""
    if not (folder / REPORT).exists() and not (folder / OUTPUTS).exists():
        return []
    try:
        digests = _digests(folder / OUTPUTS, read_json(folder / OUTPUTS), "files")
    except Damaged as damage:
        return [CheckedFile(OUTPUTS, damage.why)]
    return [CheckedFile(OUTPUTS)] + [
        CheckedFile(name, _output_damage(folder / name, digest)) for name, digest in digests.items()
    ]


def _output_damage(path: Path, digest: str) -> str:
    try:
        found = _digest(path)
    except FileNotFoundError:
        return MISSING
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if found == digest else "its bytes do not match its digest"


def write_part(folder: Path, number: int, owner: Owner, table: pa.Table) -> tuple[str, str]:
    """Write a part; its name and digest."""
    name = f"part-{number:06d}.parquet"
    said = {_OWNER: json.dumps(owner)}
    return name, write_table(table, folder / "state" / name, **said)


def read_stored(folder: Path) -> Stored:
    """Read and judge all that a study keeps in `folder`."""
    # The list before the folder: a run at work adds parts and takes none away.
    listed, damage = _read_list(folder)
    digests: dict[str, str] = listed.get("parts", {})
    there = {path.name for path in (folder / "state").glob("part-*") if part_number(path.name)}
    read = {name: _read_part(folder / "state" / name) for name in sorted(there | digests.keys())}
    owner = listed.get("owner") or _most_common_owner(read.values())
    files = [CheckedFile(LIST, damage)] if read or damage != MISSING else []
    parts: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for name, part in read.items():
        why = part.damage or _foreign(part, owner, digests.get(name))
        files.append(CheckedFile(f"state/{name}", why, 0 if why else len(part.rows)))
        if not why:
            parts[name] = part.digest
            rows += part.rows
    results = listed.get("results", {})
    files += [
        _check_results(folder, name, results.get(name))
        for name in RESULTS
        if name in results or (folder / name).exists()
    ]
    return Stored(owner, parts, rows, results, files + _check_outputs(folder))


class _Part(NamedTuple):
    """What a part holds, or its damage."""

    damage: str = ""
    digest: str = ""
    owner: Owner | None = None
    rows: Sequence[dict[str, Any]] = ()


def _read_list(folder: Path) -> tuple[dict[str, Any], str]:
    """``state/study.json``, or its damage."""
    try:
        listed = read_json(folder / LIST)
        if not isinstance(listed.get("owner", {}), dict):
            raise Damaged(folder / LIST, "its owner is none")
        known = {key: _digests(folder / LIST, listed, key) for key in ("parts", "results")}
        return {**listed, **known}, ""
    except Damaged as damage:
        return {}, damage.why


def _digests(path: Path, fields: dict[str, Any], key: str) -> dict[str, str]:
    """Digests by names of files in the study's folder, as a file says."""
    found = fields.get(key, {})
    if not isinstance(found, dict) or not all(
        _FILE.fullmatch(name) and isinstance(digest, str) for name, digest in found.items()
    ):
        raise Damaged(path, f"its {key} are no names and digests")
    return found


def _read_part(path: Path) -> _Part:
    try:
        file, digest = read_table(path)
    except Damaged as damage:
        return _Part(damage.why)
    owner = json.loads(file.metadata.metadata[_OWNER.encode()])
    return _Part("", digest, owner, file.read().to_pylist())


def _foreign(part: _Part, owner: Owner | None, digest: str | None) -> str:
    """Why a whole part is not one of this state; empty if it is."""
    if part.owner != owner:
        return "it belongs to another study, plan or version"
    if digest not in (None, part.digest):
        return "it is not the part of that name which was written"
    return ""


def _check_results(folder: Path, name: str, digest: str | None) -> CheckedFile:
    """Judge a table of results by its digest, and by the one in the list if that has one."""
    try:
        file, found = read_table(folder / name)
    except Damaged as damage:
        return CheckedFile(name, damage.why)
    if digest is not None and found != digest:
        return CheckedFile(name, "it is not the one that was written")
    return CheckedFile(name, "", file.metadata.num_rows)


def _most_common_owner(parts: Iterable[_Part]) -> Owner | None:
    """Whose the parts are, where the list does not say it."""
    owners = Counter(json.dumps(part.owner) for part in parts if part.owner)
    return json.loads(owners.most_common(1)[0][0]) if owners else None
