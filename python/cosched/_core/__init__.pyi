"""
C++ core of cosched. Not public: use cosched.<family>.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
from . import packs
from . import dags
from . import cluster
from . import moldable
from . import bags
__all__: list[str] = ['Sharing', 'SlowdownRule', 'bags', 'check_interrupt', 'cluster', 'dags', 'forget_stop', 'moldable', 'packs', 'request_stop', 'seconds_left', 'time_limit']
class time_limit:
    def __enter__(self) -> None:
        ...
    def __exit__(self, *args) -> None:
        ...
    def __init__(self, seconds: typing.SupportsFloat | typing.SupportsIndex | None) -> None:
        ...
class SlowdownRule:
    """
    Members:
    
      sum
    
      product
    
      max
    """
    __members__: typing.ClassVar[dict[str, SlowdownRule]]
    max: typing.ClassVar[SlowdownRule]
    product: typing.ClassVar[SlowdownRule]
    sum: typing.ClassVar[SlowdownRule]
    @typing.overload
    def __eq__(self, other: SlowdownRule) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: SlowdownRule) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
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
