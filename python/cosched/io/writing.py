"""Files out: whole or not at all."""

from __future__ import annotations

import json
import math
import operator
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.errors import InvalidInstance

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary name beside `path`; renamed to it at the end, removed on an error.

    So that an interrupted or failed command leaves nothing half-written.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder to write {target.name} into")
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix
    )
    os.close(handle)
    try:
        yield Path(name)
        # mkstemp makes private files; give the result the rights of a new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(text: str, path: str | PathLike[str]) -> None:
    """Write text atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(data: Any, path: str | PathLike[str]) -> None:
    """Write plain data atomically; nan and infinities become null."""
    parts = json.JSONEncoder(indent=1, allow_nan=False).iterencode(plain(data))
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(parts)  # never the whole text in memory
        file.write("\n")


def plain(data: Any) -> Any:
    """Numpy values as Python's, tuples as lists, numbers that JSON lacks as None.

    What is plain already is returned itself, not copied: a schedule may have millions of rows.
    """
    if isinstance(data, dict):
        made = {str(key): plain(value) for key, value in data.items()}
        return data if all(made.get(key, made) is value for key, value in data.items()) else made
    if isinstance(data, (list, tuple)):
        parts = [plain(value) for value in data]
        same = isinstance(data, list) and all(map(operator.is_, parts, data))
        return data if same else parts
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def check_suffix(path: str | PathLike[str], suffixes: tuple[str, ...]) -> str:
    """The suffix of an output file, one of `suffixes`."""
    suffix = Path(path).suffix
    if suffix not in suffixes:
        raise InvalidInstance(f"{path}: expected a name that ends in {', '.join(suffixes)}")
    return suffix


def write_frame(
    frame: pd.DataFrame,
    path: str | PathLike[str],
    suffixes: tuple[str, ...] = (".csv", ".json", ".md"),
) -> None:
    """Write a table by the suffix of `path`."""
    suffix = check_suffix(path, suffixes)
    if suffix == ".json":
        write_json(frame.to_dict(orient="records"), path)
    elif suffix == ".csv":
        write_text(frame.to_csv(index=False), path)
    else:
        write_text(frame.to_markdown(index=False) + "\n", path)
