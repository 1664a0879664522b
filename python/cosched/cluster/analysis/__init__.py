"""What a log shows, and what other policies and settings would have given: plain dataclasses.

Functions here simulate and count. They write no page: ``cosched.reports`` shows what they return as
HTML, as JSON and on the terminal.

* ``what_if``: the text of a what-if becomes a scenario
* ``scenario``: what a scenario changes, and whether a simulation can tell what that does
* ``runs``: the log, the policies and the scenarios, simulated
* ``replications``: means over replications, and whether a difference is clear
* ``window``: the time over which utilization is taken
* ``key_figures``, ``load``: the numbers of a log that come first, and over time
* ``policy_rows``, ``scenario_rows``: waits and utilization of each policy and scenario
* ``group_waits``: waits by group, and what resources jobs waited for
* ``longest_waits``: the longest waits and what they were for
* ``audit``: all of these for one log
* ``wording``: dates, units and resources of a log in words
"""
