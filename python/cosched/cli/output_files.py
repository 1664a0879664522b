"""Files that a command writes by their endings, and those that it needs for a moment."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def scratch_files(outputs: Sequence[Path], *suffixes: str) -> Iterator[list[Path]]:
    """One file per suffix: the output that has it, or a file that is removed in the end.

    Examples
    --------
    >>> with scratch_files([pathlib.Path("audit.html")], ".html", ".json") as (page, numbers):
    ...     page.name, numbers.name
    ('audit.html', 'scratch.json')
    """
    by_suffix = {path.suffix: path for path in outputs}
    with tempfile.TemporaryDirectory() as folder:
        yield [by_suffix.get(suffix, Path(folder) / f"scratch{suffix}") for suffix in suffixes]


def read_numbers(path: Path) -> Any:
    """The numbers of a report, from the file (.json) that has them."""
    return json.loads(path.read_text(encoding="utf-8"))
