#include "cosched/cluster/stretch_bound.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cosched/cluster/cut_deficit.hpp"
#include "cosched/cluster/interval_flow.hpp"
#include "cosched/cluster/stretch_kernel.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster {
namespace {

// A deficit below this part of the cut's capacity is rounding.
constexpr double kDeficitTolerance = 1e-11;

std::vector<StretchJob> stretch_jobs(const Instance& instance, double threshold) {
  if (!(threshold > 0) || threshold == kInfinity)
    throw InvalidInstance("threshold = " + to_text(threshold) + ": expected seconds > 0");
  const Jobs& jobs = instance.jobs();
  std::vector<StretchJob> result;
  for (const int j : instance.order())
    if (jobs.runtime[j] > 0)
      result.push_back({jobs.submit[j], jobs.runtime[j], std::max(jobs.runtime[j], threshold),
                        jobs.cpu[j] * jobs.tasks[j]});
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

// nullopt if S is feasible, else a larger S that every feasible one reaches.
std::optional<double> improved(const std::vector<StretchJob>& jobs, double nodes, double stretch) {
  const Residual residual = stretch_kernel(jobs, stretch, nodes);
  if (residual.job.empty()) return std::nullopt;
  std::vector<double> rate;
  for (const int j : residual.job) rate.push_back(jobs[j].rate);
  IntervalFlow flow(residual.length, nodes, residual.first, residual.last, residual.left,
                    std::move(rate));
  flow.fill();
  if (flow.unserved() <= 0) return std::nullopt;
  flow.augment();
  if (flow.unserved() <= 0) return std::nullopt;
  const CutDeficit deficit = deficit_of(jobs, nodes, stretch, residual, flow.cut());
  const CutDeficit::Value now = deficit(stretch);
  if (now.deficit <= kDeficitTolerance * now.scale) return std::nullopt;
  return cut_root(deficit, stretch);
}

}  // namespace

StretchBound max_stretch_bound(const Instance& instance, double threshold) {
  const std::vector<StretchJob> jobs = stretch_jobs(instance, threshold);
  StretchBound bound;
  if (jobs.empty()) return bound;
  for (;;) {
    check_interrupt();
    ++bound.tests;
    const auto next = improved(jobs, instance.nodes(), bound.value);
    if (!next || !(*next > bound.value)) return bound;
    bound.value = *next;
  }
}

bool stretch_feasible(const Instance& instance, double stretch, double threshold) {
  if (!(stretch >= 1) || stretch == kInfinity) return stretch == kInfinity;
  const std::vector<StretchJob> jobs = stretch_jobs(instance, threshold);
  return jobs.empty() || !improved(jobs, instance.nodes(), stretch);
}

}  // namespace cosched::cluster
