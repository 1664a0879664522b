"""Times of parallel codes from measurements: reading, completing, writing.

Few codes are measured on every processor count. :func:`complete` fills the rest:

* ``"interpolation"`` (the default): between two measured counts, log t is linear in log q,
  that is, a power law through both. It keeps every measurement, cannot over- or undershoot
  its neighbours, and assumes nothing about the code as a whole.
* ``"amdahl"``: a + b / q + c log2 q with a, b, c >= 0 (a serial part, a parallel part, and
  an overhead that grows with processors), least squares of the relative errors.
* ``"power-law"``: a q^-alpha + c (q - 1) with a, c >= 0 and 0 <= alpha <= 1, likewise.

Measured counts always keep their measured time. Outside the measured counts nothing is
assumed unless ``extrapolate=True``; then the model (for ``"interpolation"``, the Amdahl fit,
scaled to meet the nearest measurement) goes on.
"""

from __future__ import annotations

from cosched.core import Argument
from cosched.profiles.completion import (
    EXTRAPOLATED,
    INTERPOLATED,
    MEASURED,
    MOST_PROCESSORS,
    Profiles,
    complete,
)
from cosched.profiles.files import from_csv, read, write
from cosched.profiles.monotony import monotone

__all__ = [
    "ARGUMENTS",
    "EXTRAPOLATED",
    "INTERPOLATED",
    "MEASURED",
    "MOST_PROCESSORS",
    "Profiles",
    "complete",
    "from_csv",
    "monotone",
    "read",
    "write",
]

#: What the command line takes for families that read such files.
ARGUMENTS = (
    Argument(
        "--fit", "fit", "Between measured counts: interpolation, amdahl or power-law.", parse=str
    ),
    Argument(
        "--extrapolate",
        "extrapolate",
        "Use the fitted model outside measured counts.",
        parse=bool,
    ),
    Argument(
        "--repair", "repair", "Make the times monotone (measured ones are anyway).", parse=bool
    ),
)
