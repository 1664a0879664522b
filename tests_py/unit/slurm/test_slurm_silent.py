"""Nothing is ignored silently: settings of slurm.conf(5), gres.conf(5), and of sacctmgr(1)."""

from __future__ import annotations

import re

import pytest

import cosched as cs
from cosched.cluster import Machine
from cosched.slurm.accounts.accounting_dump import read_accounts
from cosched.slurm.conf.lines import words
from cosched.slurm.conf.settings import IGNORED_PARAMETERS
from cosched.slurm.requests.associations import Accounts

#: Lines of a file, each with a value that is not Slurm's default: those of 22.05 and of 24.11 that
#: say something about who starts when and where.
LINES = words(
    """
    AccountingStorageEnforce=limits,safe CompleteWait=60 DefCpuPerGPU=4 DefMemPerCPU=500
    DefMemPerGPU=500 DefMemPerNode=500 Epilog=/bin/true EpilogMsgTime=3000
    EpilogSlurmctld=/bin/true JobRequeue=0 JobSubmitPlugins=lua KillWait=60 Licenses=matlab:4
    MaxMemPerCPU=500 MaxMemPerNode=500 MaxNodeCount=8 MCSPlugin=mcs/user MCSParameters=enforced
    MessageTimeout=60 NodeFeaturesPlugins=node_features/helpers OverTimeLimit=10
    PreemptExemptTime=00:10:00 PreemptMode=CANCEL PreemptParameters=min_exempt_priority=100
    PreemptParameters=reclaim_licenses PreemptParameters=reorder_count=3
    PreemptParameters=strict_order PreemptParameters=suspend_grace_time=10
    PreemptParameters=youngest_first PreemptType=preempt/qos PriorityCalcPeriod=1
    PriorityDecayHalfLife=1-0 PriorityFavorSmall=YES PriorityFlags=ACCRUE_ALWAYS
    PriorityFlags=DEPTH_OBLIVIOUS PriorityFlags=INCR_ONLY PriorityFlags=MAX_TRES
    PriorityFlags=NO_FAIR_TREE PriorityFlags=NO_NORMAL_ALL PriorityFlags=NO_NORMAL_ASSOC
    PriorityFlags=NO_NORMAL_PART PriorityFlags=NO_NORMAL_QOS PriorityFlags=NO_NORMAL_TRES
    PriorityFlags=SMALL_RELATIVE_TO_TIME PriorityMaxAge=1-0 PriorityParameters=x
    PrioritySiteFactorPlugin=site_factor/x PriorityType=priority/multifactor
    PriorityUsageResetPeriod=WEEKLY PriorityWeightAge=9 PriorityWeightAssoc=9
    PriorityWeightFairshare=9 PriorityWeightJobSize=9 PriorityWeightPartition=9
    PriorityWeightQOS=9 PriorityWeightTRES=CPU=9 Prolog=/bin/true PrologSlurmctld=/bin/true
    ResumeTimeout=600 ReturnToService=2 ResvOverRun=10 RequeueExit=3 RequeueExitHold=3
    SchedulerType=sched/builtin SelectType=select/linear SelectTypeParameters=CR_Core_Memory
    SelectTypeParameters=CR_LLN SelectTypeParameters=CR_Pack_Nodes
    SelectTypeParameters=CR_Core,LL_SHARED_GRES
    SelectTypeParameters=CR_Core,MULTIPLE_SHARING_GRES_PJ SuspendTime=600
    TopologyParam=SwitchAsNodeRank TopologyPlugin=topology/tree BurstBufferType=burst_buffer/lua
    """
)
PARTITION = words(
    """
    AllocNodes=login AllowAccounts=physics AllowGroups=staff AllowQos=high Alternate=b
    DefaultTime=10 DefCpuPerGPU=2 DefMemPerCPU=100 DefMemPerGPU=100 DefMemPerNode=100
    DenyAccounts=chem DenyQos=low ExclusiveTopo=YES ExclusiveUser=YES GraceTime=60
    JobDefaults=DefCpuPerGPU=2 LLN=YES MaxCPUsPerNode=2 MaxCPUsPerSocket=2 MaxMemPerCPU=100
    MaxMemPerNode=100 MaxNodes=1 MaxTime=60 MinNodes=2 PowerDownOnIdle=YES
    OverSubscribe=EXCLUSIVE OverSubscribe=FORCE:2 OverTimeLimit=9 PreemptMode=CANCEL
    PriorityJobFactor=9 PriorityTier=9 QOS=high ReqResv=YES RootOnly=YES
    SelectTypeParameters=CR_Socket State=DOWN SuspendTime=60 TRESBillingWeights=CPU=2
    AllowUsers=ann
    """
)
NODE = words(
    """
    CoreSpecCount=1 CpuSpecList=0 MemSpecLimit=100 Gres=gpu:2 Gres=mps:100 Feature=x Weight=9
    State=DRAIN CPUs=8 CoresPerSocket=2 RealMemory=9001
    """
)
GRES = ("Name=gpu Type=a100 File=/dev/nvidia0", "Name=gpu Count=2 Cores=0-3", "Name=mps Count=100",
        "Name=gpu Links=-1", "Name=gpu Flags=one_sharing")  # fmt: skip
#: SchedulerParameters of slurm.conf(5).
PARAMETERS = words(
    """
    allow_zero_lic assoc_limit_stop batch_sched_delay=9 bb_array_stage_cnt=9 bf_busy_nodes
    bf_continue bf_hetjob_immediate bf_hetjob_prio=min bf_interval=60
    bf_job_part_count_reserve=2 bf_licenses bf_max_job_array_resv=9 bf_max_job_assoc=9
    bf_max_job_part=9 bf_max_job_start=9 bf_max_job_test=9 bf_max_job_user=9
    bf_max_job_user_part=9 bf_max_time=9 bf_min_age_reserve=9 bf_min_prio_reserve=9
    bf_node_space_size=9 bf_one_resv_per_job bf_resolution=600 bf_running_job_reserve
    bf_topopt_enable bf_topopt_iterations=9 bf_window=9 bf_window_linear=9 bf_yield_interval=9
    bf_yield_sleep=9 build_queue_timeout=9 correspond_after_task_cnt=9 default_queue_depth=9
    defer defer_batch delay_boot=9 disable_job_shrink disable_hetjob_steps enable_hetjob_steps
    enable_job_state_cache enable_user_top extra_constraints ignore_constraint_validation
    ignore_numa ignore_prefer_validation max_array_tasks=9 max_rpc_cnt=9 max_sched_time=9
    max_script_size=9 max_submit_line_size=9 max_switch_wait=9 no_backup_scheduling no_env_cache
    nohold_on_prolog_fail pack_serial_at_end partition_job_depth=9 preempt_reorder_count=9
    preempt_strict_order preempt_youngest_first reduce_completing_frag requeue_setup_env_fail
    salloc_wait_nodes sbatch_wait_nodes sched_interval=9 sched_max_job_start=9
    sched_min_interval=9 spec_cores_first step_retry_count=9 step_retry_time=9
    time_min_as_soft_limit whole_hetjob
    """
)
#: Columns of sacctmgr, and flags of QOS.
COLUMNS = words(
    """
    GrpJobs GrpJobsAccrue GrpSubmit GrpTRES GrpTRESMins GrpTRESRunMins GrpWall MaxJobsAccruePA
    MaxJobsAccruePU MaxJobsPA MaxJobsPU MaxSubmitPA MaxSubmitPU MaxTRES MaxTRESMins MaxTRESPA
    MaxTRESPerNode MaxTRESPU MaxTRESRunMinsPA MaxTRESRunMinsPU MaxWall MinTRES MinPrioThres
    UsageThres
    """
)
FLAGS = words(
    """
    DenyOnLimit EnforceUsageThreshold NoDecay NoReserve OverPartQOS PartitionMaxNodes
    PartitionMinNodes PartitionQOS PartitionTimeLimit RequiresReservation UsageFactorSafe
    Relative
    """
)
_DBD = "AccountingStorageType=accounting_storage/slurmdbd\n"


def read(folder, text="", partition="", node="", gres=""):
    (folder / "gres.conf").write_text(gres)
    (folder / "slurm.conf").write_text(
        f"{'' if 'SelectType=' in text else 'SelectType=select/cons_tres'}\n{_DBD}{text}\n"
        f"{'' if 'PreemptType' in text else 'PreemptType=preempt/partition_prio'}\n"
        f"{'' if 'PreemptMode' in text else 'PreemptMode=REQUEUE'}\n"
        f"{'' if 'Fairshare' in text else 'PriorityWeightFairshare=1'}\n"
        f"{'' if 'TypeParam' in text else 'SelectTypeParameters=CR_Core'}\n"
        f"NodeName=n[1-2] Gres=gpu:1 CPUs=4 RealMemory=9000 {node}\n"
        "PartitionName=b Nodes=n1 PriorityTier=5\n"
        f"PartitionName=main Nodes=n[1-2] Default=YES {partition}\n"
    )
    return Machine.read(folder / "slurm.conf")


@pytest.mark.parametrize("line", sorted(LINES))
def test_a_line_does_something_or_is_named(tmp_path, line):
    assert read(tmp_path, line) != read(tmp_path)


@pytest.mark.parametrize("setting", sorted(PARTITION))
def test_so_does_a_setting_of_a_partition(tmp_path, setting):
    assert read(tmp_path, partition=setting) != read(tmp_path)


@pytest.mark.parametrize("setting", sorted(NODE))
def test_so_does_a_setting_of_a_node(tmp_path, setting):
    assert read(tmp_path, node=setting) != read(tmp_path)


@pytest.mark.parametrize("line", GRES)
def test_so_does_a_line_of_gres_conf(tmp_path, line):
    assert read(tmp_path, gres=line) != read(tmp_path)


@pytest.mark.parametrize("one", sorted(PARAMETERS))
def test_so_do_scheduler_parameters_unless_they_have_no_say(tmp_path, one):
    limits = "AccountingStorageEnforce=limits\nLicenses=a:2\n"  # or some would not matter
    plain, with_parameter = (
        read(tmp_path, f"{limits}{text}") for text in ("", f"SchedulerParameters={one}")
    )
    assert (with_parameter != plain) != (one.partition("=")[0] in IGNORED_PARAMETERS)


def accounts(folder, qos_columns="", qos=""):
    (folder / "accounts.txt").write_text(
        "Account|User|Share\nroot||1\nphysics||1\nphysics|ann|1\n"
        f"Name|Priority|{qos_columns}\nnormal|1|{qos}\n"
    )
    account_limits = Accounts(read_accounts(folder / "accounts.txt"), read(folder))
    return account_limits.qos, account_limits.unsupported


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_so_does_a_limit_of_a_qos(tmp_path, column):
    value = "cpu=1" if "TRES" in column else "0.5" if "Thres" in column else "1"
    assert accounts(tmp_path, column, value) != accounts(tmp_path, column)


@pytest.mark.parametrize("flag", sorted(FLAGS))
def test_so_does_a_flag_of_a_qos(tmp_path, flag):
    assert accounts(tmp_path, "Flags", flag) != accounts(tmp_path, "Flags")


def test_one_partition_of_several_may_be_exclusive(tmp_path):
    machine = read(
        tmp_path,
        "PriorityWeightFairshare=0\nPreemptType=preempt/none",
        partition="OverSubscribe=EXCLUSIVE",
    )
    jobs = {"submit": [0, 1, 2], "tasks": [1, 1, 3], "cpu": [1] * 3, "memory": [1] * 3,
            "runtime": [60] * 3, "partition": ["main", "main", "b"]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    schedule = cs.slurm.backfill(inst, seed=1).schedule
    schedule.validate()
    nodes = [unit // 4 for row in range(3) for unit in schedule.units(row)[:1]]
    assert nodes[:2] == [0, 1]  # they do not share
    assert schedule.start[2] >= 60


def test_what_is_not_followed_is_named(tmp_path):
    machine = read(tmp_path, "JobRequeue=0\nPriorityWeightTRES=CPU=9,License/a=3\n"
                   "PriorityType=priority/multifactor\nPriorityWeightAge=1", node="Gres=gpu:0",
                   partition="AllowGroups=staff", gres="Name=mps Count=1")  # fmt: skip
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9], "gpus": [1]}
    inst = cs.cluster.Instance(jobs, machine.cores)
    notes = cs.slurm.backfill(inst, machine=machine, approximate=True).instance.notes
    note_text = "\n".join((*machine.slurm.notes, *notes))
    for text in ("JobRequeue=0: preempted jobs", "AllowGroups=staff: nobody says who",
                 "Name=mps of gres.conf", "PriorityWeightTRES=License/a=3",
                 "gpus: the machine has none"):  # fmt: skip
        assert re.search(re.escape(text), note_text)
    unsupported = accounts(tmp_path, "UsageThres", "0.25")[1]
    assert unsupported == ["UsageThres=0.25 of QOS normal"]
