"""Names of the files that tasks write their outputs to."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

#: Characters of a name before it is cut; file systems take 255 with what is added to it.
_LONGEST = 100


def output_names(tasks: Iterable[str]) -> dict[str, str]:
    """What the name of each task's output begins with: letters, digits and ``_.-~%@``.

    Different tasks have different ones, also where capitals do not count; a long name, and one that
    differs from another in capitals only, ends with a digest.

    Examples
    --------
    >>> list(output_names(["fem", "x/y", ".a", "LU", "lu"]).values())
    ['fem', 'x%2Fy', '%2Ea', 'LU@50326770c34ca13b', 'lu@80c0fcbbfa9d03d8']
    """
    plain = {task: _plain(task) for task in tasks}
    alike = Counter(name.lower() for name in plain.values())
    return {
        task: name if len(name) <= _LONGEST and alike[name.lower()] == 1 else _told_apart(task)
        for task, name in plain.items()
    }


def _plain(task: str) -> str:
    """The name percent-encoded; none is hidden, or looks like an option."""
    name = quote(task, safe="", errors="surrogatepass")
    return f"%{ord(name[0]):02X}{name[1:]}" if name[:1] in (".", "-") else name


def _told_apart(task: str) -> str:
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    cut = re.sub(r"%.?$", "", _plain(task)[:_LONGEST])
    return f"{cut}@{digest}"
