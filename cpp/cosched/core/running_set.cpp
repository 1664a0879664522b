#include "cosched/core/running_set.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/progress.hpp"

namespace cosched {
namespace {}  // namespace

void RunningSet::start(const RunningTask& run, double now) {
  runs_.push_back(run);
  states_.push_back({run.alone, now, 1, now + run.alone});
  update_factors(now);
}

double RunningSet::next_end() const {
  double next = kInfinity;
  for (const TaskProgress& state : states_) next = std::min(next, state.end);
  return next;
}

const std::vector<RunningSet::EndedTask>& RunningSet::finish() {
  const double now = next_end();
  const double last_end = now + kSameEventTolerance * std::abs(now);
  ended_tasks_.clear();
  std::size_t running_count = 0;
  for (std::size_t k = 0; k < states_.size(); ++k) {
    if (states_[k].end <= last_end) {
      ended_tasks_.push_back({runs_[k].task, states_[k].end});
      continue;
    }
    states_[running_count] = states_[k];
    runs_[running_count] = runs_[k];
    ++running_count;
  }
  require_progress(!ended_tasks_.empty(), "tasks side by side");
  states_.resize(running_count);
  runs_.resize(running_count);
  update_factors(now);
  return ended_tasks_;
}

// Work until now counts at the old factor.  Where the factor stays, the end stays, bit for bit.
void RunningSet::update_factors(double now) {
  if (sharing_ == nullptr || !sharing_->slows()) return;
  const std::vector<double> factors = sharing_->factors(runs_);
  for (std::size_t k = 0; k < states_.size(); ++k) {
    TaskProgress& state = states_[k];
    if (factors[k] == state.factor) continue;
    state.remaining = std::max(0.0, state.remaining - (now - state.since) / state.factor);
    state.since = now;
    state.factor = factors[k];
    state.end = now + state.remaining * state.factor;
  }
}

}  // namespace cosched
