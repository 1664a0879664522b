"""Bounds and heuristics of packs: seconds and gaps; fixed instances, fixed seeds."""

import time

import cosched as cs


def main() -> None:
    for workload, k in (("packs_ii", 4), ("packs_ii", 16), ("packs_iii", 8), ("packs_iii", 32)):
        inst = getattr(cs.workloads, workload)(seed=1, max_tasks=k)
        seconds = []

        def timed(function, *arguments, into=seconds):
            begin = time.process_time()
            result = function(*arguments)
            into.append(time.process_time() - begin)
            return result

        bound = timed(cs.packs.bound, inst).value
        paper = timed(cs.packs.solve, inst, "pack-by-pack-9").value
        ours = timed(cs.packs.solve, inst, "local-search").value
        print(
            f"n={inst.tasks} p={inst.procs} k={k}: column bound {seconds[0]:.2f} s; "
            f"pack-by-pack-9 {100 * (paper / bound - 1):.2f}% above it in {seconds[1]:.5f} s; "
            f"local-search {100 * (ours / bound - 1):.2f}% in {seconds[2]:.2f} s"
        )


if __name__ == "__main__":
    main()
