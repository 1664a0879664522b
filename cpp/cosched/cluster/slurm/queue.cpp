#include "cosched/cluster/slurm/queue.hpp"

#include "cosched/cluster/slurm/priority.hpp"

namespace cosched::cluster::slurm {

Queue::Queue(const Scenario& scenario, double controller_start)
    : scenario_(scenario), controller_start_(controller_start), of_(scenario.jobs().size()) {}

bool Queue::before(int a, int b) const {
  const int first = scenario_.part(a).tier, second = scenario_.part(b).tier;
  if (first != second) return first > second;
  const Submitted &x = of_[static_cast<std::size_t>(a)], &y = of_[static_cast<std::size_t>(b)];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.submit != y.submit) return x.submit < y.submit;
  return a < b;
}

void Queue::add(int job, double time) {
  of_[static_cast<std::size_t>(job)] = {priority_of(scenario_, job, time, submitted_++),
                                        whole(time)};
  ++changes_;
  const auto place =
      std::lower_bound(jobs_.begin(), jobs_.end(), job, [&](int a, int b) { return before(a, b); });
  jobs_.insert(place, job);
}

void Queue::recalculate(double time) {
  const Settings::Priority& settings = scenario_.settings().priority;
  if (!priorities_age(settings)) return;
  const auto length = static_cast<double>(settings.calc_period);
  const Second period = whole((time - controller_start_) / length);
  if (period == calculated_) return;
  calculated_ = period;
  ++changes_;
  const double when = controller_start_ + static_cast<double>(period) * length;
  for (const int job : jobs_)
    of_[static_cast<std::size_t>(job)].priority = priority_of(scenario_, job, when, 0);
  std::sort(jobs_.begin(), jobs_.end(), [&](int a, int b) { return before(a, b); });
}

bool Queue::holds_back(int job, Second now) const {
  const Settings::Reserve& reserve = scenario_.settings().reserve;
  const Submitted& one = of_[static_cast<std::size_t>(job)];
  return now - one.submit < reserve.min_age || one.priority < reserve.min_priority;
}

}  // namespace cosched::cluster::slurm
