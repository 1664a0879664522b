#include "cosched/cluster/slurm/queue.hpp"

#include "cosched/cluster/slurm/priority.hpp"

namespace cosched::cluster::slurm {

Queue::Queue(const Scenario& scenario, const Usage& usage, double controller_start)
    : scenario_(scenario),
      usage_(usage),
      controller_start_(controller_start),
      of_(scenario.jobs().size()) {}

bool Queue::before(Entry a, Entry b) const {
  const bool kept = scenario_.job(a.job).conditions.reservation >= 0;
  if (kept != (scenario_.job(b.job).conditions.reservation >= 0)) return kept;
  const int first = scenario_.part(a).tier, second = scenario_.part(b).tier;
  if (first != second) return first > second;
  const Submitted& x = of_[static_cast<std::size_t>(a.job)];
  const Submitted& y = of_[static_cast<std::size_t>(b.job)];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.submit != y.submit) return x.submit < y.submit;
  return a.job < b.job;
}

void Queue::submit(int job, double time) {
  // Tasks of an array follow each other, with one priority.
  const int array = scenario_.job(job).conditions.array;
  if (array >= 0 && array == last_array_)
    of_[static_cast<std::size_t>(job)] = of_[static_cast<std::size_t>(job - 1)];
  else
    of_[static_cast<std::size_t>(job)] = {computed(job, time, submitted_++), whole(time)};
  last_array_ = array;
}

void Queue::prioritise(int job, double time) {
  of_[static_cast<std::size_t>(job)].priority = computed(job, time, submitted_++);
}

double Queue::computed(int job, double time, int before) const {
  return priority_of(scenario_, job, time, before, usage_.factor(job));
}

void Queue::resubmit(int job, double time, bool anew) {
  if (anew) prioritise(job, time);
  of_[static_cast<std::size_t>(job)].submit = whole(time);
}

void Queue::enter(int job) {
  ++changes_;
  const auto add = [&](Entry entry) {
    const auto place =
        std::upper_bound(entries_.begin(), entries_.end(), entry,
                         [&](const Entry& a, const Entry& b) { return before(a, b); });
    entries_.insert(place, entry);
  };
  const Job& one = scenario_.job(job);
  if (one.partitions.empty()) add({job, one.partition});
  for (const int part : one.partitions) add({job, part});
}

void Queue::recalculate(double time) {
  const Settings::Priority& settings = scenario_.settings().priority;
  const bool shared = settings.multifactor && !scenario_.accounts().empty();
  if (!shared && !priorities_age(settings)) return;
  const auto length = static_cast<double>(settings.calc_period);
  const Second period = shared ? usage_.passes() : whole((time - controller_start_) / length);
  if (period == calculated_) return;
  calculated_ = period;
  ++changes_;
  const double when = shared ? static_cast<double>(usage_.last_pass())
                             : controller_start_ + static_cast<double>(period) * length;
  for (const Entry& entry : entries_)
    of_[static_cast<std::size_t>(entry.job)].priority = computed(entry.job, when, 0);
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return before(a, b); });
}

bool Queue::holds_back(int job, Second now) const {
  const Settings::Reserve& reserve = scenario_.settings().reserve;
  const Submitted& one = of_[static_cast<std::size_t>(job)];
  return now - one.submit < reserve.min_age || one.priority < reserve.min_priority;
}

}  // namespace cosched::cluster::slurm
