#include "cosched/moldable/list/decoder.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::list {

std::vector<Choice> fitting_counts(const Instance& instance, int i) {
  return choices(*instance.sharing(), i, instance.useful_machines(),
                 [&](int q) { return instance.exact_time(i, q); });
}

Allotment fitting_allotment(const Instance& instance, const Allotment& procs) {
  return instance.sharing() == nullptr ? procs : Decoder(instance).fitting_allotment(procs);
}

Decoder::Decoder(const Instance& instance)
    : instance_(instance), sharing_(*instance.sharing()), builder_(instance) {
  for (int i = 0; i < instance.jobs(); ++i) counts_.push_back(fitting_counts(instance, i));
}

int Decoder::nearest_count(int i, int q) const {
  int nearest = counts_[i].front().procs;
  for (const Choice& choice : counts_[i])
    if (choice.procs <= q) nearest = choice.procs;
  return nearest;
}

Allotment Decoder::fitting_allotment(Allotment procs) const {
  for (std::size_t i = 0; i < procs.size(); ++i)
    procs[i] = nearest_count(static_cast<int>(i), procs[i]);
  return procs;
}

double Decoder::total_worth(const std::vector<RunningTask>& set,
                            const std::vector<double>& prices) const {
  const std::vector<double> factors = sharing_.factors(set);
  double sum = 0;
  for (std::size_t k = 0; k < set.size(); ++k)
    sum += prices[set[k].task] / (set[k].alone * factors[k]);
  return sum;
}

bool Decoder::can_start(const RunningTask& run, const JobList& list) const {
  if (!builder_.has_room_for(run)) return false;
  if (!list.prices.empty() && !builder_.running_jobs().empty()) {
    std::vector<RunningTask> extended_set = builder_.running_jobs();
    const double worth = total_worth(extended_set, list.prices);
    extended_set.push_back(run);
    return total_worth(extended_set, list.prices) > worth;
  }
  const double theta = list.theta;
  if (theta <= 0) return true;
  for (const RunningTask& other : builder_.running_jobs()) {
    double slowdown = 1 + sharing_.excess(run.task, other.task);
    double other_slowdown = 1 + sharing_.excess(other.task, run.task);
    if (sharing_.has_bandwidth()) {
      const double overload =
          sharing_.load(run.task, run.procs) + sharing_.load(other.task, other.procs) - 1;
      if (overload > 0) {
        slowdown = std::max(slowdown, 1 + sharing_.stall(run.task) * overload);
        other_slowdown = std::max(other_slowdown, 1 + sharing_.stall(other.task) * overload);
      }
    }
    if (1 / slowdown + 1 / other_slowdown < theta) return false;
  }
  return true;
}

Placement Decoder::decode(const JobList& list) {
  waiting_jobs_ = list.order;
  builder_.reset();
  for (;;) {
    double next_release = kInfinity;
    std::size_t still_waiting = 0;
    for (const int i : waiting_jobs_) {
      const RunningTask run = builder_.make_run(i, list.procs[i]);
      const bool is_released = instance_.release(i) <= builder_.current_time();
      if (!is_released) next_release = std::min(next_release, instance_.release(i));
      if (is_released && can_start(run, list)) {
        builder_.start(run);
        operations_ += 8 * static_cast<std::int64_t>(builder_.running_jobs().size());
      } else {
        waiting_jobs_[still_waiting] = i;
        ++still_waiting;
      }
    }
    operations_ += 4 * static_cast<std::int64_t>(waiting_jobs_.size());
    waiting_jobs_.resize(still_waiting);
    if (builder_.running_jobs().empty() && waiting_jobs_.empty()) return builder_.placement();
    builder_.advance(next_release);
  }
}

// Runs of `set` from place `committed` on may become larger; `value` is the worth of the set.
Decoder::GreedyStep Decoder::find_best_step(const std::vector<RunningTask>& set,
                                            std::size_t committed, double value,
                                            const std::vector<char>& is_waiting,
                                            const std::vector<double>& prices) {
  double best_density = set.empty() ? -1 : 0;  // a job of no worth is better than none
  int free = builder_.free_procs();
  for (std::size_t k = committed; k < set.size(); ++k) free -= set[k].procs;
  GreedyStep best;
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (!is_waiting[i] || instance_.release(i) > builder_.current_time()) continue;
    std::size_t place = committed;
    while (place < set.size() && set[place].task != i) ++place;
    const int procs_before = place < set.size() ? set[place].procs : 0;
    for (const Choice& c : counts_[i]) {
      if (c.procs <= procs_before) continue;
      if (c.procs - procs_before > free) break;
      std::vector<RunningTask> extended_set = set;
      extended_set.resize(std::max(set.size(), place + 1));
      extended_set[place] = {i, c.procs, c.time};
      operations_ += 4 * static_cast<std::int64_t>(extended_set.size() * extended_set.size());
      if (!sharing_.fits(extended_set)) continue;
      const double gain = total_worth(extended_set, prices) - value;
      if (gain / (c.procs - procs_before) <= best_density) continue;
      best_density = gain / (c.procs - procs_before);
      best = {extended_set[place], place, gain};
    }
  }
  return best;
}

Placement Decoder::decode_greedily(const std::vector<double>& prices) {
  std::vector<char> is_waiting(instance_.jobs(), 1);
  int waiting_jobs = instance_.jobs();
  builder_.reset();
  while (waiting_jobs > 0 || !builder_.running_jobs().empty()) {
    check_interrupt();
    std::vector<RunningTask> set = builder_.running_jobs();
    const std::size_t committed = set.size();
    double value = total_worth(set, prices), next_release = kInfinity;
    for (int i = 0; i < instance_.jobs(); ++i)
      if (is_waiting[i] && instance_.release(i) > builder_.current_time())
        next_release = std::min(next_release, instance_.release(i));
    for (;;) {
      const GreedyStep step = find_best_step(set, committed, value, is_waiting, prices);
      if (step.run.procs == 0) break;
      value += step.gain;
      set.resize(std::max(set.size(), step.place + 1));
      set[step.place] = step.run;
    }
    for (std::size_t k = committed; k < set.size(); ++k) {
      builder_.start(set[k]);
      is_waiting[set[k].task] = 0;
      --waiting_jobs;
    }
    builder_.advance(next_release);
  }
  return builder_.placement();
}

JobList to_list(const Decoder& decoder, const Placement& placement) {
  return {.order = order_by_start(placement), .procs = decoder.fitting_allotment(placement.procs)};
}

Placement replay(const Instance& instance, const Placement& placement) {
  const Schedule schedule = to_schedule(instance, placement);
  const std::vector<int> order = order_by_start(placement);
  std::vector<std::size_t> row(placement.jobs());
  for (std::size_t r = 0; r < schedule.rows(); ++r) row[schedule.task[r]] = r;
  // The jobs that have not ended on each processor, the first of them at the back.
  std::vector<std::vector<int>> queue(instance.machines());
  for (auto job = order.rbegin(); job != order.rend(); ++job)
    for (auto u = schedule.unit_begin[row[*job]]; u < schedule.unit_begin[row[*job] + 1]; ++u)
      queue[schedule.unit[u]].push_back(*job);
  const auto is_first_everywhere = [&](int job) {
    const int* units = schedule.unit.data();
    return std::all_of(units + schedule.unit_begin[row[job]],
                       units + schedule.unit_begin[row[job] + 1],
                       [&](int unit) { return queue[unit].back() == job; });
  };
  ScheduleBuilder builder(instance);
  for (std::vector<int> waiting = order; !waiting.empty() || !builder.running_jobs().empty();) {
    check_interrupt();
    double next_release = kInfinity;
    std::vector<int> still_waiting;
    for (const int i : waiting) {
      const RunningTask run = builder.make_run(i, placement.procs[i]);
      const bool is_released = instance.release(i) <= builder.current_time();
      if (!is_released) next_release = std::min(next_release, instance.release(i));
      if (is_released && is_first_everywhere(i) && builder.has_room_for(run))
        builder.start(run);
      else
        still_waiting.push_back(i);
    }
    waiting = std::move(still_waiting);
    for (const auto& [job, end] : builder.advance(next_release))
      for (auto u = schedule.unit_begin[row[job]]; u < schedule.unit_begin[row[job] + 1]; ++u)
        queue[schedule.unit[u]].pop_back();
  }
  return builder.placement();
}

double makespan_if_constant(const Instance& instance, const Placement& placement) {
  double longest = 0;
  std::vector<double> greatest_factor(placement.jobs(), 1);
  for (int starting = 0; starting < placement.jobs(); ++starting) {  // factors grow at starts alone
    const double time = placement.start[starting];
    std::vector<RunningTask> set;
    for (int i = 0; i < placement.jobs(); ++i)
      if (placement.start[i] <= time && placement.end[i] > time)
        set.push_back({i, placement.procs[i], instance.exact_time(i, placement.procs[i])});
    const std::vector<double> factors = instance.sharing()->factors(set);
    for (std::size_t k = 0; k < set.size(); ++k)
      greatest_factor[set[k].task] = std::max(greatest_factor[set[k].task], factors[k]);
  }
  for (int i = 0; i < placement.jobs(); ++i)
    longest = std::max(longest, placement.start[i] + instance.exact_time(i, placement.procs[i]) *
                                                         greatest_factor[i]);
  return longest;
}

}  // namespace cosched::moldable::list
