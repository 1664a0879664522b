"""Runs many tasks inside one allocation: needs Python 3.6, nothing else, and no cosched.

``python3 runner.py ALLOCATION.json`` on the first node starts an agent on each node (with srun on
the others) and tells it what to start on which cores; what started and ended is a line in
``ALLOCATION.journal.jsonl``. Started again, it runs what has not completed. With a ``spool``, a
folder of tasks, it takes more of them while it has room and time, until none came for a while.
"""

import contextlib
import importlib
import json
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any  # noqa: F401  in a comment: old Pythons

#: Stands in commands and environments for the numbers of the cores that a task gets.
CPUS = "@COSCHED_CPUS@"
_GRACE = 5.0
_POLL = 0.25
#: So many tasks of a spool that have no room are looked at, for one behind them that has.
_PASSED = 20
_ROUNDING = 1e-9


def _fits(need, have):
    for n, h in zip(need, have):  # noqa: B905, SIM110  old Pythons; the innermost loop of planning
        if n > h + _ROUNDING:
            return False
    return True


class Room:
    """What is free: of each node, of what a node has; and of what the whole allocation has."""

    def __init__(self, nodes, node, shared):
        self.free = [list(node) for _ in range(nodes)]
        self.shared = list(shared)

    def place(self, need, shared, closed=()):
        """The node with the fewest free cores that has room; None: none has."""
        if not _fits(shared, self.shared):
            return None
        best, least = None, None
        for node, free in enumerate(self.free):
            if (best is None or free[0] < least) and node not in closed and _fits(need, free):
                best, least = node, free[0]
        return best

    def change(self, node, need, shared, sign):
        """Take (-1), or give back (1)."""
        for k, n in enumerate(need):
            self.free[node][k] += sign * n
        for k, n in enumerate(shared):
            self.shared[k] += sign * n


def start_in_order(room, waiting, may_start):
    """(task, node) of those that start now.

    In the order given; one that is ready and finds no room keeps its planned node from those
    behind it, so that it is not passed for ever.
    """
    closed = set()  # type: set
    for task in waiting:
        if len(closed) >= len(room.free):
            return
        if not may_start(task):
            continue
        node = room.place(task["need"], task["shared"], closed)
        if node is None:
            closed.add(task["node"] % len(room.free))
            continue
        room.change(node, task["need"], task["shared"], -1)
        yield task, node


def agent(module=None):
    """On a node: starts what it is told, says what ended; ends all when nobody tells it more.

    A task that is a call of `main` of `module` is a fork of this process, which imports it once: a
    start costs what the call does, not what it imports. So there is no other thread here.
    """
    running, imported = {}, None  # type: Any, Any
    wakes, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)

    def say(**what):
        with contextlib.suppress(OSError):  # nobody listens any more: the end of input will tell
            os.write(1, (json.dumps(what) + "\n").encode())

    def reap():
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            name, begun = running.pop(pid)
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            say(end=name, code=code, seconds=time.time() - begun)

    say(cores=sorted(os.sched_getaffinity(0)))
    told, more = b"", True
    while more:
        ready, _, _ = select.select([0, wakes], [], [])
        if wakes in ready:
            os.read(wakes, 4096)
            reap()
        if 0 in ready:
            piece = os.read(0, 1 << 16)
            more = bool(piece)
            *lines, told = (told + piece).split(b"\n")
            for line in lines:
                order = json.loads(line.decode())
                if order["call"] and module and not imported:
                    imported = _import(module, order["directory"])
                pid = os.fork()
                if pid == 0:
                    os.close(wakes)
                    os.close(woken)
                    return _become(order, imported)
                running[pid] = order["start"], time.time()
                say(started=order["start"], pid=pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in list(running):
            try:
                os.killpg(pid, number)
            except OSError:
                continue
        deadline = time.time() + _GRACE
        while running and time.time() < deadline:
            time.sleep(0.05)
            reap()
    return 0


def _import(name, directory):
    """A module, seen from the folder where it will be called; None: the command will do."""
    try:
        os.chdir(directory)
        sys.path[0] = directory  # as `python -m` has it
        return importlib.import_module(name)
    except Exception as error:  # whatever a foreign module does: the tasks run without it
        print(f"{name}: {error}", file=sys.stderr)
    return None


def _become(order, imported):
    """In a process of its own: the task, and its exit code."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    try:
        if order["cores"]:
            os.sched_setaffinity(0, order["cores"])
        with open(os.devnull) as nothing, open(order["output"], "ab") as output:
            os.makedirs(order["directory"], exist_ok=True)
            os.chdir(order["directory"])
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        os.environ.update(order["environment"])
        if not imported or not order["call"]:
            os.execvp(order["command"][0], order["command"])
    except OSError as error:
        print("{}: {}".format(order["start"], error), file=sys.stderr)
        return 127
    return imported.main(order["call"])


class Node:
    """An agent, and which of its cores and GPUs are free."""

    def __init__(self, place, host, given, tell):
        cores, gpus = int(given["node"][0]), int(given["node"][2])
        command = [sys.executable, "-u", os.path.abspath(__file__), "--agent"]
        command += [given["module"]] if given.get("module") else []
        if host is not None:
            size = f"--cpus-per-task={cores}"
            step = ["srun", "--nodes=1", "--ntasks=1", "--nodelist=" + host, "--mem=0", "--exact"]
            command = step + [size, "--cpu-bind=none", "--unbuffered"] + command
        self.place, self.host, self.running = place, host or socket.gethostname(), {}
        # Of tasks on this host, which an agent that dies leaves.
        self.pids = {} if host is None else None  # type: Any
        self.cores, self.gpus = list(range(cores)), list(range(gpus))
        self.known = threading.Event()
        self.process = subprocess.Popen(  # type: Any
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        threading.Thread(target=self._listen, args=(tell,), daemon=True).start()

    def _listen(self, tell):
        for line in self.process.stdout:
            said = json.loads(line.decode())
            if "cores" in said:
                self.cores = (said["cores"] * len(self.cores))[: len(self.cores)]
                self.known.set()
            elif "started" in said:
                if self.pids is not None:
                    self.pids[said["started"]] = said["pid"]
            else:
                tell(dict(said, node=self.place))
        self.known.set()
        tell({"lost": self.place})

    def start(self, task, output):
        """Send a task on its way: the numbers of its cores."""
        self.known.wait()
        count, gpus = int(task["need"][0]), int(task["need"][2])
        mine = [self.cores.pop(0) for _ in range(count)]
        devices = [self.gpus.pop(0) for _ in range(gpus)]
        self.running[task["name"]] = (task, mine, devices)
        text = ",".join(map(str, mine))
        given = {"COSCHED_TASK": task["name"], "COSCHED_CPUS": text, "COSCHED_PROCS": str(count)}
        given.update(OMP_NUM_THREADS=str(count))
        if devices:
            given["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
        given.update({k: v.replace(CPUS, text) for k, v in task.get("environment", {}).items()})
        order = {
            "start": task["name"],
            "command": [word.replace(CPUS, text) for word in task["command"]],
            "call": task.get("call"),
            "cores": mine,
            "environment": given,
            "directory": task.get("directory") or os.getcwd(),
            "output": output,
        }
        with contextlib.suppress(OSError):  # it is lost, and will be noticed
            self.process.stdin.write((json.dumps(order) + "\n").encode())
            self.process.stdin.flush()
        return mine

    def ended(self, name):
        task, cores, gpus = self.running.pop(name)
        self.cores = sorted(self.cores + cores)
        self.gpus = sorted(self.gpus + gpus)
        return task


class Spool:
    """Tasks in a folder that several runners share: whoever renames a file has it.

    Who gave the tasks takes the runner's own folder away when it believes the runner dead: one
    that lives on (its node was set down) then gets no further task, and its reports do not count.
    """

    def __init__(self, folder, part):
        self.folder = folder
        self.mine = os.path.join(folder, "taken", part)
        os.makedirs(self.mine, exist_ok=True)

    def look(self, place):
        """Takes tasks that find a place, in the order of their names; with their nodes."""
        passed = 0
        for name in sorted(os.listdir(os.path.join(self.folder, "new"))):
            path = os.path.join(self.folder, "new", name)
            try:
                with open(path) as file:
                    task = json.load(file)
                node = place(task)
                if node is not None:
                    os.rename(path, os.path.join(self.mine, name))
            except (OSError, ValueError):
                continue  # another runner has it
            if node is not None:
                yield dict(task, file=name), node
            passed += node is None
            if passed > _PASSED:
                return

    def ended(self, task, **how):
        path = os.path.join(self.folder, "ended", task["file"])
        mine = os.path.join(self.mine, task["file"])
        if os.path.exists(mine):
            with open(path + ".part", "w") as file:
                json.dump(how, file)
            os.rename(path + ".part", path)
        with contextlib.suppress(FileNotFoundError):  # it runs elsewhere
            os.remove(mine)


class Runner:
    """One allocation: who waits, who runs, what ended."""

    def __init__(self, path):
        with open(path) as file:
            self.given = given = json.load(file)
        self.folder = os.path.dirname(os.path.abspath(path))
        self.stem = path[: -len(".json")]
        self.events = queue.Queue()  # type: queue.Queue
        self.job = os.environ.get("SLURM_JOB_ID", str(os.getpid()))
        self.ends_at = time.time() + given["limit"]
        self.outputs = os.path.abspath(self.stem) + ".outputs"
        os.makedirs(self.outputs, exist_ok=True)
        self.completed = completed_in(self.folder)
        self.waiting = [task for task in given["tasks"] if task["name"] not in self.completed]
        self.failed, self.stopping, self.fresh = [], False, True
        self.room = Room(given["nodes"], given["node"], given["shared"])
        spool = given.get("spool")
        self.spool = Spool(spool, os.path.basename(self.stem)) if spool else None
        self.journal = open(self.stem + ".journal.jsonl", "a")  # noqa: SIM115  as long as it runs
        self.nodes = []

    def write(self, **what):
        self.journal.write(json.dumps(dict(what, t=round(time.time(), 3))) + "\n")
        self.journal.flush()
        if "start" not in what:
            os.fsync(self.journal.fileno())

    def run(self):
        """Until nothing runs and nothing more can start: the number that did not complete."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.events.put({"stop": True}))
        self.write(begin=self.job, hosts=self._hosts())
        for place, host in enumerate(self._hosts()):
            self.nodes.append(Node(place, host, self.given, self.events.put))
        idle_since = time.time()
        while True:
            if not self.stopping:
                self._start()
            if any(node.running for node in self.nodes):
                idle_since = time.time()
            elif self.stopping or self._idle(time.time() - idle_since):
                break
            self._wait()
        for node in self.nodes:
            node.process.stdin.close()
        left = [task["name"] for task in self.waiting]
        self.write(over=self.job, failed=len(self.failed), left=left)
        return min(len(self.failed) + len(left), 125)

    def _hosts(self):
        """None is this host; the others have names."""
        text = os.environ.get("SLURM_JOB_NODELIST", "")
        if self.given["nodes"] == 1 or not text:
            return [None] * self.given["nodes"]
        shown = subprocess.check_output(["scontrol", "show", "hostnames", text]).decode().split()
        return [None, *shown[1:]]

    def _idle(self, seconds):
        if self.spool is None or not any(node.process.poll() is None for node in self.nodes):
            return True
        return seconds > self.given.get("idle", 2.0) or time.time() > self.ends_at

    def _may_start(self, task):
        if any(name not in self.completed for name in task.get("after", ())):
            return False
        return self.fresh or time.time() + task["seconds"] <= self.ends_at

    def _start(self):
        for task, place in list(start_in_order(self.room, self.waiting, self._may_start)):
            self.waiting.remove(task)
            self._begin(task, place)
        self.fresh = False  # one as long as the limit begins before all others, or never
        if self.spool is not None and any(free[0] > 0 for free in self.room.free):
            for task, place in self.spool.look(self._place):
                self.room.change(place, task["need"], task["shared"], -1)
                self._begin(task, place)

    def _place(self, task):
        return self.room.place(task["need"], task["shared"]) if self._may_start(task) else None

    def _begin(self, task, place):
        output = os.path.join(self.outputs, task.get("output", task["name"]) + ".out")
        cores = self.nodes[place].start(task, output)
        self.write(start=task["name"], node=self.nodes[place].host, cores=cores)

    def _wait(self):
        try:
            event = self.events.get(timeout=_POLL)
        except queue.Empty:
            return
        if "end" in event:
            self._ended(event)
        elif "lost" in event:
            self._lost(self.nodes[event["lost"]])
        elif not self.stopping:
            self.stopping = True
            for node in self.nodes:
                node.process.stdin.close()  # ends its tasks

    def _ended(self, event):
        node = self.nodes[event["node"]]
        task = node.ended(event["end"])
        self.room.change(node.place, task["need"], task["shared"], 1)
        self._tell(task, event["code"], event["seconds"])

    def _tell(self, task, code, seconds):
        name, cut = task["name"], self.stopping and code != 0
        self.write(**{"cut" if cut else "end": name, "code": code, "seconds": round(seconds, 3)})
        if code == 0:
            self.completed.add(name)
        elif cut:
            self.waiting.append(task)
        else:
            self.failed.append(name)
        if self.spool is not None and not cut:
            self.spool.ended(task, code=code, seconds=seconds)

    def _lost(self, node):
        """Its tasks start again elsewhere; it gets no more."""
        lost = [task for task, _, _ in node.running.values()]
        for name in node.running:
            try:
                os.killpg((node.pids or {})[name], signal.SIGKILL)
            except (KeyError, OSError):
                continue
        node.running.clear()
        self.room.free[node.place] = [0] * len(self.given["node"])
        for task in lost:
            self.write(cut=task["name"], code=None, seconds=0.0)
            for k, n in enumerate(task["shared"]):
                self.room.shared[k] += n
        self.waiting[:0] = lost


def read_journal(path):
    """(name, state, seconds) of tasks; a line that is damaged, as half a last one, says nothing."""
    with open(path, errors="replace") as file:
        for line in file:
            with contextlib.suppress(KeyError, RecursionError, TypeError, ValueError):
                entry = json.loads(line)
                if "start" in entry:
                    yield str(entry["start"]), "started", 0.0
                elif "cut" in entry:
                    yield str(entry["cut"]), "cut", float(entry["seconds"])
                elif "end" in entry:
                    yield str(entry["end"]), "failed" if entry["code"] != 0 else "completed", 0.0


def completed_in(folder):
    """Names of the tasks that the journals of a folder know to have completed."""
    names = set()  # type: set
    for name in os.listdir(folder):
        if name.endswith(".journal.jsonl"):
            said = read_journal(os.path.join(folder, name))
            names.update(task for task, state, _ in said if state == "completed")
    return names


def runner_of(path):
    try:
        return Runner(path)
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        print(path, "is not what cosched batch wrote:", repr(error), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    sys.exit(agent(*sys.argv[2:]) if sys.argv[1] == "--agent" else runner_of(sys.argv[1]).run())
