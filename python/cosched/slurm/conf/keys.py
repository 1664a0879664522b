"""Keys of slurm.conf: which say nothing here, and what is said of those that are not followed."""

from __future__ import annotations

from cosched.slurm.conf.lines import words
from cosched.slurm.conf.parameters import LINES

#: Keys without a say in which job starts when, as far as the twin goes.
SILENT = words(
    """
    clustername slurmctldhost controlmachine controladdr backupcontroller slurmuser slurmduser
    authtype authinfo authalttypes credtype cryptotype mpidefault mpiparams proctracktype
    slurmctldpidfile slurmctldport slurmdpidfile slurmdport slurmdspooldir statesavelocation
    switchtype taskplugin taskpluginparam minjobage maxjobcount maxjobid maxarraysize
    slurmctldtimeout slurmdtimeout inactivelimit waittime tcptimeout batchstarttimeout
    jobcomptype jobcomploc jobcomphost jobcompuser jobcomppass jobcompport jobacctgathertype
    jobacctgatherfrequency jobacctgatherparams slurmctlddebug slurmctldlogfile slurmddebug
    slurmdlogfile slurmschedlogfile slurmschedloglevel debugflags logtimeformat
    slurmctldsyslogdebug slurmdsyslogdebug accountingstoragehost accountingstorageport
    accountingstorageuser accountingstoragepass accountingstoragebackuphost
    accountingstoragetres accountingstoreflags accountingstorageexternalhost slurmdparameters
    slurmctldparameters communicationparameters launchparameters propagateresourcelimits
    propagateresourcelimitsexcept prologflags unkillablesteptimeout unkillablestepprogram
    mailprog tmpfs usepam treewidth plugindir plugstackconfig firstjobid disablerootjobs
    grestypes healthcheckinterval healthcheckprogram healthchecknodestate killonbadexit
    privatedata schedulertimeslice disablesendgids enforcepartlimits vsizefactor
    acctgathernodefreq acctgatherenergytype usespank fairsharedampeningfactor rebootprogram
    srunepilog srunprolog taskepilog taskprolog srunportrange x11parameters keepalivetime
    getenvtimeout sallocdefaultcommand fastschedule trackwckey accountingstoragetype
    slurmctldprimaryonprog resvprolog resvepilog dependencyparameters federationparameters
    maxstepcount maxtaskspernode prologepilogtimeout cgroupplugin hashplugin schedulerport
    schedulerrootfilter jobcompparams jobcontainertype jobcredentialprivatekey
    jobcredentialpubliccertificate jobfileappend sbcastparameters interactivestepoptions tlstype
    certmgrparameters slurmctldaddr corespecplugin
    """
)

#: SchedulerParameters without effect here: there is no load, no database, no heterogeneous job.
SILENT_PARAMETERS = words(
    """
    bf_continue bf_yield_interval bf_yield_sleep max_rpc_cnt max_sched_time build_queue_timeout
    nohold_on_prolog_fail requeue_setup_env_fail bf_yield_rpc_cnt salloc_wait_nodes
    sbatch_wait_nodes ignore_prefer_validation bf_hetjob_prio bf_hetjob_immediate
    max_script_size max_depend_depth preempt_send_user_signal delay_boot kill_invalid_depend
    ignore_constraint_validation no_backup_scheduling assoc_limit_continue enable_user_top
    enable_hetero_jobs disable_hetero_steps enable_hetero_steps enable_hetjob_steps
    disable_hetjob_steps no_env_cache max_submit_line_size disable_job_shrink
    permit_job_expansion ignore_numa inventory_interval max_switch_wait max_array_tasks
    step_retry_count step_retry_time whole_hetjob whole_pack bf_allow_magnetic_slot
    default_gbytes spec_cores_first enable_job_state_cache enable_stepmgr time_min_as_soft_limit
    """
)

#: Nodes that are switched off while nobody needs them.
POWER = words(
    """
    suspendprogram resumeprogram suspendtime suspendtimeout resumetimeout suspendrate resumerate
    suspendexcnodes suspendexcparts suspendexcstates resumefailprogram powerparameters
    powerplugin
    """
)
#: Keys of one value that are looked at: scontrol prints all the others too.
HEARD = words(
    """
    schedulerparameters selecttype selecttypeparameters prioritytype schedulertype
    priorityweightfairshare priorityweightqos priorityweightassoc priorityweighttres
    priorityusageresetperiod priorityflags preempttype preemptmode preemptparameters
    topologyplugin accountingstoragetype accountingstorageenforce epilog prolog epilogslurmctld
    prologslurmctld jobsubmitplugins jobrequeue messagetimeout maxmempercpu maxmempernode
    defmempercpu defmempernode licenses
    """
) | frozenset(LINES)

_MADE = "jobs have the cores and the memory that the log says, which it has seen to"
#: Keys, of the file and of partitions, that are noted: their usual values, and what is so here.
NOTED = {
    "jobrequeue": (("1",), "preempted jobs and those of lost nodes run again here"),
    "messagetimeout": (("10",), "a job sends others away again after KillWait and 10 s here"),
    "maxmempercpu": (("0", "unlimited"), _MADE),
    "maxmempernode": (("0", "unlimited"), _MADE),
    "defcpupergpu": (("0",), _MADE),
    "defmempergpu": (("0",), _MADE),
    "jobdefaults": (("",), _MADE),
    "allowgroups": (("all",), "nobody says who is in which group: all users may"),
    "allocnodes": (("all",), "jobs come from anywhere"),
    "rootonly": (("no",), "all users may"),
    "suspendtime": (("-1", "none", "infinite"), "no node sleeps here, jobs start there at once"),
    "powerdownonidle": (("no",), "no node sleeps here, jobs start there at once"),
    "alternate": (("none",), "jobs of the partition go to no other"),
}


def noted(spelled: str, value: str) -> str:
    """What is said of a setting; empty: it is none of these, or has its usual value."""
    usual, said = NOTED.get(spelled.lower(), (("",), ""))
    return f"{spelled}={value}: {said}" if said and value.lower() not in ("", *usual) else ""


#: What leaving a setting out may do, by how its name begins.
_EFFECTS = {
    "topologyplugin": "places differ; jobs over several switches may start earlier here",
    "preemptparameters": "who is preempted for whom may differ",
    "preempt": "nobody is preempted: urgent jobs may start later here, their victims run on",
    "priorityweight": "priorities lack it: the order of waiting jobs may differ",
    "priorityflags": "priorities are computed without it",
    "prioritytype": "priorities are by the order of submissions",
    "accountingstorageenforce": "limits of users, accounts and QOS do not hold: jobs that they "
    "keep may start earlier here",
    "oversubscribe": "a core has one job at a time: jobs may start later here",
    "qos": "limits of the partition's QOS do not hold",
    "priorityusagereset": "usage is not set to 0: shares differ after the first time",
    "maxcpuspernode": "jobs of the partition may have all cores of a node",
    "maxcpuspersocket": "jobs of the partition may have all cores of a socket",
    "corespeccount": "jobs may have these cores",
    "cpuspeclist": "jobs may have these cores",
    "schedulertype": "the backfill scheduler runs",
    "selecttype=": "nodes are chosen as select/linear does: whole ones",
    "selecttypeparameters": "places differ: cores are chosen without it",
    "schedulerparameters=bf_busy": "places differ",
    "schedulerparameters=pack_serial": "places differ: jobs of one core fill nodes from the front",
    "schedulerparameters=assoc_limit_stop": "a job over a limit blocks nobody: others may start "
    "earlier here",
    "lln": "places differ: the fullest nodes are filled first",
    "exclusivetopo": "jobs share blocks of nodes: they may start earlier here",
    "usagethres": "its jobs start whatever their users have used",
    "exclusiveuser": "users share nodes: jobs may start earlier here",
    "state=": "its jobs run",
}


def effect_of(setting: str) -> str:
    """What it may do that a setting is not followed."""
    low = setting.lower()
    known = (said for name, said in _EFFECTS.items() if low.startswith(name))
    return next(known, "starts may differ")
