"""The numbers of Casanova, Stillwell, Vivien 2011, as printed there (``paper_tables.toml``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cosched import io

_FILE = Path(__file__).with_name("paper_tables.toml")


@cache
def table(number: int) -> dict[str, tuple[float, ...]]:
    """Policy -> the numbers of its row in Table 2, 3, 4 or 5, in the order of the paper's rows."""
    text = io.parse_toml(io.read_text(_FILE), str(_FILE))[f"table{number}"]
    rows = (line.split("|") for line in text.strip().splitlines())
    return {name.strip(): tuple(map(float, cells.split())) for name, cells in rows}
