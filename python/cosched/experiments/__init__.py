"""The papers' tables and figures as studies: one command, on one machine or many.

>>> from cosched import experiments
>>> "packs-fig2-5" in experiments.STUDIES
True

``experiments.run("packs-fig2-5", quick=True, out="packs")`` runs one, as ``cosched study run``
does. A study is a plan of independent tasks, a row a task; ``README.md`` in this package
shows how to write one. Nothing else of cosched needs this package. A run needs the extra
``cosched-hpc[studies]``: without it the run says so before it begins.
"""

from cosched.border import guard_public
from cosched.described import described
from cosched.experiments.catalogue import STUDIES, find
from cosched.experiments.runner import run
from cosched.experiments.state import verify
from cosched.experiments.study import Study, data_path, with_registered
from cosched.experiments.study_outputs import StudyResult

__all__ = [
    "STUDIES",
    "Study",
    "StudyResult",
    "data_path",
    "find",
    "run",
    "verify",
    "with_registered",
]

described(globals())
guard_public(globals())
