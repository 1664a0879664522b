"""Memory that was freed and that the process keeps: allocators return it when they are asked."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def return_freed_memory() -> None:
    """Give freed memory back to the system, as far as the allocators can.

    Large logs are read in steps that each need as much memory as their result. Without this, the
    memory of a step stays with the process while the next one takes new memory.

    Examples
    --------
    >>> return_freed_memory()
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    """The function of the GNU C library; None where the system has another library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):
        return None
