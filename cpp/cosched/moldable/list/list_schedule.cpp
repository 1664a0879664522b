#include "cosched/moldable/list/list_schedule.hpp"

#include <map>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::list {
namespace {

constexpr int kStarted = std::numeric_limits<int>::max();

Choice fastest_choice(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).back();
  const int q = instance.used_procs(i, instance.machines());
  return {q, instance.time(i, q)};
}

Choice narrowest_choice(const Instance& instance, int i) {
  if (instance.sharing() != nullptr) return fitting_counts(instance, i).front();
  return {instance.fewest_procs(i), instance.time(i, instance.fewest_procs(i))};
}

std::vector<int> candidate_counts(int most) {
  std::vector<int> counts;
  for (int q = 1; q < most; q = std::max(q + 1, static_cast<int>(q * 1.05))) counts.push_back(q);
  counts.push_back(most);
  return counts;
}

// Idle processors by the time from which they are.
class IdleTimes {
 public:
  explicit IdleTimes(int machines) { procs_by_time_[0] = machines; }

  auto begin() const { return procs_by_time_.begin(); }

  void occupy(int procs, double until) {
    for (int missing = procs; missing > 0;) {
      const auto first = procs_by_time_.begin();
      const int taken = std::min(missing, first->second);
      first->second -= taken;
      missing -= taken;
      if (first->second == 0) procs_by_time_.erase(first);
    }
    procs_by_time_[until] += procs;
  }

 private:
  std::map<double, int> procs_by_time_;
};

}  // namespace

void ListScheduler::build_tree(const std::vector<int>& procs) {
  const int n = static_cast<int>(procs.size());
  leaves_ = 1;
  while (leaves_ < n) leaves_ *= 2;
  least_procs_.assign(2 * static_cast<std::size_t>(leaves_), kStarted);
  std::copy(procs.begin(), procs.end(), least_procs_.begin() + leaves_);
  for (int node = leaves_ - 1; node >= 1; --node) least_procs_[node] = least_procs_below(node);
}

int ListScheduler::least_procs_below(int node) const {
  const int left = 2 * node, right = left + 1;
  return std::min(least_procs_[left], least_procs_[right]);
}

int ListScheduler::find_first_fit(int idle) const {
  if (least_procs_[1] > idle) return -1;
  int node = 1;
  while (node < leaves_) {
    const int left = 2 * node;
    node = least_procs_[left] <= idle ? left : left + 1;
  }
  return node - leaves_;
}

void ListScheduler::remove(int item) {
  int node = leaves_ + item;
  least_procs_[node] = kStarted;
  while (node > 1) {
    node /= 2;
    const int value = least_procs_below(node);
    if (value == least_procs_[node]) break;
    least_procs_[node] = value;
  }
}

void ListScheduler::push_idle(double time, int procs) {
  idle_heap_.push_back({time, procs});
  std::push_heap(idle_heap_.begin(), idle_heap_.end());
}

ListScheduler::IdleProcessors ListScheduler::pop_idle() {
  std::pop_heap(idle_heap_.begin(), idle_heap_.end());
  const IdleProcessors top = idle_heap_.back();
  idle_heap_.pop_back();
  return top;
}

void ListScheduler::schedule(Rule rule, const std::vector<int>& procs,
                             const std::vector<double>& length, std::vector<double>& start,
                             const std::vector<double>& free_times) {
  start.resize(procs.size());
  idle_heap_.clear();
  if (free_times.empty()) push_idle(0, machines_);
  for (const double when : free_times) push_idle(when, 1);
  if (rule == Rule::list)
    schedule_by_list(procs, length, start);
  else
    schedule_by_append(procs, length, start);
}

void ListScheduler::schedule_by_list(const std::vector<int>& procs,
                                     const std::vector<double>& length,
                                     std::vector<double>& start) {
  build_tree(procs);
  int idle = 0;
  Poll poll;
  for (std::size_t waiting = procs.size(); waiting > 0;) {
    require_progress(!idle_heap_.empty(), "list schedule");
    const double now = idle_heap_.front().time;
    while (!idle_heap_.empty() && idle_heap_.front().time <= now) idle += pop_idle().procs;
    for (int item; idle > 0 && (item = find_first_fit(idle)) >= 0; --waiting) {
      start[item] = now;
      idle -= procs[item];
      remove(item);
      push_idle(now + length[item], procs[item]);
    }
    poll.count(100);
  }
}

void ListScheduler::schedule_by_append(const std::vector<int>& procs,
                                       const std::vector<double>& length,
                                       std::vector<double>& start) {
  for (std::size_t k = 0; k < procs.size(); ++k) {
    int missing = procs[k];
    while (missing > 0) {
      const IdleProcessors next = pop_idle();
      start[k] = next.time;
      if (next.procs > missing) push_idle(next.time, next.procs - missing);
      missing -= std::min(next.procs, missing);
    }
    push_idle(start[k] + length[k], procs[k]);
    if (k % 1024 == 0) check_interrupt();
  }
}

Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, Rule rule) {
  instance.require_no_edges("a list of jobs");
  if (instance.sharing() != nullptr) {
    Decoder decoder(instance);
    return decoder.decode({order, decoder.fitting_allotment(procs), 0, {}});
  }
  const std::size_t n = order.size();
  std::vector<int> counts(n);
  std::vector<double> length(n), start;
  for (std::size_t k = 0; k < n; ++k) {
    counts[k] = instance.used_procs(order[k], procs[order[k]]);
    length[k] = instance.time(order[k], counts[k]);
  }
  ListScheduler(instance.machines()).schedule(rule, counts, length, start);
  Placement placement = empty_placement(instance.jobs());
  for (std::size_t k = 0; k < n; ++k) place(instance, placement, order[k], counts[k], start[k]);
  return placement;
}

Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  instance.require_no_edges("gang");
  std::vector<Choice> chosen;
  for (int i = 0; i < instance.jobs(); ++i) chosen.push_back(fastest_choice(instance, i));
  Placement placement = empty_placement(instance.jobs());
  double now = 0;
  for (const int i : order_jobs_by(instance.jobs(),
                                   [&](int i) { return -instance.weight(i) / chosen[i].time; })) {
    placement.procs[i] = chosen[i].procs;
    placement.start[i] = now;
    placement.end[i] = now += chosen[i].time;
  }
  return placement;
}

Placement sequential(const Instance& instance) {
  instance.require_no_releases("sequential");
  Allotment procs;
  std::vector<double> time;
  for (int i = 0; i < instance.jobs(); ++i) {
    const Choice chosen = narrowest_choice(instance, i);
    procs.push_back(chosen.procs);
    time.push_back(chosen.time);
  }
  return list_schedule(instance, procs,
                       order_jobs_by(instance.jobs(), [&](int i) { return -time[i]; }));
}

std::vector<int> order_by_density(const Instance& instance) {
  return order_jobs_by(instance.jobs(),
                       [&](int i) { return -instance.weight(i) / instance.least_work(i); });
}

std::vector<int> order_by_least_work(const Instance& instance) {
  return order_jobs_by(instance.jobs(), [&](int i) { return instance.least_work(i); });
}

Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor) {
  const int m = instance.machines();
  const std::vector<int> counts = candidate_counts(instance.useful_machines());
  IdleTimes idle(m);
  Placement placement = empty_placement(instance.jobs());
  double later = std::accumulate(instance.weights().begin(), instance.weights().end(), 0.0);
  int since_check = 0;
  for (const int i : order) {
    const double weight = instance.weight(i), least_time = instance.least_time(i);
    later = std::max(0.0, later - weight);
    const double area_price = factor * later / m;
    double least = kInfinity, from = 0, area_cost = 0;
    int chosen = 0;
    auto at = idle.begin();
    int reached = at->second;
    for (const int q : counts) {
      while (reached < q) reached += (++at)->second;
      // Idle times only grow, and so does work under property (2).
      if (weight * (at->first + least_time) + area_cost >= least) break;
      const double t = instance.time(i, q);
      if (t == kInfinity) continue;
      const double cost = weight * (at->first + t) + area_price * (q * t);
      if (instance.has_monotone_work()) area_cost = area_price * (q * t);
      if (cost < least) {
        least = cost;
        chosen = q;
        from = at->first;
      }
    }
    place(instance, placement, i, chosen, from);
    idle.occupy(placement.procs[i], placement.end[i]);
    if (++since_check % 256 == 0) check_interrupt();
  }
  return placement;
}

}  // namespace cosched::moldable::list
