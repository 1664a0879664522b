"""Parquet tables that carry their own digest, so that damage is seen before anything is parsed.

The digest is the SHA-256 of all bytes of the file, with 64 zeros in the place of the digest. It
stands in the metadata after the name :data:`KEY`.
"""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cosched.errors import StudyError, optional
from cosched.io import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

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
