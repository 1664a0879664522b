"""Runs many tasks inside one allocation: needs Python 3.6, nothing else, and no cosched.

``python3 runner.py ALLOCATION.json`` on the first node starts an agent on each node (with srun on
the others) and tells it what to start on which cores; what started and ended is a line in
``ALLOCATION.journal.jsonl``. Started again, it runs what has not completed; a second runner of the
same allocation is refused while the first one runs. With a ``spool``, a folder of tasks, it takes
more of them while it has room and time, until none came for a while.

An agent keeps the descriptors of its orders and messages for itself: what a site or a module prints
goes to standard error. One that ends, or does not answer, is replaced; the tasks that it had start
again.

Runner and agent are loops without threads. A turn of the runner's loop handles everything that has
happened, gives tasks to nodes, writes the journal and then sends the orders, so that the cost of a
turn is shared by the tasks that end together.

Where tasks are short, a node gets orders ahead: as many as ended there in the last tenth of a
second. Its agent begins them in their order as cores, memory and GPUs become free, so that no core
waits for the runner. What it cannot begin soon it gives back, for another node.
"""

import bisect
import collections
import contextlib
import errno
import fcntl
import importlib
import json
import math
import os
import re
import select
import selectors
import signal
import socket
import stat
import subprocess
import sys
import time
from typing import Any  # noqa: F401  in a comment: old Pythons

#: Stands in commands and environments for the numbers of the cores that a task gets.
CPUS = "@COSCHED_CPUS@"
#: Begins each message of an agent. What a site prints before the agent runs, or what srun adds, is
#: no message.
_MESSAGE = b"@COSCHED_MESSAGE@"
#: Python ignores these, a task does not.
_IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]
#: The variable in which each process of an agent has the allocation and the node.
_MARK = "COSCHED_AGENT"
#: Seconds in which what an agent has left has to be gone.
_LEFTOVERS_PATIENCE = 5.0
#: Seconds that tasks have to end after SIGTERM, and again after SIGKILL.
_GRACE = 5.0
#: Seconds after which a runner that was told to stop ends without its agents.
_STOP_PATIENCE = 2 * _GRACE + 2.0
#: Slurm may send the signal of the limit so many seconds before it.
_SIGNAL_MARGIN = 90.0
#: The runner ends its tasks so many seconds before Slurm ends the job.
END_MARGIN = 15.0
#: Seconds that an agent may take until its first message, and how often one is replaced.
_AGENT_PATIENCE, _MAX_REPLACEMENTS = 120.0, 2
#: Seconds in which a task as long as the limit may begin.
_FRESH = 10.0
#: Seconds that a runner waits for the lock of a runner before it: one that ends, and one whose node
#: failed.
_LOCK_PATIENCE, _REQUEUE_PATIENCE = 2.0, 180.0
#: Seconds for an answer of Slurm.
_SLURM_PATIENCE = 20.0
_POLL = 0.25
#: A node gets as many tasks ahead as ended there in so many seconds; what it cannot begin within so
#: many, it gives back.
_AHEAD_WINDOW, _AHEAD_PATIENCE = 0.1, 0.25
#: Seconds for which the runner lets events gather while all nodes that work have orders ahead.
_GATHER = 0.01
#: What ended is on the disk after so many seconds: with a node that loses its power before, tasks
#: that ended so recently run again.
_SYNC_INTERVAL = 0.25
#: So many times 64 KiB are read of what an agent has said before it ended.
_MAX_READS = 1000
#: A longer line without an end is no message of an agent.
_MAX_MESSAGE = 1 << 20
#: So many tasks of a spool that have no room are looked at, for one behind them that has.
_PASSED = 20
_ROUNDING = 1e-9


def _fits(need, have):
    for n, h in zip(need, have):  # noqa: B905, SIM110  old Pythons; the innermost loop of planning
        if n > h + _ROUNDING:
            return False
    return True


class Room:
    """What is free: of each node, of what a node has; and of what the whole allocation has.

    Tasks that a node gets ahead are taken off what it has, too: less than nothing is free then.
    """

    def __init__(self, nodes, node, shared):
        self.free = [list(node) for _ in range(nodes)]
        self.shared = list(shared)
        #: How many tasks each node may get ahead.
        self.ahead = [0] * nodes

    def place(self, need, shared, closed=()):
        """The node with the fewest free cores that has room; None: none has."""
        if not _fits(shared, self.shared):
            return None
        best, least = None, None
        for node, free in enumerate(self.free):
            if (best is None or free[0] < least) and node not in closed and _fits(need, free):
                best, least = node, free[0]
        return best

    def place_ahead(self, shared):
        """The node that may get the most tasks ahead; None: none may get this one.

        What the whole allocation shares is not kept for a task that has not begun.
        """
        most = max(self.ahead)
        if most <= 0 or any(shared):
            return None
        node = self.ahead.index(most)
        self.ahead[node] -= 1
        return node

    def change(self, node, need, shared, sign):
        """Take (-1), or give back (1)."""
        for k, n in enumerate(need):
            self.free[node][k] += sign * n
        for k, n in enumerate(shared):
            self.shared[k] += sign * n


def start_in_order(room, waiting, may_start):
    """(task, node) of those that a node gets now.

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
            node = room.place_ahead(task["shared"])
        if node is None:
            closed.add(task["node"] % len(room.free))
            continue
        room.change(node, task["need"], task["shared"], -1)
        yield task, node


class WaitingTasks:
    """The tasks that wait, and which of them are ready: all tasks that they follow are complete.

    A task keeps its rank, the place in the order of the plan, when it has to wait again. Taking the
    first ready task costs the same however many wait behind it.
    """

    def __init__(self, tasks, completed):
        self._tasks = {}  # type: dict  # rank -> task
        self._ranks = {}  # type: dict  # name -> rank
        #: Ranks below zero in rising order, so that the first task is at the end of the list.
        self._ready = []  # type: list
        self._missing = {}  # type: dict  # rank -> names that have to complete before
        self._followers = {}  # type: dict  # name -> ranks of the tasks that wait for it
        self.completed = completed
        for task in tasks:
            self.add(task)

    def __len__(self):
        return len(self._tasks)

    def add(self, task):
        """A task waits, for the first time or again."""
        rank = self._ranks.setdefault(task["name"], len(self._ranks))
        self._tasks[rank] = task
        missing = set(task.get("after", ())) - self.completed
        if not missing:
            bisect.insort(self._ready, -rank)
            return
        self._missing[rank] = missing
        for name in missing:
            self._followers.setdefault(name, []).append(rank)

    def remove(self, task):
        """A ready task waits no longer."""
        rank = self._ranks[task["name"]]
        del self._tasks[rank]
        if self._ready[-1] == -rank:
            self._ready.pop()
        else:
            del self._ready[bisect.bisect_left(self._ready, -rank)]

    def complete(self, name):
        """A task has completed: those that waited for it alone are ready."""
        self.completed.add(name)
        for rank in self._followers.pop(name, ()):
            self._missing[rank].discard(name)
            if not self._missing[rank]:
                del self._missing[rank]
                bisect.insort(self._ready, -rank)

    def ready(self):
        """The ready tasks, the first one first."""
        return (self._tasks[-rank] for rank in reversed(self._ready))

    def names(self):
        """The names of all that wait, in the order of the plan."""
        return [self._tasks[rank]["name"] for rank in sorted(self._tasks)]


def _take_streams():
    """Descriptors of orders and of messages, which are nobody else's from here on.

    Standard input is empty then, and standard output is standard error.
    """
    orders, messages = os.dup(0), os.dup(1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return orders, messages


def _watch_signals(wakes):
    """A signal of a child writes to the descriptor `wakes`; a module may have changed that."""
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)


def _wake_pipe():
    """Descriptors of a pipe: a signal writes to the second one, which never waits."""
    wakes, wakes_in = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(wakes_in, False)
    return wakes, wakes_in


def agent(module=None):
    """On a node: starts what it is told, says what ended; ends all when nobody tells it more.

    A task that is a call of `main` of `module` is a fork of this process, which imports it once: a
    start costs what the call does, not what it imports. So there is no other thread here.
    """
    orders, messages = _take_streams()
    wakes, wakes_in = _wake_pipe()
    _watch_signals(wakes_in)
    node_agent = Agent(messages, (orders, messages, wakes, wakes_in), module)
    text, is_open = b"", True
    while is_open:
        node_agent.send()
        ready, _, _ = select.select([orders, wakes], [], [], node_agent.patience())
        if wakes in ready:
            _read_available(wakes)
            node_agent.reap()
        if orders in ready:
            piece = os.read(orders, 1 << 16)
            is_open = bool(piece)
            *lines, text = (text + piece).split(b"\n")
            for line in lines:
                node_agent.take_order(json.loads(line.decode()))
        if is_open:
            node_agent.begin_tasks()
    node_agent.end_tasks()
    return 0


class Agent:
    """The tasks of a node that run or wait for room, and what is to be said about them."""

    def __init__(self, messages, descriptors, module):
        self.messages, self.descriptors = messages, descriptors
        self.module, self.imported = module, None  # type: Any, Any
        self.wakes_in = descriptors[-1]
        self.all_cores = sorted(os.sched_getaffinity(0))
        #: What is free: cores, GB, GPUs; and which cores and GPUs.
        self.free, self.cores, self.gpus = [], [], []  # type: Any, Any, Any
        self.waiting = collections.deque()  # type: Any  # orders, and when they came
        self.running = {}  # type: dict  # process -> order, its cores and GPUs, when it began
        self.unsent = []  # type: list
        self.can_spawn = hasattr(os, "posix_spawnp")  # since Python 3.8
        self.environment = dict(os.environ)

    def say(self, **message):
        self.unsent.append(_MESSAGE + json.dumps(message).encode() + b"\n")

    def send(self):
        if self.unsent:
            with contextlib.suppress(OSError):  # nobody listens: the end of input will tell
                os.write(self.messages, b"".join(self.unsent))
            self.unsent.clear()

    def take_order(self, order):
        """The first order says what the node has and which tasks are over, the others are tasks."""
        if "node" in order:
            if _MARK in self.environment:  # an agent before this one may have left its tasks
                end_leftovers(self.environment[_MARK], set(order["completed"]))
            self.free = order["node"]
            count = int(self.free[0])
            self.cores = (self.all_cores * count)[:count]
            self.gpus = list(range(int(self.free[2])))
            self.say(ready=len(self.all_cores))
        else:
            self.waiting.append((order, time.time()))

    def begin_tasks(self):
        """Begin what fits, in the order of the orders; give back what has waited for long."""
        while self.waiting and _fits(self.waiting[0][0]["need"], self.free):
            self._begin(self.waiting.popleft()[0])
        if self.waiting and time.time() > self.waiting[0][1] + _AHEAD_PATIENCE:
            for order, _ in self.waiting:
                self.say(back=order["start"])
            self.waiting.clear()

    def patience(self):
        """Seconds until a task that waits has to be given back; None: none waits."""
        if not self.waiting:
            return None
        return max(self.waiting[0][1] + _AHEAD_PATIENCE - time.time(), 0.0) + 0.001

    def reap(self):
        """Say which tasks have ended."""
        while self.running:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:  # somebody else in this process waited for them
                for lost_pid in list(self.running):
                    self._end(lost_pid, -1)
                return
            if pid == 0:
                return
            if pid in self.running:  # or it is a process of a module
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                self._end(pid, code)

    def _begin(self, order):
        """Begin a task: its command, or the call of an imported module."""
        count, gpus = int(order["need"][0]), int(order["need"][2])
        cores, self.cores = self.cores[:count], self.cores[count:]
        devices, self.gpus = self.gpus[:gpus], self.gpus[gpus:]
        for k, need in enumerate(order["need"]):
            self.free[k] -= need
        text = ",".join(map(str, cores))
        environment = {"COSCHED_TASK": order["start"], "COSCHED_CPUS": text}
        environment.update(COSCHED_PROCS=str(count), OMP_NUM_THREADS=str(count))
        if devices:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
        for key, value in order["environment"].items():
            environment[key] = value.replace(CPUS, text)
        order["environment"] = environment
        order["command"] = [word.replace(CPUS, text) for word in order["command"]]
        begun = time.time()
        try:
            pid = self._start_process(order, cores)
        except (OSError, ValueError) as error:
            _note_in_output(order, error)
            pid = None
        self.say(started=order["start"], cores=cores, t=round(begun, 3))
        self.running[pid] = order, cores, devices, begun
        if pid is None:
            self._end(None, 127)

    def _end(self, pid, code):
        order, cores, devices, begun = self.running.pop(pid)
        self.say(end=order["start"], code=code, seconds=round(time.time() - begun, 3))
        for k, need in enumerate(order["need"]):
            self.free[k] += need
        self.cores = sorted(self.cores + cores)
        self.gpus = sorted(self.gpus + devices)

    def _start_process(self, order, cores):
        """The number of the process of a task."""
        if order["call"] and self.module and self.imported is None:
            self.imported = _import(self.module, order["directory"])
            _watch_signals(self.wakes_in)
        is_call = self.imported and order["call"]
        # A PATH of its own is not where this process would look for the command.
        if self.can_spawn and not is_call and "PATH" not in order["environment"]:
            try:
                return self._spawn(order, cores)
            except NotImplementedError:  # this C library cannot begin a session
                self.can_spawn = False
        pid = os.fork()
        if pid == 0:
            for descriptor in self.descriptors:
                os.close(descriptor)
            sys.exit(_become(order, cores, self.imported))
        return pid

    def _spawn(self, order, cores):
        """Start the command of a task without a copy of this process; the number of its process.

        A process has the folder and the cores of the one that starts it, so this one has those of
        the task meanwhile.
        """
        _enter(order["directory"])
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        output = os.open(order["output"], flags, 0o666)
        try:
            if cores:
                os.sched_setaffinity(0, cores)
            return os.posix_spawnp(
                order["command"][0],
                order["command"],
                dict(self.environment, **order["environment"]),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setsid=True,
                setsigdef=_IGNORED_BY_PYTHON,
            )
        finally:
            os.close(output)
            os.sched_setaffinity(0, self.all_cores)

    def end_tasks(self):
        """End what runs, first in a friendly way; what waits does not begin."""
        self.waiting.clear()
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in list(self.running):
                with contextlib.suppress(OSError):
                    os.killpg(pid, number)
            deadline = time.time() + _GRACE
            while self.running and time.time() < deadline:
                time.sleep(0.05)
                self.reap()
                self.send()


def _read_available(descriptor):
    """What can be read now without waiting, up to 64 KiB; empty: nothing, or its end."""
    with contextlib.suppress(BlockingIOError):
        return os.read(descriptor, 1 << 16)
    return b""


def _enter(directory):
    """Go to a folder, which is made where it is not there."""
    try:
        os.chdir(directory)
    except FileNotFoundError:
        os.makedirs(directory, exist_ok=True)
        os.chdir(directory)


def _note_in_output(order, error):
    """Why a task could not be started, where its user looks for its output."""
    words = "{}: {}".format(order["start"], error)
    try:
        with open(order["output"], "a") as output:
            print(words, file=output)
    except (OSError, ValueError):
        print(words, file=sys.stderr)


def _import(name, directory):
    """A module, seen from the folder where it will be called; False: the command will do."""
    try:
        os.chdir(directory)
        sys.path[0] = directory  # as `python -m` has it
        return importlib.import_module(name)
    except BaseException as error:  # whatever a foreign module does: the tasks run without it
        print(f"{name}: {error!r}", file=sys.stderr)
    return False


def _become(order, cores, imported):
    """In a process of its own: the task, and its exit code."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    try:
        if cores:
            os.sched_setaffinity(0, cores)
        with open(os.devnull) as nothing, open(order["output"], "ab") as output:
            os.dup2(nothing.fileno(), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        _enter(order["directory"])
        os.environ.update(order["environment"])
        if not imported or not order["call"]:
            for number in _IGNORED_BY_PYTHON:
                signal.signal(number, signal.SIG_DFL)
            os.execvp(order["command"][0], order["command"])
    except (OSError, ValueError) as error:
        print("{}: {}".format(order["start"], error), file=sys.stderr)
        return 127
    return imported.main(order["call"])


class Node:
    """An agent, and the tasks that it has.

    `completed` has the names of all tasks that have completed. `selector` is told which descriptors
    of the agent to watch; their data are the functions to call. `tell` gets each message of the
    agent as a dictionary with the node's `place`.
    """

    def __init__(self, place, host, part, completed, selector, tell):
        self.place, self.host = place, host or socket.gethostname()
        self.is_here = host is None
        self.part, self.completed = part, completed
        self.selector, self.tell = selector, tell
        self.mark = "{}:{}".format(part["file"], place)
        self.tasks = {}  # type: Any  # name -> task that runs or waits there
        self.begun = set()  # type: Any  # names of those that run
        self.ends = collections.deque()  # type: Any  # when tasks ended of late
        #: An agent is "starting" until its first message, then "ready"; "gone" for good in the end.
        self.state, self.replacements = "starting", 0
        self.process = None  # type: Any
        self.is_closing = False
        #: Orders that the agent has not taken yet, and the beginning of its next message.
        self.unsent, self.unread = bytearray(), b""
        self._start_agent(part.get("module"))

    def _start_agent(self, module):
        try:
            self._start_process(module)
        except OSError as error:
            _report(self.host, "cannot be started:", error)
            self.state = "gone"

    def _start_process(self, module):
        # The shell sets the mark, because srun, which may be on the host of its node, has none.
        command = ["sh", "-c", 'export "$0"; exec "$@"', f"{_MARK}={self.mark}"]
        command += [sys.executable, "-u", os.path.abspath(__file__), "--agent"]
        command += [module] if module else []
        if not self.is_here:
            size = "--cpus-per-task={}".format(int(self.part["node"][0]))
            step = ["srun", "--nodes=1", "--ntasks=1", "--nodelist=" + self.host, "--mem=0"]
            step += ["--exact", size, "--cpu-bind=none", "--unbuffered"]
            command = step + command
        self.state = "starting"
        self.deadline = time.time() + self.part.get("patience", _AGENT_PATIENCE)
        self.unsent, self.unread, self.is_closing = bytearray(), b"", False
        self._order(node=self.part["node"], completed=sorted(self.completed))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        for stream in (self.process.stdin, self.process.stdout):
            os.set_blocking(stream.fileno(), False)
        self.selector.register(self.process.stdout, selectors.EVENT_READ, self.read_messages)

    def read_messages(self):
        """Tell what the agent has said; False: there is nothing more to read now."""
        if self.process is None or self.process.stdout.closed:
            return False
        try:
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        if not piece:
            self._stop_watching(self.process.stdout)
            return False
        *lines, self.unread = (self.unread + piece).split(b"\n")
        if len(self.unread) > _MAX_MESSAGE:
            lines.append(self.unread)
            self.unread = b""
        for line in lines:
            self._read_message(line)
        return True

    def _read_message(self, line):
        printed, mark, text = line.partition(_MESSAGE)
        if printed.strip():
            _report(self.host, "printed", printed.decode(errors="replace").rstrip())
        if not mark:
            return
        try:
            message = json.loads(text.decode())
        except ValueError:
            _report(self.host, "sent a damaged message:", repr(text))
            return
        self.tell(dict(message, node=self.place))

    def send_orders(self):
        """Send what the agent takes now; the selector says when it takes more."""
        if self.process is None or self.process.stdin.closed:
            return
        stream = self.process.stdin
        try:
            while self.unsent:
                del self.unsent[: os.write(stream.fileno(), self.unsent[: 1 << 16])]
        except BlockingIOError:
            if stream not in self.selector.get_map():
                self.selector.register(stream, selectors.EVENT_WRITE, self.send_orders)
            return
        except OSError:  # the agent is lost, and that will be noticed
            self.unsent.clear()
            self.is_closing = True
        if self.is_closing:
            self._stop_watching(stream)
        elif stream in self.selector.get_map():
            self.selector.unregister(stream)

    def _stop_watching(self, stream):
        if stream.closed:
            return
        if stream in self.selector.get_map():
            self.selector.unregister(stream)
        stream.close()

    def notice_end(self):
        """Tell where the agent has ended, after everything that it said.

        The end of the process counts: one that it has left may hold its output open.
        """
        if self.state == "gone" or self.process is None or self.process.poll() is None:
            return
        process = self.process
        for _ in range(_MAX_READS):
            if not self.read_messages():
                break
        self._forget_process()
        self.tell({"lost": process.returncode, "node": self.place})

    def _order(self, **order):
        self.unsent += (json.dumps(order) + "\n").encode()

    def replace_agent(self):
        """Start another agent, which imports nothing; False: there were enough of them."""
        self._kill_agent()
        self.forget_tasks()
        if self.replacements >= _MAX_REPLACEMENTS:
            self.state = "gone"
            return False
        self.replacements += 1
        self._start_agent(None)
        return self.state != "gone"

    def give(self, task, output):
        """Give a task to the agent, which begins it as soon as it has room."""
        self.tasks[task["name"]] = task
        self._order(
            start=task["name"],
            need=task["need"],
            command=task["command"],
            call=task.get("call"),
            environment=task.get("environment", {}),
            directory=task.get("directory") or os.getcwd(),
            output=output,
        )

    def take_back(self, name):
        """A task that the agent has no more."""
        self.begun.discard(name)
        return self.tasks.pop(name)

    def forget_tasks(self):
        self.tasks.clear()
        self.begun.clear()
        self.ends.clear()

    def count_ahead(self, now):
        """How many tasks more the agent may get before it has room for them."""
        while self.ends and self.ends[0] < now - _AHEAD_WINDOW:
            self.ends.popleft()
        return len(self.ends) - (len(self.tasks) - len(self.begun))

    def close(self):
        """No more orders: the agent ends its tasks, and itself."""
        self.is_closing = True
        self.send_orders()
        if self.state == "starting":
            self._kill_agent()

    def end(self, deadline):
        """Waits for the agent until a deadline, then kills it."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(deadline - time.time(), 0.0))
        self._kill_agent()

    def _kill_agent(self):
        """The agent, and on this host the tasks that it leaves."""
        has_ended_itself = self.process is not None and self.process.poll() == 0
        if self.process is not None and self.process.poll() is None:
            if not self.is_here:  # srun tells Slurm to end the step
                self.process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(1.0)
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may hang in a file system
                self.process.wait(1.0)
        self._forget_process()
        if self.is_here and not has_ended_itself:
            end_leftovers(self.mark, self.completed)

    def _forget_process(self):
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                self._stop_watching(stream)
        self.process = None


def end_leftovers(mark, completed):
    """End the processes of this host that an agent has left.

    They have its mark in their variables. What a completed task has left may run on, and so may
    this process and those that it comes from.
    """
    deadline = time.time() + _LEFTOVERS_PATIENCE
    spared = set(_ancestors(os.getpid()))
    while True:
        tasks = processes_of(mark)
        pids = [pid for pid in tasks if pid not in spared and tasks[pid] not in completed]
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):  # a session of its own has processes without mark
                os.killpg(pid, signal.SIGKILL)
        if not pids or time.time() > deadline:
            return
        time.sleep(0.01)


def processes_of(mark):
    """Process -> task, or None, of those that have a mark in their variables.

    Processes of other users, and those that have ended, show no variables.
    """
    tasks = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            text = file.read()
            if os.fsencode(mark) in text:
                pairs = (pair.partition(b"=") for pair in text.split(b"\0"))
                variables = {os.fsdecode(key): os.fsdecode(value) for key, _, value in pairs}
                if variables.get(_MARK) == mark:
                    tasks[int(name)] = variables.get("COSCHED_TASK")
    return tasks


def _ancestors(pid):
    """A process, and those that it comes from."""
    while pid > 0:
        yield pid
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError):
            return


def _report(host, *words):
    print("cosched: agent on", host, *words, file=sys.stderr, flush=True)


class Spool:
    """Tasks in a folder that several runners share: whoever renames a file has it.

    Who gave the tasks takes the runner's own folder away when it believes the runner dead: one
    that lives on (its node was set down) then gets no further task, and its reports do not count.
    """

    def __init__(self, folder, name, part):
        self.folder, self.part = folder, part
        self.own_folder = os.path.join(folder, "taken", name)
        self.damaged = set()  # type: set
        os.makedirs(self.own_folder, exist_ok=True)

    def look(self, place):
        """Takes tasks that find a place, in the order of their names; with their nodes."""
        passed = 0
        for name in sorted(os.listdir(os.path.join(self.folder, "new"))):
            path = os.path.join(self.folder, "new", name)
            try:
                with open(path) as file:
                    task = require_task(json.load(file), self.part)
                node = place(task)
                if node is not None:
                    os.rename(path, os.path.join(self.own_folder, name))
            except OSError:
                continue  # another runner has it
            except (RecursionError, ValueError) as error:
                if name not in self.damaged:
                    self.damaged.add(name)
                    print(path, "is no task:", error, file=sys.stderr, flush=True)
                continue
            if node is not None:
                yield dict(task, file=name), node
            passed += node is None
            if passed > _PASSED:
                return

    def ended(self, task, **how):
        path = os.path.join(self.folder, "ended", task["file"])
        taken_file = os.path.join(self.own_folder, task["file"])
        if os.path.exists(taken_file):
            with open(path + ".part", "w") as file:
                json.dump(how, file)
            os.rename(path + ".part", path)
        with contextlib.suppress(FileNotFoundError):  # it runs elsewhere
            os.remove(taken_file)


class Runner:
    """One allocation: who waits, who runs, what ended."""

    def __init__(self, path):
        self.begun = time.time()
        require_regular_file(path)
        with open(path) as file:
            self.part = part = require_part(json.load(file))
        self.folder = os.path.dirname(os.path.abspath(path))
        part["file"] = os.path.realpath(path)
        self.stem = path[: -len(".json")]
        self.selector = selectors.DefaultSelector()
        self.events = []  # type: Any  # messages of agents, in the order in which they came
        #: Entries of the journal that are not written yet, and when some had to be on the disk.
        self.unwritten, self.sync_at = [], math.inf  # type: Any, float
        self.job = os.environ.get("SLURM_JOB_ID", str(os.getpid()))
        self.outputs = os.path.abspath(self.stem) + ".outputs"
        os.makedirs(self.outputs, exist_ok=True)
        journal = self.stem + ".journal.jsonl"
        if os.path.exists(journal):
            require_regular_file(journal)
        self.journal = open(journal, "ab+", buffering=0)  # noqa: SIM115  as long as it runs
        lock(self.journal)
        if _ends_within_line(self.journal):  # a runner before this one ended as it wrote
            self.journal.write(b"\n")
        completed = completed_in(*rounds_of(self.folder))
        # Those that complete are forgotten.
        waiting = [task for task in part.pop("tasks") if task["name"] not in completed]
        self.waiting = WaitingTasks(waiting, completed)
        self.failed, self.nodes = [], []  # type: Any, Any
        #: Why nothing more starts, once there is a reason, and when agents are killed then.
        self.stop_reason, self.stop_deadline = None, math.inf  # type: Any, Any
        self.signals = []  # type: Any  # their numbers
        self.room = Room(part["nodes"], [0.0] * len(part["node"]), part["shared"])
        spool = part.get("spool")
        self.spool = Spool(spool, os.path.basename(self.stem), part) if spool else None
        #: A signal after this moment is that of the limit.
        self.limit_near = self.begun + part.get("time", math.inf) - _SIGNAL_MARGIN
        #: No task starts that would end later; at `stop_at` what runs is ended.
        self.ends_at, self.stop_at = self.begun + part["limit"], math.inf
        self._follow_limit(time.time())
        #: They were planned as the first ones, and may be as long as the limit.
        everything = Room(part["nodes"], part["node"], part["shared"])
        first_tasks = start_in_order(everything, self.waiting.ready(), lambda task: True)
        self.first_tasks = {task["name"] for task, _ in first_tasks}

    def _follow_limit(self, now):
        """The limit that the job has in Slurm now, which others may have changed."""
        seconds = seconds_left()
        if seconds is not None:
            self.ends_at = self.stop_at = now + seconds - END_MARGIN

    def write(self, **entry):
        """An entry for the journal, written before the loop waits or an order is sent."""
        now = time.time()
        entry.setdefault("t", round(now, 3))
        self.unwritten.append(json.dumps(entry) + "\n")
        if "start" not in entry:
            self.sync_at = min(self.sync_at, now + _SYNC_INTERVAL)

    def _write_journal(self, now):
        """Write the journal; what has waited long enough is put on the disk."""
        text = "".join(self.unwritten).encode()
        self.unwritten.clear()
        while text:
            text = text[self.journal.write(text) :]
        if now >= self.sync_at:
            os.fsync(self.journal.fileno())
            self.sync_at = math.inf

    def run(self):
        """Until nothing runs and nothing more can start: the number that did not complete."""
        hosts = self._hosts()
        wakes, wakes_in = _wake_pipe()
        self.selector.register(wakes, selectors.EVENT_READ, lambda: self._notice_signals(wakes))
        _watch_signals(wakes_in)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: self.signals.append(number))
        try:
            self.write(begin=self.job, host=socket.gethostname(), pid=os.getpid(), hosts=hosts)
            self._write_journal(math.inf)
            completed = self.waiting.completed
            for place, host in enumerate(hosts):
                node = Node(place, host, self.part, completed, self.selector, self.events.append)
                self.nodes.append(node)
            self._work()
        finally:
            self._end_agents()
            self._write_journal(math.inf)
        open_tasks = self.waiting.names()
        self.write(over=self.job, failed=len(self.failed), left=open_tasks)
        self._write_journal(math.inf)
        for number in (signal.SIGTERM, signal.SIGINT):  # its end is near, and its exit code known
            signal.signal(number, signal.SIG_IGN)
        return min(len(self.failed) + len(open_tasks), 125)

    def _work(self):
        idle_since = time.time()
        while True:
            self._stop_if_due()
            if self.stop_reason is None:
                self._give_tasks()
            is_working = any(node.tasks for node in self.nodes)
            if is_working or (self.stop_reason is None and self._waits_for_agents()):
                idle_since = time.time()
            elif self.stop_reason is not None or self._is_idle(time.time() - idle_since):
                return
            self._write_journal(time.time())
            for node in self.nodes:
                node.send_orders()
            self._wait_for_events()

    def _end_agents(self):
        for node in self.nodes:
            node.close()
        deadline = time.time() + 2.0
        for node in self.nodes:
            node.end(deadline)

    def _hosts(self):
        """None is this host; the others have names."""
        text = os.environ.get("SLURM_JOB_NODELIST", "")
        if self.part["nodes"] == 1 or not text:
            return [None] * self.part["nodes"]
        answer = subprocess.check_output(
            ["scontrol", "show", "hostnames", text], timeout=_SLURM_PATIENCE
        )
        return [None, *answer.decode().split()[1:]]

    def _waits_for_agents(self):
        """Whether no node is ready, and one will be."""
        states = [node.state for node in self.nodes]
        return "starting" in states and "ready" not in states

    def _is_idle(self, seconds):
        """Whether nothing more will start: nothing runs, for so many seconds."""
        states = [node.state for node in self.nodes]
        if self.spool is None:  # another node may have room soon
            return "starting" not in states or not any(map(self._may_start, self.waiting.ready()))
        if "ready" not in states:
            return True
        return seconds > self.part.get("idle", 2.0) or time.time() > self.ends_at

    def _may_start(self, task):
        """Whether a task that is ready ends before the limit, or was planned to begin at once."""
        now = time.time()
        is_fresh = now < self.begun + _FRESH and task["name"] in self.first_tasks
        return is_fresh or now + task["seconds"] <= self.ends_at

    def _give_tasks(self):
        """Give to nodes what they have room for, and what they may get ahead."""
        now = time.time()
        self.room.ahead = [
            node.count_ahead(now) if node.state == "ready" else 0 for node in self.nodes
        ]
        for task, place in list(start_in_order(self.room, self.waiting.ready(), self._may_start)):
            self.waiting.remove(task)
            self._give_task(task, place)
        if self.spool is not None and any(free[0] > 0 for free in self.room.free):
            for task, place in self.spool.look(self._place):
                self.room.change(place, task["need"], task["shared"], -1)
                self._give_task(task, place)

    def _place(self, task):
        return self.room.place(task["need"], task["shared"]) if self._may_start(task) else None

    def _give_task(self, task, place):
        output = os.path.join(self.outputs, task.get("output", task["name"]) + ".out")
        self.nodes[place].give(task, output)

    def _stop_if_due(self):
        """Stops where a signal came or the limit is near; later, ends those that do not stop."""
        now = time.time()
        if self.stop_reason is None and now >= self.stop_at:
            self._follow_limit(now)
        if self.stop_reason is None and (self.signals or now >= self.stop_at):
            self.stop_reason = "limit" if now >= min(self.stop_at, self.limit_near) else "signal"
            self.stop_deadline = now + _STOP_PATIENCE
            self.write(stop=self.stop_reason)
            for node in self.nodes:
                node.close()  # ends its tasks
        elif now >= self.stop_deadline:
            for node in self.nodes:
                self._cut_tasks(node)
                node.end(now)

    def _wait_for_events(self):
        """Handle what happens next, and everything that has happened by then."""
        if self._can_gather():
            time.sleep(_GATHER)
        for key, _ in self.selector.select(_POLL):
            key.data()
        events, self.events[:] = list(self.events), []
        for event in events:
            self._handle_event(event)
        for node in self.nodes:
            if node.state == "starting" and time.time() > node.deadline:
                _report(node.host, "does not answer")
                self._replace(node)

    def _can_gather(self):
        """Whether each node that works has tasks ahead: none needs the runner at once."""
        places = [node.place for node in self.nodes if node.tasks]
        return bool(places) and all(self.room.free[place][0] < 0 for place in places)

    def _notice_signals(self, wakes):
        """A signal has come: an agent may have ended (other signals are noted by their handler)."""
        _read_available(wakes)
        for node in self.nodes:
            node.notice_end()

    def _handle_event(self, event):
        node = self.nodes[event["node"]]
        if "ready" in event:
            node.state = "ready"
            self.room.free[node.place] = list(self.part["node"])
        elif "started" in event:
            if event["started"] in node.tasks:
                node.begun.add(event["started"])
                name, cores = event["started"], event["cores"]
                self.write(start=name, node=node.host, cores=cores, t=event["t"])
        elif "end" in event:
            if event["end"] in node.tasks:
                self._end_task(node, event)
        elif "back" in event:
            if event["back"] in node.tasks:
                self.waiting.add(self._take_back(node, event["back"]))
        elif self.stop_reason is None:
            _report(node.host, "ended with", event["lost"])
            self._replace(node)
        else:
            self._cut_tasks(node)

    def _end_task(self, node, event):
        node.ends.append(time.time())
        task = self._take_back(node, event["end"])
        self._tell(task, event["code"], event["seconds"])

    def _take_back(self, node, name):
        task = node.take_back(name)
        self.room.change(node.place, task["need"], task["shared"], 1)
        return task

    def _tell(self, task, code, seconds):
        name, is_cut = task["name"], self.stop_reason is not None and code != 0
        state = "cut" if is_cut else "end"
        self.write(**{state: name, "code": code, "seconds": round(seconds, 3)})
        if code == 0:
            self.waiting.complete(name)
        elif is_cut:
            self.waiting.add(task)
        else:
            self.failed.append(name)
        if self.spool is not None and not is_cut:
            self.spool.ended(task, code=code, seconds=seconds)

    def _replace(self, node):
        """Another agent for a node; the tasks that the first one had start again."""
        self._cut_tasks(node)
        if node.replace_agent():
            _report(node.host, "is replaced")
        else:
            _report(node.host, "is not replaced again: this node gets no more tasks")

    def _cut_tasks(self, node):
        """The tasks of a node whose agent is lost wait again; the node has no room."""
        lost, begun = list(node.tasks.values()), set(node.begun)
        node.forget_tasks()
        self.room.free[node.place] = [0.0] * len(self.part["node"])
        for task in lost:
            if task["name"] in begun:
                self.write(cut=task["name"], code=None, seconds=0.0)
            for k, n in enumerate(task["shared"]):
                self.room.shared[k] += n
            self.waiting.add(task)


def read_entries(path):
    """The entries of a journal; a line that is damaged, as half a last one, says nothing."""
    require_regular_file(path)
    with open(path, errors="replace") as file:
        for line in file:
            with contextlib.suppress(RecursionError, ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry


def _ends_within_line(file):
    """Whether a file, open for bytes, has no line end at its end."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def require_regular_file(path):
    """Refuse a pipe or a device: reading it might never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "no regular file", path)


def state_of(entry):
    """(name, state, seconds) of the task that an entry is about; None: of no task, or damaged."""
    with contextlib.suppress(KeyError, TypeError, ValueError):
        if "start" in entry:
            return str(entry["start"]), "started", 0.0
        if "cut" in entry:
            return str(entry["cut"]), "cut", float(entry["seconds"])
        if "end" in entry:
            return str(entry["end"]), "failed" if entry["code"] != 0 else "completed", 0.0
    return None


def read_journal(path):
    """(name, state, seconds) of tasks, as they happened."""
    for entry in read_entries(path):
        state = state_of(entry)
        if state is not None:
            yield state


def completed_in(*folders):
    """Names of the tasks that the journals of folders know to have completed."""
    names = set()  # type: set
    for folder in folders:
        for name in os.listdir(folder):
            if name.endswith(".journal.jsonl"):
                states = read_journal(os.path.join(folder, name))
                names.update(task for task, state, _ in states if state == "completed")
    return names


def rounds_of(folder, missing=None):
    """A folder, and the folders of its later rounds (``rest.json``), each once, in order.

    `missing` is told the path of each one that is not there any more.
    """
    folders, visited = [], set()  # type: Any, set
    waiting = [os.path.abspath(folder)]
    while waiting:
        place = waiting.pop(0)
        if os.path.realpath(place) in visited:
            continue
        visited.add(os.path.realpath(place))
        if not os.path.isdir(place):
            if missing is not None:
                missing(place)
            continue
        folders.append(place)
        rest = os.path.join(place, "rest.json")
        with contextlib.suppress(FileNotFoundError):
            require_regular_file(rest)
            with open(rest) as file:
                names_of_later = json.load(file)["folders"]
            waiting += [os.path.normpath(os.path.join(place, name)) for name in names_of_later]
    return folders


def lock(journal):
    """Keep other runners from this allocation as long as the file is open.

    One whose job Slurm has put back into the queue waits longer: the file system may not know yet
    that the first node is down.
    """
    patience = _REQUEUE_PATIENCE if os.environ.get("SLURM_RESTART_COUNT") else _LOCK_PATIENCE
    deadline = time.time() + patience
    while True:
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                consequence = "a second start of this allocation would not be noticed"
                print(f"{journal.name}: {error.strerror}: {consequence}", file=sys.stderr)
                return
        if time.time() > deadline:
            raise Busy(owner_of(journal.name))
        time.sleep(0.1)


def is_locked(path):
    """Whether a runner has the lock of this journal; None: the file system has no locks."""
    try:
        require_regular_file(path)
        with open(path) as journal:
            fcntl.flock(journal, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError as error:
        return True if error.errno in (errno.EAGAIN, errno.EACCES) else None
    return False


def owner_of(path):
    """The last runner that a journal knows, in words."""
    entry = last_begin(path)
    if not entry:
        return "another runner"
    return "job {}, process {} on {}".format(
        entry["begin"], entry.get("pid", "?"), entry.get("host", "?")
    )


def last_begin(path):
    """The entry of the last runner that began; empty: none did, or it has ended."""
    last = {}  # type: dict
    with contextlib.suppress(OSError):
        for entry in read_entries(path):
            if "begin" in entry:
                last = entry
            elif "over" in entry:
                last = {}
    return last


def seconds_left():
    """Seconds until the limit of this job, as Slurm knows it; None: no limit, or no Slurm."""
    job = os.environ.get("SLURM_JOB_ID")
    if not job:
        return None
    command = ["squeue", "--noheader", "--format=%L", "--jobs=" + job]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        answer = subprocess.check_output(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SLURM_PATIENCE
        )
        text = answer.decode(errors="replace").strip()
        match = re.match(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)$", text)
        if match:
            days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
            return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds
        if text == "UNLIMITED":
            return None
    end = os.environ.get("SLURM_JOB_END_TIME", "")
    return float(end) - time.time() if end.isdigit() else None


class Busy(Exception):
    """Another runner works on the allocation."""


def require_part(part):
    """The data of an allocation, checked; ValueError says what is wrong where."""
    if not isinstance(part, dict):
        raise ValueError("expected a table with nodes, limit, node, shared, tasks")
    _require(part, "", "nodes", "an integer above 0", lambda x: _is_integer(x) and x > 0)
    _require(part, "", "limit", "seconds", _is_amount)
    _require(part, "", "node", "cores, GB and GPUs", lambda x: _are_amounts(x) and len(x) == 3)
    _require(part, "", "shared", "a list of numbers", _are_amounts)
    _require(part, "", "tasks", "a list of tables", lambda x: isinstance(x, list))
    for number, task in enumerate(part["tasks"], start=1):
        require_task(task, part, f"task {number}")
    return part


def require_task(task, part, where="task"):
    """A task, checked against what an allocation has."""
    if not isinstance(task, dict):
        raise ValueError(where + ": expected a table")
    _require(task, where, "name", "a text", lambda x: isinstance(x, str) and x)
    where += " ({!r})".format(task["name"])
    _require(task, where, "command", "a list of texts", lambda x: _are_texts(x) and x)
    _require(task, where, "seconds", "seconds", _is_amount)
    for key, have in (("need", part["node"]), ("shared", part["shared"])):
        expected = f"at most {have}"
        _require(
            task,
            where,
            key,
            expected,
            lambda x, have=have: _are_amounts(x) and len(x) == len(have) and _fits(x, have),
        )
    _require(task, where, "node", "an integer", _is_integer)
    empty = {"after": [], "directory": "", "environment": {}, "output": "x", "call": []}
    unset = [key for key in ("call", "directory") if task.get(key, "") is None]
    checked = dict(empty, **{key: value for key, value in task.items() if key not in unset})
    _require(checked, where, "after", "a list of texts", _are_texts)
    _require(checked, where, "directory", "a text", _is_text)
    _require(
        checked,
        where,
        "environment",
        "a table of texts",
        lambda x: isinstance(x, dict) and _are_texts(list(x) + list(x.values())),
    )
    _require(checked, where, "output", "a file name", lambda x: _is_text(x) and "/" not in x)
    _require(checked, where, "call", "a list of texts", _are_texts)
    return task


def _require(table, where, key, expected, is_good):
    where = where + ": " if where else ""
    if key not in table:
        raise ValueError(f"{where}no {key!r}: expected {expected}")
    if not is_good(table[key]):
        text = repr(table[key])
        text = text if len(text) <= 60 else text[:57] + "..."
        raise ValueError(f"{where}{key} = {text}: expected {expected}")


def _is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_amount(value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value < math.inf


def _are_amounts(values):
    return isinstance(values, list) and all(map(_is_amount, values))


def _is_text(value):
    return isinstance(value, str) and "\0" not in value


def _are_texts(values):
    return isinstance(values, list) and all(map(_is_text, values))


def main(path):
    """Run an allocation: the exit code."""
    try:
        runner = Runner(path)
    except Busy as error:
        print(path, f"runs already ({error}): expected one runner", file=sys.stderr)
        return 2
    except (OSError, RecursionError, ValueError) as error:
        words = error if type(error) is ValueError else repr(error)
        print(path, "is not what cosched batch wrote:", words, file=sys.stderr)
        return 2
    try:
        return runner.run()
    except (OSError, subprocess.SubprocessError) as error:
        print(path, "cannot go on:", error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(agent(*sys.argv[2:]) if sys.argv[1] == "--agent" else main(sys.argv[1]))
