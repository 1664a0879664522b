"""What SubmitLine, as sbatch, salloc or srun was called, says beside sacct's other columns."""

from __future__ import annotations

import shlex

import numpy as np

from cosched.cluster.files.sbatch import BESIDE, Asked, options_of
from cosched.errors import InvalidInstance
from cosched.lazy import pd

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
