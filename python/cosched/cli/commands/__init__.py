"""The commands, one file for each: its options stand above its function.

A function imports what it works with when it runs, so that a help text is there at once.
"""
