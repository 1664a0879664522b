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
    trim = _of_c_library("malloc_trim")
    if trim is not None:
        trim(0)


def keep_no_freed_arrays() -> None:
    """Have the memory of large arrays go back to the system as soon as each of them is freed.

    The GNU C library does so by itself at first. After some large arrays it puts all that are
    smaller than these into its heap, where what is still in use between them keeps their memory:
    of an audit of 50,000 jobs that is a third of all it takes. It is for the commands of a program
    of our own: it changes the whole process, and each large array takes some microseconds more.

    Examples
    --------
    >>> keep_no_freed_arrays()
    """
    set_option = _of_c_library("mallopt")
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _LARGE_ARRAY)


#: The option of mallopt for the least size (bytes) of a block that is mapped by itself.
_M_MMAP_THRESHOLD = -3
#: Bytes: 32,000 numbers of eight bytes.
_LARGE_ARRAY = 256_000


@cache
def _of_c_library(name: str) -> Any:
    """A function of the GNU C library; None where the system has another library."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
