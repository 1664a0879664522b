"""Files that carry their own digest, so that damage is seen before anything is parsed.

The digest is the SHA-256 of all bytes of the file, with 64 zeros in the place of the digest. It
stands after the name :data:`KEY`: in the metadata of a Parquet file, as a member of a JSON file.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.errors import StudyError, optional
from cosched.io import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

KEY = "cosched.sha256"
#: Why a file is damaged that is not there.
MISSING = "missing"
_NAME = "cosched.file"
_BLANK = "0" * 64
# Between name and digest: `": "` in JSON; type and length in the metadata of Parquet.
_SEAL = re.compile(KEY.replace(".", "\\.").encode() + b".{2,4}([0-9a-f]{64})", re.DOTALL)


class Damaged(StudyError):
    """A file is not what was written; ``why`` says how that is known."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: damaged ({why})")
        self.why = why


def write_table(table: pa.Table, path: Path, **fields: str) -> str:
    """Write a table as Parquet, as a whole or not at all; its digest.

    `fields` become metadata of the file, and so does its name.
    """
    pq = optional("pyarrow.parquet", extra="studies")
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({**fields, _NAME: path.name, KEY: _BLANK})
    return _write(sink.getvalue(), path)


def write_json(fields: dict[str, Any], path: Path) -> None:
    """Write a dictionary as JSON, as a whole or not at all."""
    _write((json.dumps({**fields, KEY: _BLANK}, indent=1) + "\n").encode(), path)


def read_table(path: Path) -> tuple[pq.ParquetFile, str]:
    """A table that is whole, and its digest."""
    pq = optional("pyarrow.parquet", extra="studies")
    data, digest = _read(path, b"PAR1")
    file = pq.ParquetFile(io.BytesIO(data))
    if file.metadata.metadata.get(_NAME.encode(), b"").decode() != path.name:
        raise Damaged(path, "it was not written by that name")
    return file, digest


def read_json(path: Path) -> dict[str, Any]:
    """A dictionary that is whole; raises as :func:`read_table` does."""
    return json.loads(_read(path, b"{")[0])


def _write(data: bytes, path: Path) -> str:
    """Write `data`, which has a blank digest, and its digest in that place."""
    digest = hashlib.sha256(data).hexdigest()
    *_, seal = _SEAL.finditer(data)
    with replacing(path) as temporary:
        temporary.write_bytes(data[: seal.start(1)] + digest.encode() + data[seal.end(1) :])
    return digest


def _read(path: Path, begin: bytes) -> tuple[bytes, str]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise Damaged(path, MISSING) from None
    except OSError as error:
        raise Damaged(path, f"cannot be read: {error.strerror}") from None
    for seal in _SEAL.finditer(data) if data.startswith(begin) else ():
        blank = data[: seal.start(1)] + _BLANK.encode() + data[seal.end(1) :]
        if hashlib.sha256(blank).hexdigest().encode() == seal[1]:
            return data, seal[1].decode()
    raise Damaged(path, "its bytes do not match its digest")
