#include "cosched/cluster/dfrs/idle_block.hpp"

namespace cosched::cluster::dfrs {

IdleBlock::IdleBlock() {
  std::fill_n(origin_, kMaxJobs, kInfinity);
  std::fill_n(inverse_, kMaxJobs, PriorityBound::kTiny);
}

PriorityBound IdleBlock::compute_bound(double now) const {
  // Lanes: a single running maximum would wait for itself at each step.
  constexpr int kLanes = 8;
  double priority[kLanes];
  double rate[kLanes];
  std::fill_n(priority, kLanes, 0.0);
  std::fill_n(rate, kLanes, 0.0);
  for (int k = 0; k < kMaxJobs; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      priority[lane] = std::max(priority[lane], (now - origin_[k + lane]) * inverse_[k + lane]);
      rate[lane] = std::max(rate[lane], inverse_[k + lane]);
    }
  // A processor cannot predict which lane is greatest: no branch depends on it.
  const auto maximum_of = [](const double* lanes) {
    const auto maximum_of_pair = [lanes](int lane) {
      return std::max(lanes[lane], lanes[lane + 1]);
    };
    return std::max(std::max(maximum_of_pair(0), maximum_of_pair(2)),
                    std::max(maximum_of_pair(4), maximum_of_pair(6)));
  };
  return {.computed_at = now,
          .greatest_priority = maximum_of(priority),
          .greatest_rate = maximum_of(rate)};
}

void IdleBlock::append_jobs(double now, double min_priority, const PrioritisedJob& predecessor,
                            int shape, std::vector<PrioritisedJob>& jobs) const {
  double product[kMaxJobs];  // the priorities up to rounding
  for (int k = 0; k < kMaxJobs; ++k) product[k] = (now - origin_[k]) * inverse_[k];
  // A processor cannot predict which priorities are high: no branch depends on it.
  const double min_product = min_priority * (1 - PriorityBound::kRounding);
  int high_position[kMaxJobs];
  int high_count = 0;
  for (int k = 0; k < kMaxJobs; ++k) {
    high_position[high_count] = k;
    high_count += product[k] >= min_product ? 1 : 0;
  }
  for (int h = 0; h < high_count; ++h) {
    const int k = high_position[h];
    const PrioritisedJob job{(now - origin_[k]) / square_[k], rank_[k], shape};
    if (job.priority >= min_priority && ServedBefore()(predecessor, job)) jobs.push_back(job);
  }
}

}  // namespace cosched::cluster::dfrs
