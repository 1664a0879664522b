"""``cosched generate`` and ``cosched fetch``: instances from generators and archives."""

from pathlib import Path

import typer

from cosched import io, workloads
from cosched.cli import report
from cosched.cli.parameters import adds
from cosched.cli.stopping import best_so_far
from cosched.cli.values import parse_options, required, seed_of_text
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.workloads import WORKLOADS


def generate(workload: str, output: Path, seed: str = "0", option: list[str] | None = None) -> None:
    name = workload.replace("-", "_")
    if name not in WORKLOADS:
        raise InvalidInstance(unknown_name("workload", workload, WORKLOADS))
    with report.working(name), best_so_far() as stop:
        instance = WORKLOADS[name](seed=seed_of_text(seed), **parse_options(option))
    if hasattr(instance, "write"):
        instance.write(output)
    else:
        io.write_frame(instance, output, exact=True)
    report.say(
        f"wrote {output}: {instance if hasattr(instance, 'write') else f'{len(instance)} rows'}"
    )
    stop.then("this is what was found until then")


def fetch(
    name: str | None = None, out: Path = Path("."), list_: bool = False, all_: bool = False
) -> None:
    if list_:
        for log_name, log in workloads.LOGS.items():
            typer.echo(f"{log_name:16} {log.about}\n{'':16} {log.url}")
        return
    for log_name in workloads.LOGS if all_ else (name or required("NAME", workloads.LOGS),):
        with report.working(f"fetching {log_name}"):
            path = workloads.fetch(log_name, out)
        report.say(f"wrote {path}")


add = adds(generate=generate, fetch=fetch)
