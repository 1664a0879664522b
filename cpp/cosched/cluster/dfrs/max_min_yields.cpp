#include "cosched/cluster/dfrs/max_min_yields.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/cluster/dfrs/full_nodes.hpp"
#include "cosched/cluster/dfrs/value_kinds.hpp"
#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

using RowLimit = std::pair<double, int>;  // (limit, row)
using LimitQueue = std::priority_queue<RowLimit, std::vector<RowLimit>, std::greater<>>;

// Progressive filling: z rises, each row (full node, or a job's own limit of 1) stops it
// for its jobs.  A row's limit only rises while others are frozen below it, so a queue of
// possibly outdated limits is enough.
class ProgressiveFilling {
 public:
  ProgressiveFilling(const Mapping& mapping, const std::vector<double>& slope,
                     const std::vector<double>& offset)
      : full_nodes_(find_full_nodes(mapping)),
        slope_(slope),
        offset_(offset),
        yield_(mapping.jobs(), 1.0),
        is_frozen_(mapping.jobs(), 1) {
    for (const CpuShare& share : full_nodes_.shares) is_frozen_[share.job] = 0;
  }

  std::vector<double> run() {
    for (int r = 0; r < full_nodes_.rows(); ++r) limits_.emplace(row_limit(r, 0), r);
    for (int j = 0; j < static_cast<int>(is_frozen_.size()); ++j)
      if (!is_frozen_[j]) limits_.emplace(job_limit(j), full_nodes_.rows() + j);
    constexpr std::int64_t kPollStepsPerLimit = 1000;  // a nanosecond each
    Poll poll;
    while (!limits_.empty()) {
      poll.count(kPollStepsPerLimit);
      const auto [limit, row] = limits_.top();
      limits_.pop();
      if (row >= full_nodes_.rows())
        freeze_job(row - full_nodes_.rows(), 1);
      else
        process_row(row, limit);
    }
    return std::move(yield_);
  }

 private:
  // The z at which the job's share is 1.
  double job_limit(int job) const { return (1 + offset_[job]) / slope_[job]; }

  double share_at(int job, double z) const {
    return std::clamp(slope_[job] * z - offset_[job], 0.0, 1.0);
  }

  void freeze_job(int job, double yield) {
    if (is_frozen_[job]) return;
    is_frozen_[job] = 1;
    yield_[job] = yield;
  }

  // Freezes the jobs of the row at the limit, unless the limit has risen since it was queued.
  void process_row(int row, double queued_limit) {
    const double limit = row_limit(row, queued_limit);
    if (limit == kInfinity) return;  // all its jobs are frozen
    if (limit > queued_limit) {
      limits_.emplace(limit, row);
      return;
    }
    for (int k = full_nodes_.begin[row]; k < full_nodes_.begin[row + 1]; ++k) {
      const int job = full_nodes_.shares[k].job;
      freeze_job(job, share_at(job, queued_limit));
    }
  }

  // The CPU of a row's jobs that are not frozen is slope z - offset.
  struct RowDemand {
    double slope = 0;
    double offset = 0;
  };

  // Of those jobs whose share is positive at z, or of all where `counts_all`.
  RowDemand row_demand(int row, double z, bool counts_all) const {
    RowDemand demand;
    for (int k = full_nodes_.begin[row]; k < full_nodes_.begin[row + 1]; ++k) {
      const auto [job, amount] = full_nodes_.shares[k];
      const bool is_active = !is_frozen_[job] && (counts_all || slope_[job] * z > offset_[job]);
      if (!is_active) continue;
      demand.slope += amount * slope_[job];
      demand.offset += amount * offset_[job];
    }
    return demand;
  }

  // Greatest z >= min_z at which the row's node is not above 1: the root of a convex,
  // piecewise linear function, by Newton's method from the right.
  double row_limit(int row, double min_z) const {
    double room = 1;  // that frozen jobs do not use
    for (int k = full_nodes_.begin[row]; k < full_nodes_.begin[row + 1]; ++k) {
      const auto [job, amount] = full_nodes_.shares[k];
      if (is_frozen_[job]) room -= amount * yield_[job];
    }
    room = std::max(room, 0.0);
    RowDemand demand = row_demand(row, 0, true);
    if (demand.slope == 0) return kInfinity;
    double z = (room + demand.offset) / demand.slope;
    for (;;) {  // each step lowers z and drops at least one job
      demand = row_demand(row, z, false);
      const double next_z = demand.slope > 0 ? (room + demand.offset) / demand.slope : z;
      if (!(next_z < z)) break;
      z = next_z;
    }
    return std::max(z, min_z);
  }

  const FullNodes full_nodes_;
  const std::vector<double>& slope_;
  const std::vector<double>& offset_;
  std::vector<double> yield_;    // by job
  std::vector<char> is_frozen_;  // by job
  LimitQueue limits_;            // of rows; row rows() + j is the limit of job j itself
};

// The yield at which a row is full if its jobs that are not frozen rise from `min_yield` together;
// infinite if all are frozen.
double common_yield_limit(const FullNodes& full, int row, const std::vector<double>& yield,
                          const std::vector<char>& is_frozen, double min_yield) {
  double room = 1;
  double amount = 0;
  for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) {
    const CpuShare& share = full.shares[k];
    if (is_frozen[share.job])
      room -= share.amount * yield[share.job];
    else
      amount += share.amount;
  }
  return amount == 0 ? kInfinity : std::max(std::max(room, 0.0) / amount, min_yield);
}

// The same for each row while no job is frozen, negated.
std::vector<double> negated_initial_limits(const FullNodes& full) {
  std::vector<double> negated_limits(full.rows());
  for (int row = 0; row < full.rows(); ++row) {
    double amount = 0;
    for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) amount += full.shares[k].amount;
    negated_limits[row] = -1 / amount;
  }
  return negated_limits;
}

// The rows by limit: as they are at first, in a sorted list, and those whose limit has risen since,
// in a queue.
class RowLimits {
 public:
  explicit RowLimits(const FullNodes& full)
      : negated_limits_(negated_initial_limits(full)),
        initial_order_(sort_by_decreasing_value(negated_limits_)) {}

  bool is_empty() const { return next_initial_ == initial_order_.size() && risen_.empty(); }
  // Requires that it is not empty.
  RowLimit smallest() const { return takes_initial() ? initial_limit() : risen_.top(); }
  void remove_smallest() {
    if (takes_initial())
      ++next_initial_;
    else
      risen_.pop();
  }
  void add(double limit, int row) { risen_.emplace(limit, row); }

 private:
  RowLimit initial_limit() const {
    const int row = initial_order_[next_initial_];
    return {-negated_limits_[row], row};
  }
  bool takes_initial() const {
    if (next_initial_ == initial_order_.size()) return false;
    return risen_.empty() || initial_limit() < risen_.top();
  }

  std::vector<double> negated_limits_;  // by row
  std::vector<int> initial_order_;      // rows
  std::size_t next_initial_ = 0;        // index into initial_order_
  LimitQueue risen_;
};

}  // namespace

std::vector<double> base_yields(const Mapping& mapping) {
  double greatest_load = 1;
  for (const double load : node_loads(mapping)) greatest_load = std::max(greatest_load, load);
  if (greatest_load <= 1 + kLoadTolerance) greatest_load = 1;
  return std::vector<double>(mapping.jobs(), 1 / greatest_load);
}

// ProgressiveFilling with slope 1 and offset 0, which is called at every event: a row's limit is
// then a division, and at yield 1 all jobs that are not frozen are finished.
std::vector<double> max_min_yields(const Mapping& mapping) {
  const FullNodes full = find_full_nodes(mapping);
  std::vector<double> yield(mapping.jobs(), 1.0);
  std::vector<char> is_frozen(mapping.jobs(), 0);
  RowLimits limits(full);
  Poll poll;
  while (!limits.is_empty()) {
    const auto [queued_limit, row] = limits.smallest();
    if (!(queued_limit < 1)) break;
    limits.remove_smallest();
    poll.count(20 + 10 * (full.begin[row + 1] - full.begin[row]));
    const double limit = common_yield_limit(full, row, yield, is_frozen, queued_limit);
    if (limit > queued_limit) {  // infinite: all its jobs are frozen
      if (limit < 1) limits.add(limit, row);
      continue;
    }
    for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) {
      const int job = full.shares[k].job;
      if (!is_frozen[job]) yield[job] = queued_limit;
      is_frozen[job] = 1;
    }
  }
  return yield;
}

std::vector<double> max_min_shares(const Mapping& mapping, const std::vector<double>& slope,
                                   const std::vector<double>& offset) {
  COSCHED_ASSERT(std::all_of(slope.begin(), slope.end(), [](double value) { return value > 0; }));
  return ProgressiveFilling(mapping, slope, offset).run();
}

}  // namespace cosched::cluster::dfrs
