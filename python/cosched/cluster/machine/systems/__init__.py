"""Machines of other batch systems, as their commands show them.

A reader turns a text into :class:`NodeRecord` objects; :func:`machine_of_records` makes types of
nodes and partitions of them.
"""
