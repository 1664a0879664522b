#include "cosched/packs/shared/pack_price.hpp"

namespace cosched::packs::shared {

PackPricer::PackPricer(const Instance& instance)
    : instance_(instance), sharing_(*instance.sharing()) {
  for (int i = 0; i < instance.tasks(); ++i) {
    choices_.push_back(choices(sharing_, i, instance.procs(),
                               [&](int q) { return instance.times().measured_time(i, q); }));
    for (int r = 0; r < sharing_.resources(); ++r) {
      double least = kInfinity;
      for (const Choice& c : choices_[i]) least = std::min(least, sharing_.need(r, i, c.procs));
      least_need_.push_back(least);
    }
    double least = kInfinity;
    for (const Choice& c : choices_[i]) least = std::min(least, sharing_.load(i, c.procs));
    least_load_.push_back(least);
  }
}

double PackPricer::lower_bound(const std::vector<int>& tasks) {
  const int count = static_cast<int>(tasks.size()), resources = sharing_.resources();
  for (int r = 0; r < resources; ++r) {
    double sum = 0;
    for (const int i : tasks) sum += least_need_[static_cast<std::size_t>(i) * resources + r];
    if (!leq(sum, sharing_.capacity(r))) return kInfinity;
  }
  // The bound is the least length for which the processors suffice, and so a time of some task.  A
  // bisection would need all times sorted; instead the longest task gets its next faster choice
  // while processors are left.
  long long procs_used = 0;
  std::vector<int>& choice = lower_choice_;
  std::vector<double>& time = lower_time_;
  choice.assign(count, 0);
  time.resize(count);
  for (int k = 0; k < count; ++k) {
    procs_used += choices_[tasks[k]][0].procs;
    time[k] = choices_[tasks[k]][0].time;
  }
  if (procs_used > instance_.procs()) return kInfinity;
  for (;;) {
    const auto k = std::max_element(time.begin(), time.end()) - time.begin();
    const std::vector<Choice>& task_choices = choices_[tasks[k]];
    // The choices up to the first faster one only need less of some resource.
    std::size_t next = choice[k] + 1;
    while (next < task_choices.size() && task_choices[next].time >= time[k]) ++next;
    if (next == task_choices.size()) return time[k];
    procs_used += task_choices[next].procs - task_choices[choice[k]].procs;
    if (procs_used > instance_.procs()) return time[k];
    choice[k] = static_cast<int>(next);
    time[k] = task_choices[next].time;
    poll_.count(4 + count);
  }
}

PackPrice PackPricer::exact_price(const std::vector<int>& tasks, double cutoff,
                                  std::int64_t max_nodes) {
  PackPrice price = quick_price(tasks);
  if (price.lower_bound >= cutoff) {
    price.cost = kInfinity;
    return price;
  }
  load_pack(tasks);
  const int k = static_cast<int>(tasks.size());
  best_cost_ = std::min(cutoff, price.cost);
  branching_order_ = sorted_numbers(k, [&](int a, int b) {
    return choices_of(a)[0].time >
           choices_of(b)[0].time;  // the task that decides the end most comes first
  });
  current_choice_.assign(k, 0);
  best_choices_.clear();
  nodes_ = 0;
  max_nodes_ = max_nodes;
  // branch() recurses once for each task.
  is_cut_ = k > kMaxBranchedTasks;
  if (!is_cut_) branch(0, 0);
  if (!best_choices_.empty()) {
    price.cost = best_cost_;
    price.procs.resize(k);
    for (int a = 0; a < k; ++a) price.procs[a] = choices_of(a)[best_choices_[a]].procs;
  }
  if (!is_cut_) price.lower_bound = std::min(price.cost, best_cost_);
  if (!(price.cost < cutoff)) {
    price.cost = kInfinity;
    if (!is_cut_) price.lower_bound = cutoff;
  }
  return price;
}

PackPrice PackPricer::quick_price(const std::vector<int>& tasks) {
  PackPrice price;
  price.lower_bound = lower_bound(tasks);
  if (price.lower_bound == kInfinity) return price;
  load_pack(tasks);
  std::vector<int> chosen;
  if (!grow_counts(chosen, true)) return price;
  price.cost = evaluate_choices(chosen);
  if (tasks.size() > 1 && sharing_.slows()) {
    // Tries the counts that are best without slow-downs, too, so that a plan which ignores
    // slow-downs is never better.
    std::vector<int> other_choices;
    grow_counts(other_choices, false);
    double cost = evaluate_choices(other_choices);
    shift_procs(other_choices, cost);
    if (cost < price.cost) {
      price.cost = cost;
      chosen = other_choices;
    }
  }
  shift_procs(chosen, price.cost);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    price.procs.push_back(choices_of(static_cast<int>(k))[chosen[k]].procs);
  return price;
}

void PackPricer::load_pack(const std::vector<int>& tasks) {
  tasks_ = tasks;
  const std::size_t k = tasks.size();
  excess_.resize(k * k);
  stall_.resize(k);
  for (std::vector<double>* values : {&time_alone_, &traffic_, &remaining_time_, &factor_since_,
                                      &current_factor_, &expected_end_})
    values->resize(k);
  for (std::size_t a = 0; a < k; ++a) {
    stall_[a] = sharing_.stall(tasks[a]);
    for (std::size_t b = 0; b < k; ++b)
      excess_[a * k + b] = a == b ? 0 : sharing_.excess(tasks[a], tasks[b]);
  }
}

double PackPricer::evaluate_choices(const std::vector<int>& chosen) {
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Choice& choice = choices_of(static_cast<int>(k))[chosen[k]];
    time_alone_[k] = choice.time;
    traffic_[k] = sharing_.load(tasks_[k], choice.procs);
  }
  return compute_last_end();
}

bool PackPricer::can_fit(const std::vector<int>& chosen) const {
  long long procs_used = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    procs_used += choices_of(static_cast<int>(k))[chosen[k]].procs;
  if (procs_used > instance_.procs()) return false;
  for (int r = 0; r < sharing_.resources(); ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k)
      sum += sharing_.need(r, tasks_[k], choices_of(static_cast<int>(k))[chosen[k]].procs);
    if (!leq(sum, sharing_.capacity(r))) return false;
  }
  return true;
}

// The last end of the tasks of the pack, which start together, with time_alone_ seconds and
// traffic_ each.
double PackPricer::compute_last_end() {
  ++evaluations_;
  const std::size_t k = tasks_.size();
  poll_.count(static_cast<std::int64_t>(20 * k * k));
  running_places_.resize(k);
  std::iota(running_places_.begin(), running_places_.end(), 0);
  if (!sharing_.slows()) return *std::max_element(time_alone_.begin(), time_alone_.end());
  for (std::size_t i = 0; i < k; ++i) {
    remaining_time_[i] = time_alone_[i];
    factor_since_[i] = 0;
    current_factor_[i] = slowdown_factor(static_cast<int>(i));
    expected_end_[i] = remaining_time_[i] * current_factor_[i];
  }
  for (;;) {
    double now = kInfinity, last_end = 0;
    for (const int i : running_places_) now = std::min(now, expected_end_[i]);
    const double event = now + kSameEventTolerance * now;
    std::size_t still_running = 0;
    for (const int i : running_places_) {
      if (expected_end_[i] <= event)
        last_end = std::max(last_end, expected_end_[i]);
      else
        running_places_[still_running++] = i;
    }
    running_places_.resize(still_running);
    if (still_running == 0) return last_end;
    if (still_running == 1) {  // the last task runs alone from now on
      const int i = running_places_[0];
      if (current_factor_[i] == 1) return expected_end_[i];
      return now +
             std::max(0.0, remaining_time_[i] - (now - factor_since_[i]) / current_factor_[i]);
    }
    for (const int i : running_places_) {
      const double f = slowdown_factor(i);
      if (f == current_factor_[i]) continue;
      remaining_time_[i] =
          std::max(0.0, remaining_time_[i] - (now - factor_since_[i]) / current_factor_[i]);
      factor_since_[i] = now;
      current_factor_[i] = f;
      expected_end_[i] = now + remaining_time_[i] * f;
    }
  }
}

double PackPricer::slowdown_factor(int i) const {
  const double* e = &excess_[static_cast<std::size_t>(i) * tasks_.size()];
  double pairs = 1, traffic = 0;
  switch (sharing_.rule()) {
    case SlowdownRule::sum:
      for (const int j : running_places_) pairs += e[j];
      break;
    case SlowdownRule::product:
      for (const int j : running_places_) pairs *= 1 + e[j];
      break;
    case SlowdownRule::max:
      for (const int j : running_places_) pairs = std::max(pairs, 1 + e[j]);
      break;
  }
  if (!sharing_.has_bandwidth() || running_places_.size() == 1) return pairs;
  for (const int j : running_places_) traffic += traffic_[j];
  return std::max(pairs, 1 + stall_[i] * std::max(0.0, traffic - 1));
}

// Whether the choices of the tasks up to branching_order_[depth] leave the others their least
// needs.
bool PackPricer::can_fit_needs(int depth) const {
  const int resources = sharing_.resources();
  for (int r = 0; r < resources; ++r) {
    double sum = 0;
    for (int d = 0; d < static_cast<int>(branching_order_.size()); ++d) {
      const int place = branching_order_[d], i = tasks_[place];
      sum += d <= depth ? sharing_.need(r, i, choices_of(place)[current_choice_[place]].procs)
                        : least_need_[static_cast<std::size_t>(i) * resources + r];
    }
    if (!leq(sum, sharing_.capacity(r))) return false;
  }
  return true;
}

// A lower bound on the last end for the choices so far: each later task has its least traffic, and
// is as fast as the `free` processors allow when all other later tasks have the fewest.
double PackPricer::bound_last_end(int depth, int free) {
  for (int d = 0; d < static_cast<int>(branching_order_.size()); ++d) {
    const int place = branching_order_[d];
    if (d <= depth) {
      const Choice& choice = choices_of(place)[current_choice_[place]];
      time_alone_[place] = choice.time;
      traffic_[place] = sharing_.load(tasks_[place], choice.procs);
      continue;
    }
    const int max_procs = free + choices_of(place)[0].procs;
    time_alone_[place] = kInfinity;
    traffic_[place] = least_load_[tasks_[place]];
    if (sharing_.same_on_all_counts())
      time_alone_[place] = choices_of(place)[choice_within(place, max_procs)].time;
    else
      for (const Choice& choice : choices_of(place))
        if (choice.procs <= max_procs)
          time_alone_[place] = std::min(time_alone_[place], choice.time);
  }
  return compute_last_end();
}

// Chooses the count of branching_order_[depth] and of the tasks after it, from the most processors
// down: where needs and traffic are the same on all counts, the task only gets slower on the way.
void PackPricer::branch(int depth, int procs_used) {
  ++nodes_;
  if (nodes_ > max_nodes_) is_cut_ = true;
  if (is_cut_) return;
  const int place = branching_order_[depth];
  int later_procs = 0;  // processors that the tasks after this one need at least
  for (std::size_t d = depth + 1; d < branching_order_.size(); ++d)
    later_procs += choices_of(branching_order_[d])[0].procs;
  const bool is_last = depth + 1 == static_cast<int>(branching_order_.size());
  const bool is_monotone = sharing_.same_on_all_counts();
  for (int c = choice_within(place, instance_.procs() - procs_used - later_procs);
       c >= 0 && !is_cut_; --c) {
    current_choice_[place] = c;
    const Choice& choice = choices_of(place)[c];
    if (is_monotone && choice.time >= best_cost_) return;
    if (!can_fit_needs(depth)) continue;
    const double end =
        bound_last_end(depth, instance_.procs() - procs_used - later_procs - choice.procs);
    if (end < best_cost_) {
      if (is_last) {
        best_cost_ = end;
        best_choices_ = current_choice_;
      } else {
        branch(depth + 1, procs_used + choice.procs);
      }
    }
    if (is_last && is_monotone) return;
  }
}

// Gives each task the fewest processors; where that does not fit and needs differ by count, the
// count that needs least in relation to the capacities.  Returns whether the counts fit.
bool PackPricer::choose_first_counts(std::vector<int>& chosen) const {
  chosen.assign(tasks_.size(), 0);
  if (can_fit(chosen) || sharing_.same_on_all_counts()) return can_fit(chosen);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    double least = kInfinity;
    for (std::size_t c = 0; c < choices_of(static_cast<int>(k)).size(); ++c) {
      double share = 0;
      for (int r = 0; r < sharing_.resources(); ++r)
        if (sharing_.capacity(r) > 0 && sharing_.capacity(r) < kInfinity)
          share += sharing_.need(r, tasks_[k], choices_of(static_cast<int>(k))[c].procs) /
                   sharing_.capacity(r);
      if (share >= least) continue;
      least = share;
      chosen[k] = static_cast<int>(c);
    }
  }
  return can_fit(chosen);
}

// The next choice of a task that is faster and fits; -1: there is none.
int PackPricer::faster_choice(std::vector<int>& chosen, int place) const {
  const std::vector<Choice>& task_choices = choices_of(place);
  const int current = chosen[place];
  int faster = -1;
  for (int c = current + 1; c < static_cast<int>(task_choices.size()) && faster < 0; ++c) {
    chosen[place] = c;
    if (task_choices[c].time < task_choices[current].time && can_fit(chosen)) faster = c;
    if (sharing_.same_on_all_counts())
      break;  // then choices with more processors do not fit either
  }
  chosen[place] = current;
  return faster;
}

// Gives the task that ends last beside all others (or alone, without slow-downs) its next faster
// count, as long as that fits.  Returns false where not even the first counts fit.
bool PackPricer::grow_counts(std::vector<int>& chosen, bool counts_slowdowns) {
  if (!choose_first_counts(chosen)) return false;
  std::vector<char> is_stuck(chosen.size(), 0);
  running_places_.resize(chosen.size());
  for (;;) {
    evaluate_choices(chosen);
    running_places_.resize(chosen.size());
    std::iota(running_places_.begin(), running_places_.end(), 0);
    int longest = -1;
    double latest_end = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const double end =
          time_alone_[k] * (counts_slowdowns ? slowdown_factor(static_cast<int>(k)) : 1);
      if (!is_stuck[k] && end > latest_end) {
        latest_end = end;
        longest = static_cast<int>(k);
      }
    }
    if (longest < 0) return true;
    const int next = faster_choice(chosen, longest);
    if (next < 0)
      is_stuck[longest] = 1;
    else
      chosen[longest] = next;
  }
}

// Moves one task to its next count, and another one to fewer processors where they are short, while
// the pack ends earlier.
void PackPricer::shift_procs(std::vector<int>& chosen, double& cost) {
  const int k = static_cast<int>(chosen.size());
  for (bool is_improved = true; is_improved;) {
    is_improved = false;
    for (int up = 0; up < k && !is_improved; ++up)
      for (int down = -1; down < k && !is_improved; ++down) {
        if (down == up) continue;
        std::vector<int> candidate = chosen;
        ++candidate[up];
        if (candidate[up] >= static_cast<int>(choices_of(up).size())) break;
        if (down >= 0) {
          const int short_of =
              choices_of(up)[candidate[up]].procs - choices_of(up)[chosen[up]].procs;
          candidate[down] = choice_within(down, choices_of(down)[chosen[down]].procs - short_of);
          if (candidate[down] < 0) continue;
        }
        if (!can_fit(candidate)) continue;
        const double new_cost = evaluate_choices(candidate);
        if (!(new_cost < cost)) continue;
        cost = new_cost;
        chosen = std::move(candidate);
        is_improved = true;
      }
  }
}

// The last choice of a task with at most so many processors; -1: there is none.
int PackPricer::choice_within(int place, int procs) const {
  const std::vector<Choice>& task_choices = choices_of(place);
  return static_cast<int>(std::partition_point(task_choices.begin(), task_choices.end(),
                                               [&](const Choice& c) { return c.procs <= procs; }) -
                          task_choices.begin()) -
         1;
}

}  // namespace cosched::packs::shared
