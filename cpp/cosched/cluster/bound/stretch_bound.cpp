#include "cosched/cluster/bound/stretch_bound.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cosched/cluster/bound/cut_deficit.hpp"
#include "cosched/cluster/bound/greedy_fill.hpp"
#include "cosched/cluster/bound/interval_flow.hpp"
#include "cosched/cluster/bound/stretch_kernel.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

// A deficit below this part of the cut's capacity is rounding.
constexpr double kDeficitTolerance = 1e-11;
// A smaller improvement is rounding at the root of the same cut, and another one may say more.
constexpr double kMinImprovement = kExactTolerance;

// rate_of(job): how much of the resource the job uses; jobs that use none do not count.
template <class RateOf>
std::vector<StretchJob> make_stretch_jobs(const Instance& instance, double threshold,
                                          const RateOf& rate_of) {
  if (!(threshold > 0) || threshold == kInfinity)
    throw InvalidInstance("threshold = " + to_text(threshold) + ": expected seconds > 0");
  const Jobs& jobs = instance.jobs();
  const std::vector<int>& order = instance.order();
  std::vector<StretchJob> stretch_jobs;
  for (const int j : order) {
    if (!(jobs.runtime[j] > 0) || !(rate_of(j) > 0)) continue;
    // Seconds since the first submission: seconds since 1970 would be rounded.
    stretch_jobs.push_back({.release = jobs.submit[j] - jobs.submit[order[0]],
                            .runtime = jobs.runtime[j],
                            .unit = std::max(jobs.runtime[j], threshold),
                            .rate = rate_of(j)});
  }
  return stretch_jobs;
}

// The segments are maximal runs of consecutive intervals of the cut.
CutDeficit make_cut_deficit(const std::vector<StretchJob>& jobs, double nodes, double stretch,
                            const StretchResidual& residual, const std::vector<char>& is_in_cut) {
  std::vector<IntervalBorder> begins;
  std::vector<IntervalBorder> ends;
  for (std::size_t t = 0; t < is_in_cut.size(); ++t) {
    if (!is_in_cut[t]) continue;
    const bool continues_segment = t > 0 && is_in_cut[t - 1] &&
                                   residual.border_end[t - 1].time_at(jobs, stretch) ==
                                       residual.border_begin[t].time_at(jobs, stretch);
    if (continues_segment) {
      ends.back() = residual.border_end[t];
    } else {
      begins.push_back(residual.border_begin[t]);
      ends.push_back(residual.border_end[t]);
    }
  }
  return CutDeficit(jobs, nodes, std::move(begins), std::move(ends));
}

IntervalWork make_interval_work(const std::vector<StretchJob>& jobs, double nodes,
                                const StretchResidual& residual) {
  IntervalWork work{.length = residual.length,
                    .room = {},
                    .first = residual.first,
                    .last = residual.last,
                    .rate = {},
                    .need = {}};
  for (const double length : residual.length) work.room.push_back(nodes * length);
  for (std::size_t i = 0; i < residual.job.size(); ++i) {
    work.rate.push_back(jobs[residual.job[i]].rate);
    work.need.push_back(work.rate.back() * residual.remaining[i]);
  }
  return work;
}

// A max-flow on some of the intervals; in the others the work is as the fill placed it.
struct PartialFlow {
  std::vector<int> interval_number;  // by interval: how many intervals of the part precede it
  std::vector<int> jobs;             // those with an interval in the part
  IntervalFlow flow;
};

// Puts what the fill did into the flow.  `number_in_part`: by job, -1 for jobs outside.
void place_runs(const IntervalWork& work, const std::vector<FillRun>& runs,
                const std::vector<int>& number_in_part, const std::vector<char>& is_in_part,
                PartialFlow& part) {
  for (const FillRun& run : runs) {
    const int job = number_in_part[run.job];
    if (job < 0) continue;
    for (int t = run.begin; t < run.end; ++t) {
      const double amount = run.nodes * work.length[t];
      if (is_in_part[t])
        part.flow.place(job, part.interval_number[t], amount);
      else
        part.flow.serve_elsewhere(job, amount);
    }
  }
}

PartialFlow make_partial_flow(const IntervalWork& work, const std::vector<FillRun>& runs,
                              const std::vector<char>& is_in_part) {
  std::vector<int> interval_number{0};
  std::vector<int> jobs;
  std::vector<int> number_in_part(work.need.size(), -1);
  IntervalWork part_work;
  for (std::size_t t = 0; t < is_in_part.size(); ++t) {
    interval_number.push_back(interval_number.back() + (is_in_part[t] ? 1 : 0));
    if (!is_in_part[t]) continue;
    part_work.length.push_back(work.length[t]);
    part_work.room.push_back(work.room[t]);
  }
  for (std::size_t i = 0; i < work.need.size(); ++i) {
    const int first = interval_number[work.first[i]];
    const int last = interval_number[work.last[i]];
    if (first == last) continue;
    number_in_part[i] = static_cast<int>(jobs.size());
    jobs.push_back(static_cast<int>(i));
    part_work.first.push_back(first);
    part_work.last.push_back(last);
    part_work.rate.push_back(work.rate[i]);
    part_work.need.push_back(work.need[i]);
  }
  PartialFlow part{std::move(interval_number), std::move(jobs), IntervalFlow(std::move(part_work))};
  place_runs(work, runs, number_in_part, is_in_part, part);
  return part;
}

// Adds the job's window to the part.  Returns whether the part has grown.
bool add_window(const IntervalWork& work, int job, std::vector<char>& is_in_part) {
  const auto begin = is_in_part.begin() + work.first[job];
  const auto end = is_in_part.begin() + work.last[job];
  const bool has_grown = std::find(begin, end, 0) != end;
  std::fill(begin, end, 1);
  return has_grown;
}

// The larger S that the intervals of the cut prove, if they have a deficit.  Any set of intervals
// with a deficit is a proof.
std::optional<double> prove_larger_stretch(const std::vector<StretchJob>& jobs, double nodes,
                                           double stretch, const StretchResidual& residual,
                                           const std::vector<char>& is_in_cut) {
  const CutDeficit deficit = make_cut_deficit(jobs, nodes, stretch, residual, is_in_cut);
  const CutDeficit::DeficitValue value = deficit(stretch);
  if (!(value.deficit > kDeficitTolerance * value.scale)) return std::nullopt;
  const double root = find_cut_root(deficit, stretch);
  return root > stretch ? std::optional(root) : std::nullopt;
}

// nullopt if S is feasible, else a larger S that every feasible one reaches.
std::optional<double> find_larger_stretch(const std::vector<StretchJob>& jobs, double nodes,
                                          double stretch) {
  const StretchResidual residual = stretch_kernel(jobs, stretch, nodes);
  if (residual.job.empty()) return std::nullopt;
  // Far from the least S all congested intervals together are a proof that costs no flow.
  const std::vector<char> all_intervals(residual.length.size(), 1);
  const std::optional<double> simple_bound =
      prove_larger_stretch(jobs, nodes, stretch, residual, all_intervals);
  if (simple_bound && *simple_bound > stretch * (1 + kMinImprovement)) return simple_bound;
  const IntervalWork work = make_interval_work(jobs, nodes, residual);
  const auto [unserved, runs] = fill_greedily(work);
  std::vector<char> is_in_part(work.length.size(), 0);
  bool has_grown = false;
  for (std::size_t i = 0; i < unserved.size(); ++i)
    if (unserved[i] > need_rounding(work.need[i]))
      has_grown |= add_window(work, static_cast<int>(i), is_in_part);
  while (has_grown) {
    // A part of more than half costs as much as all, and may not be enough.
    const auto outside = std::count(is_in_part.begin(), is_in_part.end(), 0);
    if (2 * outside < std::ptrdiff_t(all_intervals.size())) is_in_part = all_intervals;
    PartialFlow part = make_partial_flow(work, runs, is_in_part);
    part.flow.augment();
    if (part.flow.unserved() <= 0) return std::nullopt;
    const std::vector<char> is_reached = part.flow.reached_intervals();
    std::vector<char> is_in_cut(is_in_part.size(), 0);
    for (std::size_t t = 0; t < is_in_cut.size(); ++t)
      is_in_cut[t] = is_in_part[t] && is_reached[part.interval_number[t]];
    const std::optional<double> larger_stretch =
        prove_larger_stretch(jobs, nodes, stretch, residual, is_in_cut);
    if (larger_stretch) return larger_stretch;
    has_grown = false;
    for (std::size_t k = 0; k < part.jobs.size(); ++k)
      if (part.flow.is_reached(static_cast<int>(k)))
        has_grown |= add_window(work, part.jobs[k], is_in_part);
  }
  return std::nullopt;
}

// Raises the bound to the least feasible S of these jobs alone.
void raise_bound(StretchBound& bound, const std::vector<StretchJob>& jobs, double nodes) {
  for (;;) {
    check_interrupt();
    ++bound.tests;
    const std::optional<double> larger_stretch = find_larger_stretch(jobs, nodes, bound.value);
    if (!larger_stretch) return;
    bound.value = *larger_stretch;
  }
}

// Raises the bound by blocks of jobs that were submitted one after the other.  What such jobs need
// alone is a bound, and most blocks only confirm what is known.
void raise_bound_by_blocks(StretchBound& bound, const std::vector<StretchJob>& jobs, double nodes,
                           std::size_t block_size) {
  for (std::size_t first = 0; first < jobs.size(); first += block_size) {
    const std::size_t last = std::min(jobs.size(), first + block_size);
    raise_bound(bound,
                {jobs.begin() + static_cast<std::ptrdiff_t>(first),
                 jobs.begin() + static_cast<std::ptrdiff_t>(last)},
                nodes);
  }
}

void raise_bound_for_resource(StretchBound& bound, const std::vector<StretchJob>& jobs,
                              double capacity, const StretchBoundParams& params) {
  if (jobs.empty()) return;
  for (std::size_t size = params.smallest_block; 4 * size <= jobs.size();
       size *= params.block_growth)
    raise_bound_by_blocks(bound, jobs, capacity, size);
  raise_bound(bound, jobs, capacity);
}

}  // namespace

StretchBound max_stretch_bound(const Instance& instance, double threshold) {
  return max_stretch_bound(instance, {}, threshold);
}

StretchBound max_stretch_bound(const Instance& instance,
                               const std::vector<StretchResource>& resources, double threshold,
                               const StretchBoundParams& params) {
  for (const StretchResource& resource : resources)
    if (static_cast<int>(resource.usage.size()) != instance.size() || !(resource.capacity > 0))
      throw InvalidInstance("a resource of another instance, or without capacity");
  const Jobs& jobs = instance.jobs();
  const auto nodes_of = [&](int j) { return jobs.cpu[j] * jobs.tasks[j]; };
  StretchBound bound;
  bound.is_exact = finishes_within(std::nullopt, [&] {
    raise_bound_for_resource(bound, make_stretch_jobs(instance, threshold, nodes_of),
                             instance.nodes(), params);
    for (const StretchResource& resource : resources) {
      const auto usage_of = [&](int j) { return resource.usage[j]; };
      raise_bound_for_resource(bound, make_stretch_jobs(instance, threshold, usage_of),
                               resource.capacity, params);
    }
  });
  return bound;
}

}  // namespace cosched::cluster::bound
