# What the package shows, for type checkers, and for `cosched.lazy`, which imports it on first use.
from cosched.execution.adaptive import (
    Guarantee as Guarantee,
    bounds_of_times as bounds_of_times,
    guarantee as guarantee,
    measure_adaptively as measure_adaptively,
)
from cosched.execution.advice import Advice as Advice
from cosched.execution.batch_script import ScriptJob as ScriptJob, script as script
from cosched.execution.batches import (
    Batches as Batches,
    BatchTask as BatchTask,
    TaskList as TaskList,
    batch as batch,
)
from cosched.execution.code import Code as Code
from cosched.execution.codes import Codes as Codes
from cosched.execution.slowdowns import together as together
from cosched.execution.launchers import Local as Local, Slurm as Slurm
from cosched.execution.measure import Adaptive as Adaptive, profile as profile
from cosched.execution.plans import Plan as Plan, PlanStep as PlanStep
from cosched.execution.planning import plan as plan
from cosched.execution.record import Execution as Execution, TaskRun as TaskRun
from cosched.execution.running import commands as commands, run as run
