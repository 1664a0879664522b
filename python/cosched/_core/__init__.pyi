"""
C++ core of cosched. Not public: use cosched.<family>.
"""
from __future__ import annotations
import typing
from . import packs
from . import dags
from . import cluster
from . import moldable
from . import bags
__all__: list[str] = ['bags', 'check_interrupt', 'cluster', 'dags', 'forget_stop', 'moldable', 'packs', 'request_stop', 'seconds_left', 'time_limit']
class time_limit:
    def __enter__(self) -> None:
        ...
    def __exit__(self, *args) -> None:
        ...
    def __init__(self, seconds: typing.SupportsFloat | typing.SupportsIndex | None) -> None:
        ...
def check_interrupt() -> None:
    ...
def forget_stop() -> None:
    ...
def request_stop() -> None:
    ...
def seconds_left() -> float:
    ...
