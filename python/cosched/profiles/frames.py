"""What the labels of a DataFrame say: processor counts, and names."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched.core.arrays import real_array
from cosched.core.text import rows_named, texts
from cosched.errors import InvalidInstance, shorten
from cosched.profiles.completion import MOST_PROCESSORS, Runs, complete


def labelled(times: Any, names: Any, origin: Any, notes: Any) -> tuple[Any, Any, Any, Any]:
    """The arguments of an instance, completed by the labels of `times` where it is a DataFrame.

    Column labels are processor counts, integers or such text; those between them are filled as in
    files, by interpolation. The index names the rows. pandas' own numbering from 0 says nothing.

    Examples
    --------
    >>> times, names, _, notes = labelled(
    ...     pd.DataFrame([[8.0, 2.0]], index=["solver"], columns=[1, 4]), None, None, ()
    ... )
    >>> times.round(3).tolist(), names, len(notes)
    ([[8.0, 4.0, 2.667, 2.0]], ('solver',), 1)
    """
    names = rows_named(times, names)
    if not hasattr(times, "iloc") or times.ndim != 2 or _numbered(times.columns):
        return times, names, origin, notes
    counts = [_count(label) for label in times.columns]
    if twice := {count for count in counts if counts.count(count) > 1}:
        raise InvalidInstance(f"times: two columns of {min(twice)} processors")
    table = real_array(times, "times", 2)[:, np.argsort(counts)]
    counts.sort()
    if counts == [*range(1, len(counts) + 1)]:
        return table, names, origin, notes
    if origin is not None:
        raise InvalidInstance("origin: expected times on all counts 1, 2, 3, ...")
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise InvalidInstance(
            f"times[{row}, {column}] = nan: expected seconds, or inf where it cannot run"
        )
    if counts[0] > 1:
        raise InvalidInstance(
            f"times: columns {', '.join(map(str, counts[:5]))}: expected one of 1 processor as well"
        )
    runs: dict[str, Runs] = {
        str(row): dict(zip(counts, of_row, strict=True))
        for row, of_row in enumerate(table.tolist())
    }
    full = complete(runs)
    return full.times, names, full.origin, (*texts(notes, "notes"), *full.notes)


def _numbered(columns: Any) -> bool:
    return list(columns) == [*range(len(columns))]


def _count(label: Any) -> int:
    whole = isinstance(label, float) and label.is_integer()  # as pandas reads them beside a gap
    text = str(int(label) if whole else label).strip()
    if isinstance(label, (bool, np.bool_)) or not text.isascii() or not text.isdigit():
        raise InvalidInstance(
            f"times: column {shorten(label)}: expected a processor count, or no labels"
        )
    count = int(text)
    if not 1 <= count <= MOST_PROCESSORS:
        raise InvalidInstance(
            f"times: column {shorten(label)}: expected a processor count in 1..{MOST_PROCESSORS}"
        )
    return count
