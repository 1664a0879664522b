"""GNU recutils' rec format, as StarPU writes it: blocks of ``Key: value``, blank lines between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cosched import io
from cosched.errors import InvalidInstance, shorten


@dataclass
class Block:
    """A record: the line that it begins on, its type (``%rec: timing``), its fields."""

    line: int
    kind: str
    fields: dict[str, str] = field(default_factory=dict)


def blocks(text: str, path: str) -> Iterator[Block]:
    """The records of a file in order; a field that is there twice in one is refused.

    Examples
    --------
    >>> found = list(blocks("%rec: timing\\n\\nModel: gemm\\nMean: 3\\n\\nModel: trsm\\n", "a.rec"))
    >>> [(block.line, block.kind, block.fields) for block in found]
    [(3, 'timing', {'Model': 'gemm', 'Mean': '3'}), (6, 'timing', {'Model': 'trsm'})]
    """
    kind, block = "", None
    for number, line in enumerate(io.polled(text.splitlines()), start=1):
        if not line.strip():
            if block is not None:
                yield block
            block = None
        elif line.startswith("%"):
            key, _, value = line[1:].partition(":")
            kind = value.strip() if key == "rec" else kind
        elif not line.startswith("#"):
            key, colon, value = line.partition(":")
            if not colon or not key.strip():
                raise InvalidInstance(
                    f"{path}: line {number}: {shorten(line)}: expected Key: value"
                )
            block = block or Block(number, kind)
            if key in block.fields:
                raise InvalidInstance(f"{path}: line {number}: {shorten(key)} is there twice")
            block.fields[key] = value.removeprefix(" ")
    if block is not None:
        yield block


def hexadecimal(text: str, where: str) -> int:
    """A number in hexadecimal digits, as StarPU prints its hashes."""
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", text.strip()):
        raise InvalidInstance(f"{where}: {shorten(text)}: expected hexadecimal digits")
    return int(text, 16)
