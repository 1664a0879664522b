"""Instances with the best schedule and the best bound that anybody knows: records to beat.

``list()`` is the table, ``load`` makes an instance, ``best`` is the schedule that has the record,
``verify`` checks values by the validators and bounds by their certificates, ``submit`` takes a
better schedule. On the command line: ``cosched library``.
"""

from cosched.border import guard_public
from cosched.described import described
from cosched.library.records import load, submit
from cosched.library.table import best, list, verify

__all__ = ["best", "list", "load", "submit", "verify"]

described(globals())
guard_public(globals())
