"""What is kept of the studies at full size: small Parquet files in the package itself.

They lie in ``kept/`` beside this file (``docs/results/extracts`` is a link to it), so that the
ledger answers from an installed package, without a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cosched.errors import StudyError, optional
from cosched.experiments.ledger import NotKept
from cosched.lazy import pd

FOLDER = Path(__file__).parent / "kept"
_FACTS = b"cosched.kept"
#: Binary digits that are kept of results and of measured times: nine and three decimal ones.
_DIGITS, _DIGITS_OF_TIMES = 32, 10
_FEW_DECIMALS = 4


def names(folder: Path = FOLDER) -> list[str]:
    """The studies of which results are kept."""
    return sorted(path.stem for path in folder.glob("*.parquet"))


def read(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The kept rows of a study; NotKept where there are none."""
    frame = _table(name, folder).to_pandas()
    frame.attrs.clear()
    return frame


def facts(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """``rows, seconds, date, version`` of the run that the kept rows are of."""
    return json.loads(_table(name, folder).schema.metadata[_FACTS])


def _table(name: str, folder: Path) -> Any:
    parquet = optional("pyarrow.parquet", extra="studies")
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise NotKept(f"no run of {name} at full size is kept")
    return parquet.read_table(path)


def keep(
    name: str,
    frame: pd.DataFrame,
    columns: tuple[str, ...],
    about: Mapping[str, Any],
    folder: Path = FOLDER,
) -> Path:
    """Write the columns that tables and claims need; a run with errors is not kept.

    Numbers are rounded to nine decimal digits, measured times to three; a number of few decimals,
    which may be the key of a row, stays as it is.
    """
    pyarrow = optional("pyarrow", extra="studies")
    parquet = optional("pyarrow.parquet", extra="studies")
    errors = int((frame.status == "error").sum())
    if errors:
        raise StudyError(f"{name}: {errors} tasks ended in an error: their rows cannot be kept")
    missing = [column for column in columns if column not in frame]
    if missing:
        raise StudyError(f"{name}: no column {', '.join(missing)} in its results")
    some = _shortened(frame[list(columns)])
    numbers = list(some.select_dtypes("float").columns)
    table = pyarrow.Table.from_pandas(some, preserve_index=False)
    table = table.replace_schema_metadata({_FACTS: json.dumps(dict(about), sort_keys=True)})
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.parquet"
    parquet.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=[column for column in columns if column not in numbers],
        use_byte_stream_split=numbers,
    )
    return path


def _shortened(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers without the digits that no claim needs: they are most of a file."""
    short = {}
    for column in frame.select_dtypes("float").columns:
        digits = _DIGITS_OF_TIMES if column.startswith("seconds") else _DIGITS
        number = frame[column].to_numpy()
        share, power = np.frexp(number)
        rounded = np.ldexp(np.round(np.ldexp(share, digits)), power - digits)
        short[column] = np.where(np.round(number, _FEW_DECIMALS) == number, number, rounded)
    return frame.assign(**short)
