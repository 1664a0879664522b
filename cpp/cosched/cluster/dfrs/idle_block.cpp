#include "cosched/cluster/dfrs/idle_block.hpp"

#include <algorithm>

namespace cosched::cluster::dfrs {

IdleBlock::IdleBlock() {
  std::fill_n(origin_, kMost, kInfinity);
  std::fill_n(inverse_, kMost, Line::kTiny);
}

Line IdleBlock::add(int rank, double submit, double virtual_time, Line line) {
  const double square = virtual_time * virtual_time;
  const double inverse = virtual_time > 0 ? 1 / square : 1;
  const double origin = virtual_time > 0 ? submit : -kInfinity;
  if (jobs_ == 0) line = {submit, 0, 0};
  line.top = std::max(line.top, (line.since - origin) * inverse);
  line.rate = std::max(line.rate, inverse);
  rank_[jobs_] = rank;
  origin_[jobs_] = origin;
  square_[jobs_] = square;
  inverse_[jobs_] = inverse;
  ++jobs_;
  return line;
}

void IdleBlock::remove(int position) {
  const int last = --jobs_;
  rank_[position] = rank_[last];
  origin_[position] = origin_[last];
  square_[position] = square_[last];
  inverse_[position] = inverse_[last];
  origin_[last] = kInfinity;
  inverse_[last] = Line::kTiny;
}

void IdleBlock::take_last(IdleBlock& other) {
  const int from = other.jobs_ - 1;
  rank_[jobs_] = other.rank_[from];
  origin_[jobs_] = other.origin_[from];
  square_[jobs_] = other.square_[from];
  inverse_[jobs_] = other.inverse_[from];
  ++jobs_;
  other.remove(from);
}

Line IdleBlock::line(double now) const {
  // Lanes: a single running maximum would wait for itself at each step.
  constexpr int kLanes = 8;
  double top[kLanes], rate[kLanes];
  std::fill_n(top, kLanes, 0.0);
  std::fill_n(rate, kLanes, 0.0);
  for (int k = 0; k < kMost; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      top[lane] = std::max(top[lane], (now - origin_[k + lane]) * inverse_[k + lane]);
      rate[lane] = std::max(rate[lane], inverse_[k + lane]);
    }
  // Which lane is greatest is hard to foresee, for a processor too: no branch depends on it.
  const auto greatest = [](const double* of) {
    const auto of_two = [of](int lane) { return std::max(of[lane], of[lane + 1]); };
    return std::max(std::max(of_two(0), of_two(2)), std::max(of_two(4), of_two(6)));
  };
  return {now, greatest(top), greatest(rate)};
}

std::vector<Prioritised> IdleBlock::append(std::vector<Prioritised> jobs, double now, double least,
                                           const Prioritised& last, int shape) const {
  double about[kMost];
  for (int k = 0; k < kMost; ++k) about[k] = (now - origin_[k]) * inverse_[k];
  // Nor which ones are high.
  const double enough = least * (1 - Line::kRounding);
  int high[kMost], found = 0;
  for (int k = 0; k < kMost; ++k) {
    high[found] = k;
    found += about[k] >= enough;
  }
  for (int h = 0; h < found; ++h) {
    const int k = high[h];
    const Prioritised job{(now - origin_[k]) / square_[k], rank_[k], shape};
    if (job.priority >= least && ServedBefore()(last, job)) jobs.push_back(job);
  }
  return jobs;
}

}  // namespace cosched::cluster::dfrs
