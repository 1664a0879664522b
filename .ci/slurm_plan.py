"""Draw docs/explanation/slurm-plan.svg: the plan of one backfill cycle, by the simulator itself."""

import sys
from pathlib import Path

import cosched as cs
from cosched.slurm.twin.backfill import clocks_of
from cosched.slurm.twin.twin import Twin

# (submit, nodes, limit, run time): the first runs, the others wait at the cycle of AT seconds.
JOBS = [(0, 3, 900, 700), (1, 2, 600, 500), (5, 6, 600, 300), (9, 3, 900, 600), (12, 1, 840, 500)]
JOBS += [(20, 2, 300, 200)]
NODES, AT, END = 6, 45, 3600
COLOURS = ("#9aa5b1", "#9aa5b1", "#4878a8", "#c98a2b", "#5b9a5b", "#a05a8a")
LEFT, TOP, WIDTH, ROW = 60, 30, 620, 26


def plan() -> tuple[list[tuple], dict]:
    """Planned reservations of the cycle, and the outcome."""
    columns = list(zip(*JOBS, strict=True))
    unit_needs = [1] * len(JOBS)
    jobs = dict(zip(("submit", "tasks", "estimate", "runtime"), columns, strict=True))
    instance = cs.cluster.Instance({**jobs, "cpu": unit_needs, "memory": unit_needs}, NODES)
    twin = Twin(instance, None, {"bf_resolution": 60, "bf_interval": 30})
    (clocks,) = clocks_of(instance, 1, 0, -100.0, 0)
    outcome = twin.run(clocks, plans=True)
    cycle = max(when for when, _, what, *_ in outcome["notes"] if what == 4 and when <= AT)
    return [note for note in outcome["notes"] if note[0] == cycle and note[2] == 4], outcome


def box(job: int, start: float, end: float, nodes: list[int], dashed: bool) -> list[str]:
    """Rectangles of a job, a run of neighbouring nodes each, and its name."""
    x = LEFT + WIDTH * start / END
    wide = WIDTH * (min(end, END) - start) / END
    style = ' stroke-dasharray="4 3" fill-opacity="0.45"' if dashed else ""
    runs: list[list[int]] = []
    for node in sorted(nodes):
        if runs and runs[-1][1] == node:
            runs[-1][1] = node + 1
        else:
            runs.append([node, node + 1])
    svg_parts = []
    for first, last in runs:
        y, high = TOP + ROW * first, ROW * (last - first) - 3
        svg_parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{high}" fill="{COLOURS[job]}" '
            f'stroke="#333"{style}/><text x="{x + 5:.1f}" y="{y + 16}">job {job + 1}</text>'
        )
    return svg_parts


def draw() -> str:
    """The picture as SVG."""
    planned, outcome = plan()
    begin, node = outcome["nodes"]
    parts = []
    for job in (k for k in range(len(JOBS)) if outcome["start"][k] <= AT):
        job_nodes = node[begin[job] : begin[job + 1]].tolist()
        parts += box(job, float(outcome["start"][job]), JOBS[job][2], job_nodes, dashed=False)
    for _, job, _, start, end, nodes, *_ in planned:
        parts += box(job, 60 * (start // 60), end, list(nodes), dashed=True)
    bottom = TOP + ROW * NODES
    for minute in range(0, END // 60 + 1, 10):
        x = LEFT + WIDTH * 60 * minute / END
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#ccc"/>')
        parts.append(f'<text x="{x - 8}" y="{bottom + 18}">{minute}</text>')
    parts += [f'<text x="20" y="{TOP + ROW * k + 16}">n{k + 1}</text>' for k in range(NODES)]
    now = LEFT + WIDTH * AT / END
    parts.append(f'<line x1="{now}" y1="{TOP - 8}" x2="{now}" y2="{bottom}" stroke="#c00"/>')
    parts.append(f'<text x="{now + 4}" y="{TOP - 10}">now</text>')
    parts.append(f'<text x="{LEFT + WIDTH / 2 - 20}" y="{bottom + 36}">minutes</text>')
    size = f'width="{LEFT + WIDTH + 20}" height="{bottom + 46}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    )
    return "\n".join((head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw())
