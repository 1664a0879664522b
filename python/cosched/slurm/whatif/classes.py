"""The class of each changed key: simulated, unchanged, without effect, or not modelled."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cosched.cluster.analysis.scenario import ChangedKey, ScenarioClass
from cosched.cluster.analysis.what_if import has_same_machine
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.result import Result
from cosched.cluster.result.groups import starts_of
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, printable
from cosched.slurm.conf import settings as conf
from cosched.slurm.conf.known_keys import Option, OptionClass, option_of
from cosched.slurm.conf.lines import Line
from cosched.slurm.conf.settings import SlurmSettings, settings_of, source_of
from cosched.slurm.conf.values import NO, YES, unsigned, value_by_word
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.whatif.differences import Difference, current_value, differences_of
from cosched.slurm.whatif.refusals import (
    NO_JOB_STARTS,
    KeyChange,
    keeps_all_jobs_out,
    refusals_of,
)
from cosched.slurm.whatif.removed_jobs import removed_rows_of_user

#: Seconds that slurmctld keeps the record of an ended job where MinJobAge says no other number.
DEFAULT_MIN_JOB_AGE = 300
#: MaxJobCount of Slurm where no line gives one.
DEFAULT_MAX_JOB_COUNT = 10_000


def judge(today: Instance, changed: Instance, pairs: Sequence[tuple[str, str]]) -> list[ChangedKey]:
    """Return the class of each (key, value) of a row under ``slurm-backfill``.

    Parameters
    ----------
    today : Instance
        On the machine as it is.
    changed : Instance
        With all changes of the row.
    """
    keys = [
        changed_key
        for key, value in pairs
        for changed_key in _judge_key(today, changed, key, value)
    ]
    if keeps_all_jobs_out(today, _changes_judged_by_log(today, changed, pairs)):
        keys = [_not_modelled_instead(key, NO_JOB_STARTS) for key in keys]
    return _checked_by_settings(today, changed, keys)


def _judge_reservation(today: Instance, changed: Instance, value: str) -> ChangedKey:
    """Return a reservation; one that ends before the first job can start has no effect."""
    windows = _settings(changed).reserved[len(_settings(today).reserved) :]
    first = float(today.column("eligible").min())
    if all(end <= first for _, end, _ in windows):
        reason = "reservation has no effect: it ends before the first job of the log"
        return ChangedKey(
            "reservation", value, ScenarioClass.NO_EFFECT, reason, known_to_batch_policies=False
        )
    return ChangedKey("reservation", value, ScenarioClass.SIMULATED, known_to_batch_policies=False)


def _not_modelled_instead(key: ChangedKey, reason: str) -> ChangedKey:
    """Return a simulated key as one that is not modelled; another one as it is."""
    if key.scenario_class is not ScenarioClass.SIMULATED:
        return key
    return replace(
        key, scenario_class=ScenarioClass.NOT_MODELLED, reason=reason, class_after_run=None
    )


def _changes_judged_by_log(
    today: Instance, changed: Instance, pairs: Sequence[tuple[str, str]]
) -> Iterator[KeyChange]:
    """Yield the changed keys of a row of which the jobs of the log decide whom they keep out."""
    for key, value in pairs:
        for difference in _differences_of_key(today, changed, key, value):
            if is_judged_by_log(difference):
                yield _key_change(today, changed, difference)


def _differences_of_key(
    today: Instance, changed: Instance, key: str, value: str
) -> list[Difference]:
    """Return what a key of a what-if changes in slurm.conf; nothing where it is of users or
    accounts."""
    kind, _, target = key.partition(".")
    if kind in ("users", "reservation", "qos", "account"):
        return []
    if key == "slurm.conf":
        return differences_of(*(_lines(instance) for instance in (today, changed)))
    name, _, target_key = target.rpartition(".")
    if kind == "partition":
        old = current_value(_machine(today), name, target_key)
        return [Difference("PartitionName", name, target_key, old, value)]
    return [Difference("", "", key, current_value(_machine(today), "", key), value)]


def is_judged_by_log(difference: Difference) -> bool:
    """Whether a key keeps jobs out by what they ask for; MaxJobCount depends on the schedule."""
    option = option_of(difference.record, difference.key)
    if option is None or difference.key.lower() == "maxjobcount":
        return False
    return option.option_class is OptionClass.BY_LOG


def _key_change(today: Instance, changed: Instance, difference: Difference) -> KeyChange:
    return KeyChange(
        difference.key,
        difference.name,
        difference.new or "",
        difference.old or "",
        _machine(today),
        _machine(changed),
    )


def _judge_key(today: Instance, changed: Instance, key: str, value: str) -> list[ChangedKey]:
    kind = key.partition(".")[0]
    if kind == "users":
        return [_judge_user(today, key, value)]
    if key == "reservation":
        return [_judge_reservation(today, changed, value)]
    if key == "slurm.conf":
        return _judge_file(today, changed, value)
    if kind in ("qos", "account"):
        return [_judge_account(today, changed, key, value)]
    return [
        _judge_difference(today, changed, *part)
        for difference in _differences_of_key(today, changed, key, value)
        for part in _named_differences(key, difference)
    ]


def _judge_user(today: Instance, key: str, value: str) -> ChangedKey:
    """Judge fewer jobs of a user: nothing changes where the share is less than half of a job."""
    user = key.partition(".")[2]
    if len(removed_rows_of_user(today, user, value)):
        return ChangedKey(key, value, ScenarioClass.SIMULATED)
    jobs = count_of(int((today.column("user").astype(str) == user).sum()), "job")
    reason = f"{key}={value} leaves no job out: the share of {jobs} is less than half of a job"
    return ChangedKey(key, value, ScenarioClass.UNCHANGED, reason)


def _named_differences(key: str, difference: Difference) -> list[tuple[str, Difference]]:
    """Return a difference with the key that the report names; of SchedulerParameters or
    PreemptParameters one for each word that differs."""
    option = option_of(difference.record, difference.key)
    if option is None or option.takes != "words":
        return [(key, difference)]
    word_differences = _differences_of_words(option.key, difference)
    return [(f"{option.key}={part.key}", part) for part in word_differences] or [(key, difference)]


def _machine(instance: Instance) -> Machine:
    assert instance.machine is not None
    return instance.machine


def _settings(instance: Instance) -> SlurmSettings:
    return settings_of(_machine(instance))


def _lines(instance: Instance) -> tuple[Line, ...]:
    source = _settings(instance).source
    assert source is not None  # what-ifs of a slurm.conf apply to machines that were read from one
    return source.lines


def _judge_file(today: Instance, changed: Instance, path: str) -> list[ChangedKey]:
    """Return one class for each key that differs between two slurm.conf."""
    differences = differences_of(*(_lines(instance) for instance in (today, changed)))
    if not differences:
        reason = "no line differs"
        return [ChangedKey("slurm.conf", path, ScenarioClass.UNCHANGED, reason)]
    keys = []
    for difference in differences:
        named = filter(None, (difference.record, difference.name, difference.key))
        for key, part in _named_differences(".".join(named), difference):
            keys.append(_judge_difference(today, changed, key, part))
    return keys


def _differences_of_words(key: str, difference: Difference) -> list[Difference]:
    """Return the difference of a list of words as one difference per word."""
    old, new = (value_by_word(text or "") for text in (difference.old, difference.new))
    return [
        Difference(key, "", word, old.get(word), new.get(word, "no"))
        for word in dict.fromkeys([*old, *new])
        if old.get(word) != new.get(word)
    ]


@dataclass(frozen=True)
class _JudgedKey:
    """A key of a row before its class is known."""

    #: As the row or the file spells it.
    key: str
    value: str
    #: Policies such as EASY follow it, too.
    is_known_to_batch_policies: bool

    def with_class(
        self,
        scenario_class: ScenarioClass,
        reason: str = "",
        class_after_run: Callable[[Result], ChangedKey] | None = None,
    ) -> ChangedKey:
        """Return the key with its class, and why it has it."""
        return ChangedKey(
            self.key,
            self.value,
            scenario_class,
            reason,
            known_to_batch_policies=self.is_known_to_batch_policies,
            class_after_run=class_after_run,
        )

    def without_effect(self, why: str) -> ChangedKey:
        """Return the key as one that changes no start time."""
        return self.with_class(ScenarioClass.NO_EFFECT, f"{self.key} has no effect: {why}")

    def not_modelled(self, why: str) -> ChangedKey:
        """Return the key as one that the simulator has no rule for."""
        return self.with_class(ScenarioClass.NOT_MODELLED, f"{self.key} is not modelled: {why}")


def _judge_difference(
    today: Instance, changed: Instance, key: str, difference: Difference
) -> ChangedKey:
    """Return the class of one key of slurm.conf with a value that Slurm takes."""
    value = difference.new if difference.new is not None else ""
    option = option_of(difference.record, difference.key)
    if option is None and not difference.record:
        option = option_of("SchedulerParameters", difference.key)

    is_known_to_batch_policies = option is None or option.known_to_batch_policies
    subject = _JudgedKey(key, value, is_known_to_batch_policies)
    if not difference.key:  # a record that is new, or gone
        option = option_of("", difference.record)
    if option is None:
        return subject.with_class(
            ScenarioClass.NOT_MODELLED,
            f"{printable(key)} is not a key that slurm.conf(5) describes",
        )
    if _means_the_same(option, difference.old, difference.new):
        current = difference.old if difference.old is not None else f"{value} by default"
        change = "" if difference.new is not None else ", which is the default"
        return subject.with_class(ScenarioClass.UNCHANGED, f"{key} is {current} today{change}")
    conflict = conflict_with_other_keys(_machine(changed), difference.key)
    if conflict:
        return subject.with_class(ScenarioClass.NOT_MODELLED, conflict)
    if option.option_class is OptionClass.NO_EFFECT:
        entries = set(_settings(today).not_covered) ^ set(_settings(changed).not_covered)
        if any(option.key.lower() in entry.lower() for entry in entries):
            listed = printable(", ".join(sorted(entries)))
            return subject.not_modelled(f"no rule for {listed}")
        return subject.without_effect(_clause(option.reason))
    if option.option_class is OptionClass.NOT_MODELLED:
        return subject.not_modelled(_clause(option.reason))
    no_effect_reason = reason_for_no_effect(_machine(changed), _key_of_what_if(difference))
    if no_effect_reason:
        return subject.without_effect(no_effect_reason)
    if option.option_class is OptionClass.BY_LOG:
        return _judge_by_log(today, changed, subject, difference)
    return subject.with_class(ScenarioClass.SIMULATED)


def _clause(sentence: str) -> str:
    """Return a sentence as what follows a colon."""
    text = sentence.rstrip(".")
    first_word = text.split(" ", 1)[0]
    is_name = len(first_word) > 1 and first_word[1:] != first_word[1:].lower()
    return text if is_name else text[:1].lower() + text[1:]


def _means_the_same(option: Option, old: str | None, new: str | None) -> bool:
    """Return whether Slurm reads the same from two values; one that is not set (None) is the
    default."""
    if old is None or new is None:
        text = new if old is None else old
        return text is not None and any(
            _same_text(option, default, text) for default in option.defaults
        )
    return _same_text(option, old, new)


def _same_text(option: Option, text: str, other_text: str) -> bool:
    words = {text.strip().lower(), other_text.strip().lower()}
    if len(words) == 1:
        return True
    form = option.takes.partition(":")[0]
    if form in ("boolean", "flag"):
        return any(words <= set(group) for group in (YES, NO))
    if form.startswith("uint"):
        numbers = [unsigned(word, 64) for word in words]
        return None not in numbers and numbers[0] == numbers[1]
    if form == "some":
        lists = [set(word.split(",")) for word in words]
        return lists[0] == lists[1]
    return False


def _judge_by_log(
    today: Instance, changed: Instance, subject: _JudgedKey, difference: Difference
) -> ChangedKey:
    """Return the class of a key that keeps jobs out: the jobs of the log decide."""
    if difference.key.lower() == "maxjobcount":
        class_by_count = _class_by_job_count(subject, difference, changed)
        return subject.with_class(ScenarioClass.SIMULATED, class_after_run=class_by_count)
    refusals = refusals_of(today, _key_change(today, changed, difference))
    if refusals.why_unknown:
        return subject.not_modelled(refusals.why_unknown)
    if not len(refusals.rows) and not refusals.loses_partitions:
        return subject.without_effect(refusals.why_none)
    return subject.with_class(ScenarioClass.SIMULATED)


def _class_by_job_count(
    subject: _JudgedKey, difference: Difference, changed: Instance
) -> Callable[[Result], ChangedKey]:
    """Return the class of MaxJobCount from the schedule, which tells how many records slurmctld
    has."""
    record_age = _record_age(current_value(_machine(changed), "", "MinJobAge"))
    new_limit = unsigned(difference.new, 32) if difference.new else None
    limit = DEFAULT_MAX_JOB_COUNT if new_limit is None else new_limit

    def class_of_count(base: Result) -> ChangedKey:
        largest_count = largest_job_count(base, record_age)
        job_count = count_of(largest_count, "job")
        if largest_count < limit:
            ended_jobs = (
                "with all that ended (MinJobAge=0)"
                if record_age == np.inf
                else f"with those that ended up to {record_age:g} s ago (MinJobAge)"
            )
            return subject.without_effect(
                f"slurmctld holds at most {job_count} at a time, {ended_jobs}"
            )
        return subject.not_modelled(
            f"slurmctld would hold {job_count} at a time and refuse new ones; what their users do "
            "then is not known"
        )

    return class_of_count


def _record_age(min_job_age: str | None) -> float:
    """Return seconds that slurmctld keeps the record of an ended job; 0 in slurm.conf: for ever."""
    seconds = unsigned(min_job_age, 32) if min_job_age else None
    if seconds is None:
        return DEFAULT_MIN_JOB_AGE
    return seconds or np.inf


def largest_job_count(result: Result, record_age: float) -> int:
    """Return the largest number of jobs that slurmctld holds at a time, in any replication:
    pending, running, and ended up to `record_age` seconds ago."""
    instance = result.instance
    run_times = np.asarray(result.outcome["end"]) - np.asarray(result.outcome["start"])
    submit = instance.column("submit")
    largest_count = 0
    for starts in starts_of(result):
        times = np.concatenate([submit, starts + run_times + record_age])
        changes = np.repeat([1, -1], len(submit))
        order = np.lexsort((changes, times))
        largest_count = max(largest_count, int(np.cumsum(changes[order]).max()))
    return largest_count


def _judge_account(today: Instance, changed: Instance, key: str, value: str) -> ChangedKey:
    """Return a column of an account or a QOS, as ``sacctmgr modify`` sets it."""
    subject = _JudgedKey(key, value, is_known_to_batch_policies=False)
    machines = [_machine(instance) for instance in (today, changed)]
    if settings_of(machines[0]).accounts == settings_of(machines[1]).accounts:
        return subject.with_class(ScenarioClass.UNCHANGED, f"{key} is {value} today")
    no_effect_reason = reason_for_no_effect(machines[1], key)
    if no_effect_reason:
        return subject.without_effect(no_effect_reason)
    limits_without_rule = []
    for machine in machines:
        dump = settings_of(machine).accounts
        if dump is None:
            raise InvalidInstance(f"{key}: expected the accounts of the machine (--accounts)")
        limits_without_rule.append(set(Accounts(dump, machine).unsupported))
    new_limits = sorted(limits_without_rule[1] - limits_without_rule[0])
    if new_limits:
        return subject.not_modelled(printable(", ".join(new_limits)))
    if "user" not in today.column_names:
        return subject.not_modelled("the log does not say the users of its jobs")
    return subject.with_class(ScenarioClass.SIMULATED)


def _checked_by_settings(
    today: Instance, changed: Instance, keys: list[ChangedKey]
) -> list[ChangedKey]:
    """Return the keys of a row that are simulated, once more by what the reader makes of the lines.

    A value without a rule is among the settings that are not covered. A row whose settings are all
    as they are today changes nothing: its values are the defaults, or mean the same.
    """
    of_conf = [
        changed_key
        for changed_key in keys
        if changed_key.key.split(".")[0] not in ("users", "reservation")
    ]
    if not any(key.scenario_class is ScenarioClass.SIMULATED for key in of_conf):
        return keys
    before, after = _settings(today), _settings(changed)
    not_covered = sorted(set(before.not_covered) ^ set(after.not_covered))
    if not_covered:
        return [_not_covered(key, not_covered, after) for key in keys]
    if len(of_conf) < len(keys) or any(key.class_after_run for key in keys):
        return keys
    if has_same_settings(before, after) and has_same_machine(today, changed):
        return [_unchanged(key) for key in keys]
    return keys


def _not_covered(key: ChangedKey, entries: Iterable[str], settings: SlurmSettings) -> ChangedKey:
    """Return a key without a rule for its value, old or new."""
    if key.scenario_class is not ScenarioClass.SIMULATED:
        return key
    name = key.key.rpartition(".")[2].lower()
    settings_of_key = [entry for entry in entries if name in entry.lower()] or list(entries)
    if settings.accounts is None and any(
        entry in settings.needs_accounting for entry in settings_of_key
    ):
        why = "it needs the accounts of the cluster (--accounts)"
    else:
        listed = printable(", ".join(settings_of_key))
        why = f"no rule for {listed}: {conf.effect_of(settings_of_key[0])}"
    return replace(
        key,
        scenario_class=ScenarioClass.NOT_MODELLED,
        reason=f"{key.key} is not modelled: {why}",
    )


#: Parameters whose default depends on others: a line with its usual value is no default.
_DEPENDENT_DEFAULTS = ("bf_max_time", "bf_node_space_size")


def has_same_settings(settings: SlurmSettings, other_settings: SlurmSettings) -> bool:
    """Whether the scheduler has the same settings; notes and the lines they come from may
    differ."""
    settings_without_lines, other_plain = (
        replace(of_machine, notes=(), source=None, parameters=_with_defaults(of_machine.parameters))
        for of_machine in (settings, other_settings)
    )
    return bool(settings_without_lines == other_plain)


def _with_defaults(parameters: Mapping[str, float]) -> dict[str, float]:
    defaults = {
        name: value for name, value in conf.PARAMETERS.items() if name not in _DEPENDENT_DEFAULTS
    }
    return defaults | dict(parameters)


def _unchanged(key: ChangedKey) -> ChangedKey:
    if key.scenario_class is not ScenarioClass.SIMULATED:
        return key
    reason = f"{key.key}={key.value} means the same to the scheduler as the lines of today"
    return replace(key, scenario_class=ScenarioClass.UNCHANGED, reason=reason)


def _key_of_what_if(difference: Difference) -> str:
    """Return the key under which ``--what-if`` knows what differs between two files."""
    if difference.record.lower() == "partitionname":
        return f"partition.{difference.name}.{difference.key}"
    if difference.record.lower() == "preemptparameters":
        return f"preempt_{difference.key}"
    return difference.key


def reason_for_no_effect(machine: Machine, key: str) -> str:
    """Return why a key changes no start time on a machine that has it: no start depends on it at
    all, or another setting leaves it without effect; empty: it may change something."""
    kind, _, target = key.partition(".")
    record, own_key = ("PartitionName", target.rpartition(".")[2]) if target else ("", key)
    if kind == "partition" or not target:
        option = option_of(record, own_key) or option_of("SchedulerParameters", own_key)
        if option is not None and option.option_class is OptionClass.NO_EFFECT:
            return _clause(option.reason)
    lines = source_of(machine).lines if machine.slurm is not None else ()
    values_by_key = {
        name: value for line in lines if not line.record for name, value in line.keys.items()
    }
    for rule in conf.KEY_TABLE["idle"]:
        is_given = re.search(rule["has"], values_by_key.get(rule["needs"], "").lower())
        if re.fullmatch(rule["keys"], key.lower()) and not is_given:
            return str(rule["said"])
    return ""


#: Of PreemptMode those that need a PreemptType.
_PREEMPTING = {"cancel", "requeue", "suspend", "on"}


def conflict_with_other_keys(machine: Machine, key: str) -> str:
    """Return why Slurm does not start with the value of a key beside those of other keys
    (``read_config.c``); empty: it does."""
    low = key.lower()
    kind = (current_value(machine, "", "PreemptType") or "preempt/none").lower()
    mode = current_value(machine, "", "PreemptMode") or "OFF"
    preempts = bool(_PREEMPTING & set(mode.lower().split(",")))
    if low in ("preempttype", "preemptmode") and preempts != (kind != "preempt/none"):
        other_key = "PreemptType" if low == "preemptmode" else "PreemptMode"
        return (
            f"{key} is not modelled: Slurm does not start with PreemptType={kind} and "
            f"PreemptMode={mode}: change {other_key} in the same row"
        )
    half_life = current_value(machine, "", "PriorityDecayHalfLife") or ""
    reset = (current_value(machine, "", "PriorityUsageResetPeriod") or "NONE").upper()
    has_no_decay = re.fullmatch(r"[0:-]+", half_life) is not None
    if low == "prioritydecayhalflife" and reset == "NONE" and has_no_decay:
        return (
            f"{key} is not modelled: Slurm does not start with PriorityDecayHalfLife=0 and without "
            "PriorityUsageResetPeriod"
        )
    return ""
