"""Folders out: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A context with a temporary folder beside `path`, which gets its name at the end.

    On an error nothing of it is left.

    Folders above that are missing are made, and removed again on an error. An empty folder of that
    name is replaced.

    Yields
    ------
    pathlib.Path
        The folder to write into.

    Examples
    --------
    >>> place = pathlib.Path(tempfile.mkdtemp()) / "new"
    >>> with new_folder(place) as temporary:
    ...     _ = (temporary / "a.txt").write_text("one")
    >>> [path.name for path in place.iterdir()]
    ['a.txt']
    """
    missing = [folder for folder in path.parents if not folder.exists()]
    name = path.parent / f".cosched-{secrets.token_hex(8)}"
    try:
        name.mkdir(parents=True)
        yield name
        os.replace(name, path)
    except BaseException as error:
        shutil.rmtree(name, ignore_errors=True)
        for folder in missing:
            with contextlib.suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        # A full disk does not say what was being written, other errors a name that goes.
        if isinstance(error, OSError) and error.errno:
            names = [str(text) for text in (error.filename, error.filename2) if text is not None]
            if not names or any(text.startswith(str(name)) for text in names):
                error.filename, error.filename2 = str(path), None
        raise
