"""The archives that are not ours to distribute (docs/howto/archives.md)."""

import os
from pathlib import Path

#: The folder that COSCHED_DATA names; without it a path below which nothing is.
DATA = Path(os.environ.get("COSCHED_DATA") or os.devnull)
