"""``python -m cosched``: the command line."""

import sys

from cosched.cli import main

sys.exit(main())
