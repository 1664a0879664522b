"""What Casanova, Stillwell, Vivien 2011 claim, row by row; Section 6.1 is in ``stretch``."""

from functools import partial
from math import inf

from cosched.experiments import measures as f
from cosched.experiments import tolerances as t
from cosched.experiments.cluster import cells as c
from cosched.experiments.cluster import explanations as e
from cosched.experiments.cluster import measures as m
from cosched.experiments.cluster import stretch
from cosched.experiments.cluster.costs import BEST
from cosched.experiments.cluster.paper import table
from cosched.experiments.cluster.theorems import SIZES
from cosched.experiments.ledger import PICTURE, Claim

_GREEDY = ("Greedy */opt=min", "GreedyP */opt=min", "GreedyPM */opt=min")
_ARRIVAL = ("MCB8 */opt=min", "MCB8 */per/opt=min", "MCB8 */per/opt=min/minvt=600")
_OTHERS = tuple(name for name in table(3) if name not in _ARRIVAL)
_JOB, _HOURLY = "avg migrations_per_job", ("preemptions_per_hour", "migrations_per_hour")
_NOT_RUN = "a proof about all algorithms is not run"
_OWN = "a machine of 2011 against one of today, in C++"
_COUNT = t.exactly("a count of the same log")

_row = partial(Claim, paper="casanova2011")
_proof = partial(_row, study="cluster-theorems", prepare=m.theorems)
# fmt: off
_fact = partial(_row, "section 5.3", study=e.READINGS, prepare=m.facts)
_calls = partial(_row, "section 6.2", study="cluster-mcb8", prepare=m.mcb8)
_event = partial(_row, "section 6.3", study=e.TABLE_3, prepare=c.busy, reading=e.COUNTED)
_again = partial(_row, study=e.READINGS, prepare=e.counted, reading=e.RATE)
_log = partial(_row, study=e.TABLE_4, prepare=c.underutilisation)
# fmt: on
_period = partial(_row, study=e.PERIODS, prepare=m.by_period)

#: The paper's own traces are not public.
_DRAWS = "99 of 100 pairs of draws of as many traces, bootstrap"
_SAME_LOG = t.within(0.05, "the same log, so nothing is drawn; the yield is searched to 0.01")
#: The two best policies.
_TWO = ("GreedyP */per/opt=min/minvt=600", "GreedyPM */per/opt=min/minvt=600")


def _mean(kind: str, name: str) -> f.Measure[float]:
    """A cell of a table of several sets of traces."""
    return c.in_set(kind, f.of("mean", "avg", name))


def _over_easy(kind: str, name: str) -> f.Measure[float]:
    return _mean(kind, name) / _mean(kind, "EASY")


def _most(names: tuple[str, ...], cost: str, number: str = "greatest") -> f.Measure[float]:
    """The greatest, or another number, of the average costs of policies."""
    return c.in_set("scaled", f.of(number, f"avg {cost}", *names))


def _more(cost: str) -> f.Measure[float]:
    return _most(_ARRIVAL, cost) / _most(_OTHERS, cost)


def _easy_line(kind: str) -> f.Measure[t.Curve]:
    """EASY's line of Figure 3: below all of ours on the real weeks, above their end elsewhere."""
    easy = f.of("last", "EASY underutilisation", kind)
    least, last = (f.of(n, "short underutilisation", kind) for n in ("least", "last"))
    order = f.several(easy / (least if kind == "weeks" else last), easy, least, last)
    says = "EASY {1:.3f}, ours at least {2:.3f}, at 12,000 s {3:.3f}"
    interval = (0, 1) if kind == "weeks" else (1, inf)
    return f.picture(f.said("{:.3f} at every period", easy), order, interval, says)


# fmt: off
_THEOREMS = (
    *(_proof(f"{place}, {jobs} jobs", text, float(jobs) if family == "theorem 3" else 1.0, rule,
        f.of("greatest", number, family, jobs)) for family, place, text, rule, number in (
        ("theorem 3", "Theorems 3 and 4.1", "EquiPartition is the number of jobs from the optimum: "
            "the family with f = 1000", t.within(0.002, "the optimum is at most f / (f - 1)"),
            "ratio"),
        ("theorem 4", "Theorem 4.2", "EquiPartition is at least (D+1) / (2 + ln D) from the "
            "optimum: over that", t.at_least(1.0, "at least"), "over_delta"),
        ("random", "Theorem 4.1", "EquiPartition never exceeds the number of jobs: 20 random "
            "draws, over it", t.at_most(1.0, "never more"), "over_jobs"))
        for jobs in SIZES[family]),
    _row("Theorem 1", "no schedule's maximum stretch is below the bound: least degradation of all "
        "rows", 1.0, t.at_least(1.0, "a bound"), f.of("least", "degradation"),
        study="cluster-table2", prepare=f.Table),
    _proof("section 3.2", "FCFS is exactly D-competitive, which is reached: two jobs on one node, "
        "over D", 1.0, t.within(0.001, "the short job comes when the long one has begun"),
        f.of("greatest", "over_lengths", "fcfs", 2)),
    *(_proof(f"section 3.2, {jobs} jobs", "FCFS is exactly D-competitive, never more: 20 random "
        "draws, over D", 1.0, t.at_most(1.0, "never more"),
        f.of("greatest", "over_lengths", "fcfs, random", jobs)) for jobs in SIZES["fcfs, random"]),
    *(_proof(place, text, None, None, None, _NOT_RUN) for place, text in (
        ("Theorem 2", "no algorithm is D^(sqrt 2 - 1) / 2 -competitive if at least three jobs have "
            "distinct processing times"),
        ("Theorem 3", "no algorithm that does not know run times is below the number of jobs"))),
)

_WORKLOADS = (
    _fact("the HPC2N trace has 202,876 jobs", 202_876.0, _COUNT, f.of("mean", "jobs", "log")),
    _fact("2,142 jobs give values for neither used nor requested memory", 2142.0, _COUNT,
        f.of("mean", "no_memory", "log")),
    _fact("week-long segments: 182 scenarios", 182.0, _COUNT, f.of("count", "jobs", "weeks")),
    _fact("1,000 jobs a synthetic trace", 1000.0, _COUNT, f.of("mean", "jobs", "unscaled")),
    _fact("first to last submission is on the order of 4-6 days: the median trace", "4 to 6",
        t.between(4, 6, "'on the order of'"), f.of("median", "days", "unscaled")),
    _fact("55% of the jobs have a memory requirement of 10%: share over all traces", 0.55,
        t.within(0.02, "three standard errors of 100,000 draws are 0.5%"),
        f.of("mean", "least_memory", "unscaled")),
    _calls("MCB8 * on the 100 unscaled traces: 197,808 observations", 197_808.0,
        t.within(0.05, "other draws of as many jobs"), f.of("sum", "calls")),
    _calls("67.25% of the observations are for 10 or fewer jobs (percent)", 67.25,
        t.within(0.15, "other draws; the share depends on the load"),
        100 * (f.of("sum", "small") / f.of("sum", "calls"))),
    _calls("... in less than 0.001 seconds: share of these calls", "all",
        t.at_least(0.999, "a busy machine interrupts one call in a thousand"),
        f.of("sum", "fast") / f.of("sum", "small")),
    _calls("the remaining observations were for up to 102 jobs", 102.0,
        t.within(0.25, "an extreme of other draws"), f.of("greatest", "most_jobs")),
    _calls("the average compute time of the others was about 0.25 s", 0.25, t.at_most(0.25, _OWN),
        f.of("sum", "seconds_large") / f.of("sum", "large")),
    _calls("the maximum was under 4.5 s", 4.5, t.at_most(4.5, _OWN),
        f.of("greatest", "seconds_longest")),
)

_COSTS = (
    *(claim for name in _TWO for claim in (
        *(_event(f"{name}: total {words} bandwidth consumption under {limit:g} GB/s", limit,
            t.at_most(limit, "under"), c.in_set("scaled", f.among("sum", *(
            f.of("mean", f"{number} {cost}", name) for cost in list(c.COSTS)[:2]))))
            for number, words, limit in (("avg", "average", 0.8), ("max", "maximum", 2.0))),
        *(_event(f"{name}: under {limit:g} {c.COSTS[cost]}", limit,
            t.at_most(limit, "under"), _most((name,), cost))
            for cost, limit in zip(list(c.COSTS)[2:], (40.0, 60.0, 6.0, 7.0), strict=True)))),
    *(claim for name in _TWO for claim in (
        *(_again("section 6.3 counted again", f"{name}: total {words} bandwidth consumption under "
            f"{limit:g} GB/s", limit, t.at_most(limit, "under"), c.in_set("scaled",
            f.among("sum", *(f.of("mean", f"{number} {cost}", name)
            for cost in list(c.COSTS)[:2]))))
            for number, words, limit in (("avg", "average", 0.8), ("max", "maximum", 2.0))),
        *(_again(f"Table 3 counted again, {name}, {words}", f"average of {words}: pauses that end "
            "elsewhere within a period are migrations, the memory of an event counts once",
            c.printed(3)["scaled"].found[f"avg {cost}", name].value, t.drawn(_DRAWS, slack=0.005),
            c.in_set("scaled", c.cell(f"avg {cost}", name))) for cost, words in c.COSTS.items()))),
    *(_event(f"Greedy policies without /per: under 10 {c.COSTS[cost]} on average", 10.0,
        t.at_most(10, "under"), _most(_GREEDY, cost)) for cost in _HOURLY),
    _event("MCB8 at each job arrival: above 120 migrations an hour", 120.0,
        t.at_least(120, "above"), _most(_ARRIVAL, "migrations_per_hour", "least")),
    _event("MCB8 at each job arrival: up to 490 migrations an hour", 490.0,
        t.within(0.1, "'up to'; no draw is ours"), _most(_ARRIVAL, "migrations_per_hour")),
    *(_event(f"MCB8 at each job arrival leads to more {c.COSTS[cost]}: the most of these over the "
        "most of all others", _more(cost)(c.printed(3)), t.ABOVE, _more(cost)) for cost in _HOURLY),
    _event("All other algorithms migrate a job less than 8 times on average (the paper's own table "
        "has 10.41 for /stretch-per)", 8.0, t.at_most(8, "less than"),
        _most(_OTHERS, "migrations_per_job"), "/stretch-per, in the paper's table as "
        "well"),
    _event("MCB8 at each job arrival migrates a job up to 73 times in the worst case", 73.0,
        t.within(0.1, "the paper's draws are not public"), _most(_ARRIVAL, "migrations_per_job")),
    *(_log(f"section 6.4.2, {title}", f"{name} leads to higher underutilisation than EASY: ratio",
        float(f"{_over_easy(kind, name)(c.printed(4)):.4g}"), t.ABOVE,
        _over_easy(kind, name)) for kind, title in c.SETS.items() for name in _TWO),
    _log("section 6.4.2, real weeks", "EASY's underutilisation is under 7%", 0.07,
        t.at_most(0.07, "under"), _mean("weeks", "EASY")),
    *(_log("section 6.4.2, real weeks", f"{name} is above 34%", 0.34,
        t.at_least(0.34, "above"), _mean("weeks", name)) for name in _TWO),
    *(_log("section 6.4.2, the whole log", text, value,
        t.within(0.05, "the same log, nothing is drawn"), _mean(kind, name),
        reading=e.NO_PENALTY if kind == "log" else None)
        for text, value, kind, name in (
        ("a simulation for the full trace yields 8% for EASY", 0.08, "log", "EASY"),
        *((f"... and 10% for our algorithms: {name}, {words}", 0.10, kind, name)
            for name in _TWO for kind, words in (("log", "with the penalty of 300 s"),
            ("log-free", "read without a penalty"))))),
)

_PERIODS = (
    *(_period(f"section 6.4.2, Figure 3, {title}", "underutilisation decreases steadily with the "
        "period: share of the steps up to 12,000 s at which it falls", "all",
        t.at_least(1.0, "steadily: at every step"),
        f.of("share of falls", "short underutilisation", kind)) for kind, title in c.SETS.items()),
    *(claim for kind in ("unscaled", "scaled") for claim in (
        _period(f"section 6.4.2, Figure 3, {c.SETS[kind]}", "better than EASY's when the period "
            "becomes larger than 900 s: the first period from which on it is below", 900.0,
            t.between(900, 1200, "the period after 900 s in our steps"),
            m.crossing(kind), reading=e.PAPER_EASY),
        _period(f"section 6.4.2, appendix B, {c.SETS[kind]}", "for extremely large periods (over "
            "15,000 s) underutilisation begins to increase: that at the longest period tried over "
            "the least", "above 1", t.at_least(1.0 + 1e-6, "begins to increase"), f.of("last",
            "long underutilisation", kind) / f.of("least", "underutilisation", kind)))),
    _period("section 6.4.2, Figure 3, real weeks", "higher than EASY's regardless of the period: "
        "the least over EASY's", "above 1", t.ABOVE, f.of("least", "short underutilisation",
        "weeks") / f.of("last", "EASY underutilisation", "weeks")),
    _period("section 6.4.2, Figure 3, real weeks", "EASY achieves around 6.4%", 0.064,
        t.within(0.05, "the same log; two digits are printed"),
        f.of("last", "EASY underutilisation", "weeks")),
    _period("section 6.4.2, Figure 3, real weeks", "our algorithm plateaus at around 11.8%", 0.118,
        t.within(0.05, "the same log; 'around'"), f.of("least", "underutilisation", "weeks")),
    *(claim for kind, factor in (("weeks", 2.0), ("unscaled", 1.5), ("scaled", 3.0)) for claim in (
        _period(f"section 6.4.2, Figure 4, {c.SETS[kind]}", "a 20-fold period increases the "
            f"degradation by less than a factor {factor:g}", factor,
            t.at_most(factor, "less than"), m.growth("degradation", kind),
            reading=e.GROWTH),
        _period(f"section 6.4.2, Figure 4, {c.SETS[kind]}", "at 20 times the penalty and more, "
            "EASY is outperformed by at least two orders of magnitude on average: EASY's mean over "
            "ours at 12,000 s", 100.0, t.at_least(100, "two orders of magnitude"),
            f.of("last", "EASY degradation", kind) / f.at(m.LONGEST, "degradation", kind)))),
    _period("section 6.4.2, appendix B", "with a period of an hour the bandwidth is roughly 4 "
        "times lower (loads of 0.7 and more)", 4.0, t.within(0.25, "'roughly'"),
        f.at(600, "busy", "scaled") / f.at(3600, "busy", "scaled")),
    _period("section 6.4.2, appendix B", "with a period of an hour the bandwidth is under 0.2 GB/s "
        "on average (loads of 0.7 and more)", 0.2, t.at_most(0.2, "under"),
        f.at(3600, "busy", "scaled"), reading=e.ONCE),
    *(claim for letter, (kind, title) in zip("abc", c.SETS.items(), strict=True) for claim in (
        _period(f"Figure 3({letter}), {title}", f"curve of {BEST}: underutilisation against the "
            "period", PICTURE, t.told("it decreases steadily"), f.picture(
            f.points("{:g} s: {:.3g}", "underutilisation", kind),
            m.steady_fall(kind),
            (0.75, 1),
            "{1:.2f} times at 12,000 s, falls at {2:.0%} of the steps")),
        _period(f"Figure 3({letter}), {title}", "curve of EASY: underutilisation against the "
            "period", PICTURE, t.told("EASY is below our algorithm at every period"
            if kind == "weeks" else "our algorithm gets below EASY's"), _easy_line(kind)),
        _period(f"Figure 4, {title}", f"curve of {BEST}: degradation against the period", PICTURE,
            t.told("it increases slowly, by less than a factor 3"), f.picture(
            f.points("{:g} s: {:.3g}", "degradation", kind),
            m.growth("degradation", kind),
            (1, 3),
            "{:.2f} times at 12,000 s")))),
)


# fmt: on
# --- the tables ---------------------------------------------------------------------------


def _degradations(number: int, kind: str, study: str) -> list[Claim]:
    return [
        _row(
            f"Table {number}, {c.SETS[kind]}, {name}, {what}.",
            f"{c.WORDS[what]} of the degradation from bound",
            seen.value,
            _SAME_LOG if kind == "weeks" else t.drawn(_DRAWS, slack=0.05),
            c.in_set(kind, c.cell(what, name)),
            reading=e.degradation(study, kind, name),
            study=study,
            prepare=c.degradations,
            cells=f"Table {number}, {c.SETS[kind]}, {c.WORDS[what]}",
        )
        for (what, name), seen in c.printed(number)[kind].found.items()
    ]


# fmt: off
CLAIMS = (
    *_THEOREMS,
    *_WORKLOADS,
    *stretch.CLAIMS,
    *_COSTS,
    *_PERIODS,
    *(claim for kind in c.SETS for claim in _degradations(2, kind, e.STUDY[kind])),
    *(_row(f"Table 3, {name}, {c.COSTS[cost]}, {c.WORDS[what]}",
        f"{c.WORDS[what]} of {c.COSTS[cost]} at loads of 0.7 and more", seen.value,
        t.drawn(_DRAWS, slack=0.005), c.in_set("scaled", c.cell(label, name)),
        reading=e.COUNTED, study=e.TABLE_3, prepare=c.busy,
        cells=f"Table 3, {c.COSTS[cost]}, {c.WORDS[what]}")
        for (label, name), seen in c.printed(3)["scaled"].found.items()
        for what, cost in [label.split()]),
    *(_row(f"Table 4, {title}, {name}", "average normalised underutilisation",
        c.printed(4)[kind].found["avg", name].value,
        t.within(0.05, "the same log; the paper prints three digits") if kind == "weeks"
        else t.drawn(_DRAWS, slack=0.0005), c.in_set(kind, c.cell("avg", name)),
        study=e.TABLE_4, prepare=c.underutilisation)
        for name in table(4) for kind, title in c.SETS.items()),
    *_degradations(5, "weeks", e.TABLE_5),
)
