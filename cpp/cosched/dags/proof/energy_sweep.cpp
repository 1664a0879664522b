#include "cosched/dags/proof/energy_sweep.hpp"

namespace cosched::dags::proof {

EnergySweep::EnergySweep(int type, int units, std::vector<SweepTask> items)
    : type_(type), units_(units), items_(std::move(items)) {
  const auto sorted = [&](auto key) {
    std::vector<std::pair<double, int>> keyed;
    keyed.reserve(items_.size());
    for (int k = 0; k < tasks(); ++k) keyed.emplace_back(key(items_[k]), k);
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> order;
    order.reserve(items_.size());
    for (const auto& [value, k] : keyed) order.push_back(k);
    return order;
  };
  by_latest_ = sorted([](const SweepTask& item) { return item.latest_start; });
  by_latest_end_ = sorted([](const SweepTask& item) { return item.latest_start + item.p; });
  by_latest_and_early_end_ =
      sorted([](const SweepTask& item) { return item.latest_start + item.head + item.p; });
  by_early_end_ = sorted([](const SweepTask& item) { return item.head + item.p; });
}

EnergySweep::Excess EnergySweep::worst_interval_from(double a) const {
  SlopeChanges kinds[] = {{SlopeChange::start, items_, by_latest_, a},
                          {SlopeChange::end_of_later, items_, by_latest_end_, a},
                          {SlopeChange::end_of_either, items_, by_latest_and_early_end_, a},
                          {SlopeChange::end_of_earlier, items_, by_early_end_, a}};
  double slope = -static_cast<double>(units_), value = 0, time_before = a;
  for (const SweepTask& item : items_)
    if (item.latest_start <= a && item.head + item.p > a) slope += item.share;
  Excess worst{{type_, a, a}, -kInfinity};
  for (;;) {
    SlopeChanges& first =
        *std::min_element(std::begin(kinds), std::end(kinds),
                          [](const SlopeChanges& changes, const SlopeChanges& other) {
                            return changes.time() < other.time();
                          });
    if (first.time() == kInfinity) return worst;
    const double time = std::max(time_before, first.time());
    value += slope * (time - time_before);
    time_before = time;
    if (value > worst.amount && time_before > a) worst = {{type_, a, time_before}, value};
    slope += first.change();
    first.advance();
  }
}

std::vector<EnergySweep::Excess> EnergySweep::violated_intervals(const std::vector<double>& begins,
                                                                 double makespan) const {
  std::vector<Excess> violations;
  Poll poll;
  for (const double begin : begins) {
    poll.count(12LL * tasks());
    const Excess excess = worst_interval_from(begin);
    if (excess.amount > kLeastViolation * units_ * makespan) violations.push_back(excess);
  }
  return violations;
}

std::vector<double> EnergySweep::candidate_begins(int max_count) const {
  std::vector<double> times;
  times.reserve(2 * items_.size());
  for (const SweepTask& item : items_) {
    times.push_back(item.head);
    if (item.latest_start > item.head) times.push_back(item.latest_start);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (static_cast<int>(times.size()) <= max_count) return times;
  std::vector<double> chosen_times;
  for (int k = 0; k < max_count; ++k) chosen_times.push_back(times[k * times.size() / max_count]);
  return chosen_times;
}

bool EnergySweep::concerns(SlopeChange turn, const EnergySweep::SweepTask& item, double a) {
  if (item.head + item.p <= a) return false;
  switch (turn) {
    case SlopeChange::start:
      return item.latest_start > a;
    case SlopeChange::end_of_later:
      return item.head >= a;
    case SlopeChange::end_of_either:
      return item.head < a && item.latest_start > a;
    case SlopeChange::end_of_earlier:
      return item.head < a && item.latest_start <= a;
  }
  return false;
}

double EnergySweep::time_of(SlopeChange turn, const EnergySweep::SweepTask& item, double a) {
  switch (turn) {
    case SlopeChange::start:
      return item.latest_start;
    case SlopeChange::end_of_later:
      return std::max(item.latest_start, a) + item.p;
    case SlopeChange::end_of_either:
      return item.latest_start + item.head + item.p - a;
    case SlopeChange::end_of_earlier:
      return item.head + item.p;
  }
  return kInfinity;
}

}  // namespace cosched::dags::proof
