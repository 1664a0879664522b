"""What a log shows, and what other policies and settings would have given: plain dataclasses.

Functions here simulate and count. They write no page: ``cosched.reports`` shows what they return as
HTML, as JSON and on the terminal.

* ``what_if``: the text of a what-if becomes a scenario
* ``scenario``: what a scenario changes, and whether a simulation can tell what that does
* ``runs``: the log, the policies and the scenarios, simulated
* ``replications``: means over replications, and whether a difference is clear
* ``window``: the time over which utilization is taken
"""
