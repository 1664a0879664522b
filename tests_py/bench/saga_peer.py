"""What bench_saga.py asks of SAGA, in the Python that has it (anrg-saga 2.0.2, wfcommons 1.6).

    saga_peer.py schedules DATASET INSTANCES SEED   # one line of JSON per instance
    saga_peer.py pisa SCHEDULER BASE TRIES SEEDS    # the worst instance for each seed below SEEDS
    saga_peer.py judge                              # instances on stdin, makespans on stdout

An instance is a dict: costs of tasks, edges with their data, speeds of nodes, speeds of links
(a symmetric matrix; what stands on its diagonal is not used: data within a node is free).
"""

import itertools
import json
import logging
import math
import random
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np
from saga import Network, TaskGraph, schedulers as saga_schedulers
from saga.pisa import SimulatedAnnealing, SimulatedAnnealingConfig, changes as pisa_changes
from saga.schedulers.data import random as random_graphs, riotbench, wfcommons

#: Heuristics of SAGA: the fifteen of its benchmark, and Sufferage, which PISA has, too.
SCHEDULERS = {
    "BIL": saga_schedulers.BILScheduler,
    "CPoP": saga_schedulers.CpopScheduler,
    "Duplex": saga_schedulers.DuplexScheduler,
    "ETF": saga_schedulers.ETFScheduler,
    "FCP": saga_schedulers.FCPScheduler,
    "FLB": saga_schedulers.FLBScheduler,
    "FastestNode": saga_schedulers.FastestNodeScheduler,
    "GDL": saga_schedulers.GDLScheduler,
    "HEFT": saga_schedulers.HeftScheduler,
    "MCT": saga_schedulers.MCTScheduler,
    "MET": saga_schedulers.METScheduler,
    "MaxMin": saga_schedulers.MaxMinScheduler,
    "MinMin": saga_schedulers.MinMinScheduler,
    "OLB": saga_schedulers.OLBScheduler,
    "Sufferage": saga_schedulers.SufferageScheduler,
    "WBA": saga_schedulers.WBAScheduler,
}
RIOTBENCH = {
    "etl": riotbench.get_etl_task_graphs,
    "predict": riotbench.get_predict_task_graphs,
    "stats": riotbench.get_stats_task_graphs,
    "train": riotbench.get_train_task_graphs,
}
#: wfcommons data sets: tasks are between the least of the recipe and so many times as many.
SIZE_FACTOR = 2


def clipped_normal(*_):
    """A weight as SAGA's paper has it; 2.0.2 itself draws 2 each time (max and min swapped)."""
    return min(max(random.gauss(1, 1 / 3), 1e-9), 2.0)


def random_instance(kind):
    """A tree or chains on a network, with the parameters of SAGA's prepare.py."""
    weights = {"get_task_weight": clipped_normal, "get_dependency_weight": clipped_normal}
    network = random_graphs.gen_random_networks(
        1, random.randint(3, 5), get_node_weight=clipped_normal, get_edge_weight=clipped_normal
    )[0]
    if kind == "chains":
        chains, length = random.randint(2, 5), random.randint(2, 5)
        graphs = random_graphs.gen_parallel_chains(1, chains, length, **weights)
    else:
        generate = {
            "in_trees": random_graphs.gen_in_trees,
            "out_trees": random_graphs.gen_out_trees,
        }[kind]
        graphs = generate(1, random.randint(2, 4), random.randint(2, 3), **weights)
    return network, graphs[0]


def workflow(recipe):
    """A workflow of WfCommons; SAGA 2.0.2 cannot read the format that wfcommons 1.6 writes."""
    from wfcommons.wfgen.generator import WorkflowGenerator

    least, _ = wfcommons.get_num_task_range(recipe)
    tasks = random.randint(least, SIZE_FACTOR * least)
    generator = WorkflowGenerator(wfcommons.recipes[recipe](num_tasks=tasks))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "workflow.json")
        generator.build_workflow().write_json(path)
        written = json.loads(path.read_text())["workflow"]
    sizes = {file["id"]: file["sizeInBytes"] for file in written["specification"]["files"]}
    graph = nx.DiGraph()
    for task in written["execution"]["tasks"]:
        graph.add_node(task["id"], weight=max(1e-9, float(task["runtimeInSeconds"])))
    described = {task["id"]: task for task in written["specification"]["tasks"]}
    for name, task in described.items():
        for parent in task["parents"]:
            moved = set(described[parent]["outputFiles"]) & set(task["inputFiles"])
            graph.add_edge(parent, name, weight=max(1e-9, float(sum(sizes[f] for f in moved))))
    sources = [name for name in graph if graph.in_degree(name) == 0]
    sinks = [name for name in graph if graph.out_degree(name) == 0]
    if len(sources) > 1:
        graph.add_node("SRC", weight=1e-9)
        graph.add_edges_from((("SRC", name) for name in sources), weight=1e-9)
    if len(sinks) > 1:
        graph.add_node("DST", weight=1e-9)
        graph.add_edges_from(((name, "DST") for name in sinks), weight=1e-9)
    return TaskGraph.from_nx(graph)


def workflow_instance(recipe, ccr=1.0):
    """A workflow on a network like those of the traces, links of the speed that gives `ccr`."""
    network = wfcommons.get_networks(1, "chameleon")[0]
    graph = workflow(recipe)
    mean_speed = np.mean([node.speed for node in network.nodes])
    mean_time = np.mean([task.cost for task in graph.tasks]) / mean_speed
    rate = float(np.mean([edge.size for edge in graph.dependencies]) / (ccr * mean_time))
    links = [(e.source, e.target, rate) for e in network.edges if e.source != e.target]
    return Network.create(nodes=network.nodes, edges=links), graph


def drawn_instance(dataset):
    """The next random instance of a data set: a network and a task graph of SAGA."""
    if dataset in RIOTBENCH:
        return riotbench.get_fog_networks(1)[0], RIOTBENCH[dataset](1)[0]
    if dataset in wfcommons.recipes:
        return workflow_instance(dataset)
    return random_instance(dataset)


def written_instance(network, graph):
    """The dict of an instance, and the names of its tasks and nodes in the dict's order."""
    tasks, nodes = sorted(graph.tasks), sorted(network.nodes)
    number = {task.name: j for j, task in enumerate(tasks)}
    edges = sorted(graph.dependencies)
    place = {node.name: k for k, node in enumerate(nodes)}
    links = np.ones((len(nodes), len(nodes)))
    for edge in network.edges:
        a, b = place[edge.source], place[edge.target]
        if a != b:
            links[a, b] = links[b, a] = edge.speed
    instance = {
        "costs": [task.cost for task in tasks],
        "edges": [[number[edge.source], number[edge.target]] for edge in edges],
        "data": [edge.size for edge in edges],
        "speeds": [node.speed for node in nodes],
        "links": links.tolist(),
    }
    return instance, number, place


def read_instance(instance):
    """The network and the task graph of a dict. Data within a node is free."""
    nodes = [(f"N{k:04d}", speed) for k, speed in enumerate(instance["speeds"])]
    links = [
        (nodes[a][0], nodes[b][0], instance["links"][a][b])
        for b in range(len(nodes))
        for a in range(b)
    ]
    edges = zip(instance["edges"], instance["data"], strict=True)
    graph = TaskGraph.create(
        tasks=[(f"T{j:06d}", cost) for j, cost in enumerate(instance["costs"])],
        dependencies=[(f"T{i:06d}", f"T{j:06d}", size) for (i, j), size in edges],
    )
    return Network.create(nodes=nodes, edges=links), graph


def schedules_of(network, graph, number, place):
    """Units, starts, ends, makespan and processor seconds of each scheduler, or its error."""
    answers = {}
    for name, scheduler in SCHEDULERS.items():
        begin = time.process_time()
        try:
            schedule = scheduler().schedule(network, graph)
        except Exception as error:  # what a scheduler cannot do is a row of the table
            answers[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
            continue
        seconds = time.process_time() - begin
        node, start, end = ([0] * len(number) for _ in range(3))
        for where, tasks in schedule.items():
            for task in tasks:
                row = number[task.name]
                node[row], start[row], end[row] = place[where], task.start, task.end
        answers[name] = {
            "node": node,
            "start": start,
            "end": end,
            "makespan": schedule.makespan,
            "seconds": seconds,
        }
    return answers


def set_seed(seed):
    """SAGA and WfCommons draw from the global generators of Python and of numpy."""
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002


def print_schedules(dataset, instances, seed):
    set_seed(seed)
    for _ in range(int(instances)):
        described, _, _ = written_instance(*drawn_instance(dataset))
        network, graph = read_instance(described)
        described, number, place = written_instance(network, graph)
        answers = schedules_of(network, graph, number, place)
        print(json.dumps(described | {"schedules": answers}), flush=True)


#: As SAGA's scripts/experiments/pisa/run.py: 459 steps from 10 down to 0.1.
PISA = {"max_iterations": 1000, "max_temp": 10.0, "min_temp": 0.1, "cooling_rate": 0.99}
#: They take all nodes to have one speed, or all links.
SAME_NODES, SAME_LINKS = {"ETF", "FCP", "FLB"}, {"BIL", "GDL", "FCP", "FLB"}


def pisa_network(has_node_speeds, has_link_speeds):
    """A random network as run.py begins with: get_network of 2.0.2 fails with numpy 2."""
    nodes = [
        (str(k), random.uniform(0.1, 1) if has_node_speeds else 1.0)
        for k in range(random.randint(3, 5))
    ]
    links = [
        (a, b, random.uniform(0.1, 1) if has_link_speeds else 1.0)
        for k, (a, _) in enumerate(nodes)
        for b, _ in nodes[k + 1 :]
    ]
    return Network.create(nodes=nodes, edges=links)


def pisa_chain():
    """A chain of random tasks as run.py begins with."""
    tasks = [(name, random.uniform(0.1, 1)) for name in "ABCDE"[: random.randint(3, 5)]]
    names = [name for name, _ in tasks]
    edges = [(a, b, random.uniform(0.1, 1)) for a, b in itertools.pairwise(names)]
    return TaskGraph.create(tasks=tasks, dependencies=edges)


def print_pisa(scheduler, base, tries, seeds):
    for seed in range(int(seeds)):
        set_seed(seed)
        print(json.dumps(worst_of_pisa(scheduler, base, int(tries))), flush=True)


def worst_of_pisa(scheduler, base, tries):
    """The worst instance of `tries` runs of PISA, each from a chain on a random network."""
    begin = time.process_time()
    judged = {scheduler, base}
    moves = [
        pisa_changes.TaskGraphAddDependency,
        pisa_changes.TaskGraphDeleteDependency,
        pisa_changes.TaskGraphChangeDependencyWeight,
        pisa_changes.TaskGraphChangeTaskWeight,
    ]
    if not judged & SAME_NODES:
        moves.append(pisa_changes.NetworkChangeNodeWeight)
    if not judged & SAME_LINKS:
        moves.append(pisa_changes.NetworkChangeEdgeWeight)
    worst, worst_ratio, steps = None, 0.0, 0
    for attempt in range(tries):
        network = pisa_network(not judged & SAME_NODES, not judged & SAME_LINKS)
        config = SimulatedAnnealingConfig(**PISA, change_types=[move.__name__ for move in moves])
        with tempfile.TemporaryDirectory() as folder:
            search = SimulatedAnnealing(
                name=str(attempt),
                scheduler=scheduler,
                base_scheduler=base,
                initial_network=network,
                initial_task_graph=pisa_chain(),
                config=config,
                data_dir=Path(folder),
            )
            for step in search.run_iter():
                steps += 1
                for ratio, schedule in (
                    (step.current_energy, step.current_schedule),
                    (step.neighbor_energy, step.neighbor_schedule),
                ):
                    if math.isfinite(ratio) and ratio > worst_ratio:
                        worst_ratio, worst = ratio, (schedule.network, schedule.task_graph)
    described, _, _ = written_instance(*worst)
    seconds = time.process_time() - begin
    return {"ratio": worst_ratio, "seconds": seconds, "steps": steps, "instance": described}


def print_makespans():
    """Of each line of stdin, an instance and the names of schedulers: their makespans."""
    for line in sys.stdin:
        question = json.loads(line)
        network, graph = read_instance(question["instance"])
        makespans = [
            SCHEDULERS[name]().schedule(network, graph).makespan for name in question["schedulers"]
        ]
        print(json.dumps(makespans), flush=True)


def main():
    logging.disable(logging.WARNING)
    commands = {"schedules": print_schedules, "pisa": print_pisa, "judge": print_makespans}
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
