"""What every run of pytest has, of tests and of the examples in docstrings below ``python/``.

Pytest reads this file for both: they lie below it.
"""

import os
import signal

# The tests draw without a screen; the width of the terminal that starts them changes no table.
os.environ.setdefault("MPLBACKEND", "Agg")
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job and all it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    import drawn
    import everywhere
    import wanted
    from leavers import Leavers

    config.pluginmanager.register(drawn, "drawn")
    config.pluginmanager.register(everywhere, "everywhere")
    config.pluginmanager.register(wanted, "wanted")
    config.pluginmanager.register(Leavers(config), "leavers")
