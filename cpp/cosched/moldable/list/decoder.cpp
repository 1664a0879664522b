#include "cosched/moldable/list/decoder.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::list {

void ScheduleBuilder::reset() {
  running_.clear();
  current_time_ = 0;
  free_procs_ = instance_.machines();
  placement_ = empty_placement(instance_.jobs());
}

bool ScheduleBuilder::has_room_for(const Run& run) const {
  if (run.procs > free_procs_) return false;
  const Sharing& sharing = *instance_.sharing();
  for (int r = 0; r < sharing.resources(); ++r) {
    double sum = sharing.need(r, run.task, run.procs);
    for (const Run& other : running_jobs()) sum += sharing.need(r, other.task, other.procs);
    if (!leq(sum, sharing.capacity(r))) return false;
  }
  return true;
}

void ScheduleBuilder::start(const Run& run) {
  running_.start(run, current_time_);
  free_procs_ -= run.procs;
  placement_.procs[run.task] = run.procs;
  placement_.start[run.task] = current_time_;
}

const std::vector<Running::Ended>& ScheduleBuilder::advance(double release) {
  static const std::vector<Running::Ended> kNobody;
  if (release < running_.next_end()) {
    current_time_ = release;
    return kNobody;
  }
  const std::vector<Running::Ended>& ended = running_.finish();
  for (const auto& [job, end] : ended) {
    placement_.end[job] = end;
    free_procs_ += placement_.procs[job];
    current_time_ = std::max(current_time_, end);
  }
  return ended;
}

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
  int found = counts_[i].front().procs;
  for (const Choice& choice : counts_[i])
    if (choice.procs <= q) found = choice.procs;
  return found;
}

Allotment Decoder::fitting_allotment(Allotment procs) const {
  for (std::size_t i = 0; i < procs.size(); ++i)
    procs[i] = nearest_count(static_cast<int>(i), procs[i]);
  return procs;
}

double Decoder::total_worth(const std::vector<Run>& set, const std::vector<double>& prices) const {
  const std::vector<double> factors = sharing_.factors(set);
  double sum = 0;
  for (std::size_t k = 0; k < set.size(); ++k)
    sum += prices[set[k].task] / (set[k].alone * factors[k]);
  return sum;
}

bool Decoder::can_start(const Run& run, const JobList& list) const {
  if (!builder_.has_room_for(run)) return false;
  if (!list.prices.empty() && !builder_.running_jobs().empty()) {
    std::vector<Run> with = builder_.running_jobs();
    const double before = total_worth(with, list.prices);
    with.push_back(run);
    return total_worth(with, list.prices) > before;
  }
  const double theta = list.theta;
  if (theta <= 0) return true;
  for (const Run& other : builder_.running_jobs()) {
    double own = 1 + sharing_.excess(run.task, other.task);
    double others = 1 + sharing_.excess(other.task, run.task);
    if (sharing_.has_bandwidth()) {
      const double over =
          sharing_.load(run.task, run.procs) + sharing_.load(other.task, other.procs) - 1;
      if (over > 0) {
        own = std::max(own, 1 + sharing_.stall(run.task) * over);
        others = std::max(others, 1 + sharing_.stall(other.task) * over);
      }
    }
    if (1 / own + 1 / others < theta) return false;
  }
  return true;
}

Placement Decoder::decode(const JobList& list) {
  waiting_jobs_ = list.order;
  for (builder_.reset();;) {
    double next_release = kInfinity;
    std::size_t kept = 0;
    for (const int i : waiting_jobs_) {
      const Run run = builder_.make_run(i, list.procs[i]);
      const bool late = instance_.release(i) > builder_.current_time();
      if (late) next_release = std::min(next_release, instance_.release(i));
      if (!late && can_start(run, list)) {
        builder_.start(run);
        operations_ += 8 * static_cast<std::int64_t>(builder_.running_jobs().size());
      } else {
        waiting_jobs_[kept++] = i;
      }
    }
    operations_ += 4 * static_cast<std::int64_t>(waiting_jobs_.size());
    waiting_jobs_.resize(kept);
    if (builder_.running_jobs().empty() && waiting_jobs_.empty()) return builder_.placement();
    builder_.advance(next_release);
  }
}

// Of `set`, those from `before` on may become larger; `value`: its worth.
Decoder::GreedyStep Decoder::find_best_step(const std::vector<Run>& set, std::size_t committed,
                                            double value, const std::vector<char>& waits,
                                            const std::vector<double>& prices) {
  double best_density = set.empty() ? -1 : 0;  // rather one of no worth than nobody
  int free = builder_.free_procs();
  for (std::size_t k = committed; k < set.size(); ++k) free -= set[k].procs;
  GreedyStep best;
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (!waits[i] || instance_.release(i) > builder_.current_time()) continue;
    std::size_t at = committed;
    while (at < set.size() && set[at].task != i) ++at;
    const int procs_before = at < set.size() ? set[at].procs : 0;
    for (const Choice& c : counts_[i]) {
      if (c.procs <= procs_before) continue;
      if (c.procs - procs_before > free) break;
      std::vector<Run> extended_set = set;
      extended_set.resize(std::max(set.size(), at + 1));
      extended_set[at] = {i, c.procs, c.time};
      operations_ += 4 * static_cast<std::int64_t>(extended_set.size() * extended_set.size());
      if (!sharing_.fits(extended_set)) continue;
      const double gain = total_worth(extended_set, prices) - value;
      if (gain / (c.procs - procs_before) <= best_density) continue;
      best_density = gain / (c.procs - procs_before);
      best = {extended_set[at], at, gain};
    }
  }
  return best;
}

// What starts now, on top of what runs.
Placement Decoder::decode_greedily(const std::vector<double>& prices) {
  std::vector<char> waits(instance_.jobs(), 1);
  int left = instance_.jobs();
  for (builder_.reset(); left > 0 || !builder_.running_jobs().empty();) {
    check_interrupt();
    std::vector<Run> set = builder_.running_jobs();
    const std::size_t before = set.size();
    double value = total_worth(set, prices), next_release = kInfinity;
    for (int i = 0; i < instance_.jobs(); ++i)
      if (waits[i] && instance_.release(i) > builder_.current_time())
        next_release = std::min(next_release, instance_.release(i));
    for (;;) {
      const GreedyStep step = find_best_step(set, before, value, waits, prices);
      if (step.run.procs == 0) break;
      value += step.gain;
      set.resize(std::max(set.size(), step.place + 1));
      set[step.place] = step.run;
    }
    for (std::size_t k = before; k < set.size(); ++k) {
      builder_.start(set[k]);
      waits[set[k].task] = 0;
      --left;
    }
    builder_.advance(next_release);
  }
  return builder_.placement();
}

JobList to_list(const Decoder& decoder, const Placement& placement) {
  return {order_by_start(placement), decoder.fitting_allotment(placement.procs), 0, {}};
}

Placement replay(const Instance& instance, const Placement& placement) {
  const Schedule schedule = to_schedule(instance, placement);
  const std::vector<int> order = order_by_start(placement);
  std::vector<std::size_t> row(placement.jobs());
  for (std::size_t r = 0; r < schedule.rows(); ++r) row[schedule.task[r]] = r;
  // Of each unit, the jobs that are still to come on it, in order.
  std::vector<std::vector<int>> queue(instance.machines());
  for (auto job = order.rbegin(); job != order.rend(); ++job)
    for (auto u = schedule.unit_begin[row[*job]]; u < schedule.unit_begin[row[*job] + 1]; ++u)
      queue[schedule.unit[u]].push_back(*job);
  const auto first_everywhere = [&](int job) {
    const int* units = schedule.unit.data();
    return std::all_of(units + schedule.unit_begin[row[job]],
                       units + schedule.unit_begin[row[job] + 1],
                       [&](int unit) { return queue[unit].back() == job; });
  };
  ScheduleBuilder making(instance);
  for (std::vector<int> waiting = order; !waiting.empty() || !making.running_jobs().empty();) {
    check_interrupt();
    double next = kInfinity;
    std::vector<int> left;
    for (const int i : waiting) {
      const Run run = making.make_run(i, placement.procs[i]);
      const bool late = instance.release(i) > making.current_time();
      if (late) next = std::min(next, instance.release(i));
      if (!late && first_everywhere(i) && making.has_room_for(run))
        making.start(run);
      else
        left.push_back(i);
    }
    waiting = std::move(left);
    for (const auto& [job, end] : making.advance(next))
      for (auto u = schedule.unit_begin[row[job]]; u < schedule.unit_begin[row[job] + 1]; ++u)
        queue[schedule.unit[u]].pop_back();
  }
  return making.placement();
}

double makespan_if_constant(const Instance& instance, const Placement& placement) {
  double longest = 0;
  std::vector<double> greatest(placement.jobs(), 1);
  for (int at = 0; at < placement.jobs(); ++at) {  // sets grow at starts alone
    std::vector<Run> set;
    for (int i = 0; i < placement.jobs(); ++i)
      if (placement.start[i] <= placement.start[at] && placement.end[i] > placement.start[at])
        set.push_back({i, placement.procs[i], instance.exact_time(i, placement.procs[i])});
    const std::vector<double> factors = instance.sharing()->factors(set);
    for (std::size_t k = 0; k < set.size(); ++k)
      greatest[set[k].task] = std::max(greatest[set[k].task], factors[k]);
  }
  for (int i = 0; i < placement.jobs(); ++i)
    longest = std::max(
        longest, placement.start[i] + instance.exact_time(i, placement.procs[i]) * greatest[i]);
  return longest;
}

}  // namespace cosched::moldable::list
