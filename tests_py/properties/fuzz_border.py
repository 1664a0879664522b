"""Throw random and malformed input at every reader and every public function.

`fuzz_border.py SEED SECONDS [KIND...]` prints how many calls there were, and how many were refused.
"""

import faulthandler
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz_files import one_file
from fuzz_input import _folder, rnd
from fuzz_public import one_public
from fuzz_records import one_record
from fuzz_streams import one_cluster, one_dag
from fuzz_tables import one_bag, one_moldable, one_packs, one_profile

import cosched as cs

ONE = {
    "packs": one_packs,
    "profiles": one_profile,
    "moldable": one_moldable,
    "bags": one_bag,
    "dags": one_dag,
    "cluster": one_cluster,
    "files": one_file,
    "records": one_record,
    "public": one_public,
}


LONGEST = 100.0  # seconds of a call: all are small


def said_by_cosched(error):
    """Not a library's words that went through: numpy knows nothing of our arguments."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, (cs.CoschedError, OSError)) or "cosched" in last


def main() -> None:
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    faulthandler.enable()
    warnings.filterwarnings("ignore", "price = .* every plan is a loss")
    os.chdir(_folder.name)  # names of files are hostile too
    rnd.seed(seed)
    kinds = [ONE[name] for name in sys.argv[3:] or ONE]
    end, rounds, refused = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        rounds += 1
        faulthandler.dump_traceback_later(LONGEST, exit=True)  # a call that does not end: where
        try:
            rnd.choice(kinds)()
        except (cs.CoschedError, TypeError, ValueError, OSError) as error:
            refused += 1
            text = str(error)
            if not said_by_cosched(error) or "\n" in text or len(text) > 2000:
                print(f"round {rounds} of seed {seed}", file=sys.stderr)
                raise
        except Exception:
            print(f"round {rounds} of seed {seed}", file=sys.stderr)
            raise
    print(rounds, refused)


if __name__ == "__main__":
    main()
