#include "cosched/cluster/bound/stretch_bound.hpp"

#include "cosched/cluster/bound/interval_flow.hpp"
#include "cosched/cluster/bound/stretch_kernel.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

// A deficit below this part of the cut's capacity is rounding.
constexpr double kDeficitTolerance = 1e-11;
// Less than this is rounding at the root of the same cut, and another one may say more.
constexpr double kProgress = 1e-9;

// `rate`: by job, how much it holds; jobs that hold none do not count.
template <class Rate>
std::vector<StretchJob> stretch_jobs(const Instance& instance, double threshold, const Rate& rate) {
  if (!(threshold > 0) || threshold == kInfinity)
    throw InvalidInstance("threshold = " + to_text(threshold) + ": expected seconds > 0");
  const Jobs& jobs = instance.jobs();
  const std::vector<int>& order = instance.order();
  std::vector<StretchJob> result;
  for (const int j : order)  // seconds since the first submission: those since 1970 round
    if (jobs.runtime[j] > 0 && rate(j) > 0)
      result.push_back({jobs.submit[j] - jobs.submit[order[0]], jobs.runtime[j],
                        std::max(jobs.runtime[j], threshold), rate(j)});
  return result;
}

// Segments of consecutive intervals of the cut.
CutDeficit deficit_of(const std::vector<StretchJob>& jobs, double nodes, double stretch,
                      const Residual& residual, const std::vector<char>& cut) {
  std::vector<Border> begins, ends;
  for (std::size_t t = 0; t < cut.size(); ++t) {
    if (!cut[t]) continue;
    const bool joins =
        t > 0 && cut[t - 1] &&
        residual.border_end[t - 1].at(jobs, stretch) == residual.border_begin[t].at(jobs, stretch);
    if (joins) {
      ends.back() = residual.border_end[t];
    } else {
      begins.push_back(residual.border_begin[t]);
      ends.push_back(residual.border_end[t]);
    }
  }
  return CutDeficit(jobs, nodes, std::move(begins), std::move(ends));
}

IntervalWork interval_work(const std::vector<StretchJob>& jobs, double nodes,
                           const Residual& residual) {
  IntervalWork work{residual.length, {}, residual.first, residual.last, {}, {}};
  for (const double length : residual.length) work.room.push_back(nodes * length);
  for (std::size_t i = 0; i < residual.job.size(); ++i) {
    work.rate.push_back(jobs[residual.job[i]].rate);
    work.need.push_back(work.rate.back() * residual.left[i]);
  }
  return work;
}

// A max-flow on some of the intervals, the rest as the fill left it.
struct PartOfWork {
  std::vector<int> number;  // of each interval in the part, counting on in between
  std::vector<int> job;     // with an interval in the part
  IntervalFlow flow;
};

// Puts what the fill did into the flow; a job has elsewhere what it got outside the part.
void place_runs(const IntervalWork& work, const std::vector<Run>& runs,
                const std::vector<int>& place, const std::vector<char>& wanted, PartOfWork& part) {
  for (const Run& run : runs) {
    const int job = place[run.job];
    if (job < 0) continue;
    for (int t = run.begin; t < run.end; ++t) {
      const double amount = run.speed * work.length[t];
      if (wanted[t])
        part.flow.place(job, part.number[t], amount);
      else
        part.flow.serve(job, amount);
    }
  }
}

PartOfWork part_of(const IntervalWork& work, const std::vector<Run>& runs,
                   const std::vector<char>& wanted) {
  std::vector<int> number{0}, job, place(work.need.size(), -1);
  IntervalWork part;
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    number.push_back(number.back() + (wanted[t] ? 1 : 0));
    if (!wanted[t]) continue;
    part.length.push_back(work.length[t]);
    part.room.push_back(work.room[t]);
  }
  for (std::size_t i = 0; i < work.need.size(); ++i) {
    const int first = number[work.first[i]], last = number[work.last[i]];
    if (first == last) continue;
    place[i] = static_cast<int>(job.size());
    job.push_back(static_cast<int>(i));
    part.first.push_back(first);
    part.last.push_back(last);
    part.rate.push_back(work.rate[i]);
    part.need.push_back(work.need[i]);
  }
  PartOfWork result{std::move(number), std::move(job), IntervalFlow(std::move(part))};
  place_runs(work, runs, place, wanted, result);
  return result;
}

// Marks the job's window; whether anything was not marked before.
bool want(const IntervalWork& work, int job, std::vector<char>& wanted) {
  const auto begin = wanted.begin() + work.first[job], end = wanted.begin() + work.last[job];
  const bool news = std::find(begin, end, 0) != end;
  std::fill(begin, end, 1);
  return news;
}

// The larger S that the intervals of the cut prove, if more has to be done in them than they hold.
// Any set of intervals with a deficit is a proof.
std::optional<double> proved(const std::vector<StretchJob>& jobs, double nodes, double stretch,
                             const Residual& residual, const std::vector<char>& cut) {
  const CutDeficit deficit = deficit_of(jobs, nodes, stretch, residual, cut);
  const CutDeficit::Value now = deficit(stretch);
  const bool some = now.deficit > kDeficitTolerance * now.scale;
  const double root = some ? cut_root(deficit, stretch) : stretch;
  return root > stretch ? std::optional(root) : std::nullopt;
}

// nullopt if S is feasible, else a larger S that every feasible one reaches.
std::optional<double> improved(const std::vector<StretchJob>& jobs, double nodes, double stretch) {
  const Residual residual = stretch_kernel(jobs, stretch, nodes);
  if (residual.job.empty()) return std::nullopt;
  // Far from the least S all congested intervals together are a proof that costs no flow.
  const std::vector<char> all(residual.length.size(), 1);
  const auto whole = proved(jobs, nodes, stretch, residual, all);
  if (whole && *whole > stretch * (1 + kProgress)) return whole;
  const IntervalWork work = interval_work(jobs, nodes, residual);
  const auto [left, runs] = fill(work);
  std::vector<char> wanted(work.length.size(), 0);
  bool more = false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] > need_rounding(work.need[i])) more |= want(work, static_cast<int>(i), wanted);
  while (more) {
    // A part of more than half costs as much as all, and may not be enough.
    if (2 * std::count(wanted.begin(), wanted.end(), 0) < std::ptrdiff_t(all.size())) wanted = all;
    PartOfWork part = part_of(work, runs, wanted);
    part.flow.augment();
    if (part.flow.unserved() <= 0) return std::nullopt;
    const std::vector<char> reached = part.flow.cut();
    std::vector<char> cut(wanted.size(), 0);
    for (std::size_t t = 0; t < cut.size(); ++t) cut[t] = wanted[t] && reached[part.number[t]];
    if (const auto larger = proved(jobs, nodes, stretch, residual, cut)) return larger;
    more = false;
    for (std::size_t k = 0; k < part.job.size(); ++k)
      if (part.flow.reached(static_cast<int>(k))) more |= want(work, part.job[k], wanted);
  }
  return std::nullopt;
}

// Raises the bound to the least feasible S of these jobs alone.
void raise(StretchBound& bound, const std::vector<StretchJob>& jobs, double nodes) {
  for (;;) {
    check_interrupt();
    ++bound.tests;
    const auto next = improved(jobs, nodes, bound.value);
    if (!next) return;
    bound.value = *next;
  }
}

// Jobs that were submitted one after the other, in blocks.  What they need
// alone is a bound, and most blocks only confirm what is known.
void raise_by_blocks(StretchBound& bound, const std::vector<StretchJob>& jobs, double nodes,
                     std::size_t size) {
  for (std::size_t first = 0; first < jobs.size(); first += size) {
    const auto begin = jobs.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        jobs.begin() + static_cast<std::ptrdiff_t>(std::min(jobs.size(), first + size));
    raise(bound, {begin, end}, nodes);
  }
}

void raise_on(StretchBound& bound, const std::vector<StretchJob>& jobs, double capacity) {
  if (jobs.empty()) return;
  for (std::size_t size = 512; 4 * size <= jobs.size(); size *= 16)
    raise_by_blocks(bound, jobs, capacity, size);
  raise(bound, jobs, capacity);
}

}  // namespace

StretchBound max_stretch_bound(const Instance& instance, double threshold) {
  return max_stretch_bound(instance, {}, threshold);
}

StretchBound max_stretch_bound(const Instance& instance, const std::vector<Resource>& resources,
                               double threshold) {
  for (const Resource& resource : resources)
    if (static_cast<int>(resource.held.size()) != instance.size() || !(resource.capacity > 0))
      throw InvalidInstance("a resource of another instance, or without capacity");
  const Jobs& jobs = instance.jobs();
  const auto nodes = [&](int j) { return jobs.cpu[j] * jobs.tasks[j]; };
  StretchBound bound;
  bound.exact = finishes_within(std::nullopt, [&] {
    raise_on(bound, stretch_jobs(instance, threshold, nodes), instance.nodes());
    for (const Resource& resource : resources) {
      const auto held = [&](int j) { return resource.held[j]; };
      raise_on(bound, stretch_jobs(instance, threshold, held), resource.capacity);
    }
  });
  return bound;
}

}  // namespace cosched::cluster::bound
