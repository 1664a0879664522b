"""
C++ core of cosched. Not public: use cosched.<family>.
"""
from __future__ import annotations
import collections.abc
import enum
import numpy
import numpy.typing
import typing
from . import packs
from . import dags
from . import cluster
from . import slurm
from . import moldable
from . import bags
__all__: list[str] = ['Sharing', 'SlowdownRule', 'bags', 'check_interrupt', 'cluster', 'dags', 'forget_stop', 'moldable', 'packs', 'request_stop', 'seconds_left', 'slurm', 'time_limit']
class time_limit:
    def __enter__(self) -> None:
        ...
    def __exit__(self, *args) -> None:
        ...
    def __init__(self, seconds: typing.SupportsFloat | typing.SupportsIndex | None) -> None:
        ...
class SlowdownRule(enum.Enum):
    max = ...
    product = ...
    sum = ...
    @classmethod
    def __new__(cls, value):
        ...
class Sharing:
    def __init__(self, tasks: typing.SupportsInt | typing.SupportsIndex, resources: collections.abc.Mapping[str, tuple[typing.Annotated[numpy.typing.ArrayLike, numpy.float64], typing.SupportsFloat | typing.SupportsIndex]], slowdowns: tuple[typing.Annotated[numpy.typing.ArrayLike, numpy.float64], SlowdownRule] | None, bandwidth: tuple[typing.Annotated[numpy.typing.ArrayLike, numpy.float64], typing.SupportsFloat | typing.SupportsIndex, typing.Annotated[numpy.typing.ArrayLike, numpy.float64]] | None) -> None:
        ...
    @property
    def slows(self) -> bool:
        ...
def check_interrupt() -> None:
    ...
def forget_stop() -> None:
    ...
def request_stop() -> None:
    ...
def seconds_left() -> float:
    ...
