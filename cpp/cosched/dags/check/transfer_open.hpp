// What is open at a makespan T where transfers cost time, as the check of a TransfersCertificate
// sees it: heads, tails, joins and load heads, worked out in the plainest way, without the solvers'
// code.
#pragma once

#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// What cannot begin before `head` and then takes `time` of one unit.
struct Work {
  double head, time;
};
/// Time until so many units that share a memory have done all of it, at the earliest.
inline double all_done(std::vector<Work> work, int units) {
  std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) { return a.head > b.head; });
  double sum = 0, most = 0;
  for (const auto& [head, time] : work) most = std::max(most, head + (sum += time / units));
  return most;
}

class TransferOpen {
 public:
  TransferOpen(const Instance& instance, double makespan)
      : instance_(instance),
        types_(instance.types()),
        makespan_(makespan),
        head_(instance.tasks(), std::vector<double>(types_, 0.0)),
        tail_(head_),
        open_(instance.tasks(), std::vector<char>(types_)) {
    for (int task = 0; task < instance.tasks(); ++task) {
      for (int type = 0; type < types_; ++type) open_[task][type] = instance.can_run(task, type);
      for (const int next : instance.graph().successors(task))
        edges_.push_back({task, next, static_cast<int>(edges_.size())});
    }
    joint_.assign(edges_.size() * types_ * types_, 1);
    far_.assign(edges_.size() * types_, 0);
    before_.resize(instance.tasks());
    after_.resize(instance.tasks());
    for (const Joint& edge : edges_) {
      before_[edge.to].push_back(edge);
      after_[edge.from].push_back(edge);
    }
    if (!instance.transfers().given()) return;
    count_homes();
    for (const Joint& edge : edges_)
      for (int type = 0; type < types_; ++type)
        far_[edge.edge * 1UL * types_ + type] = home_[type] > 0 && several_[type];
  }

  struct Joint {
    int from, to, edge;
  };
  const std::vector<Joint>& edges() const { return edges_; }
  const std::vector<Joint>& before(int task) const { return before_[task]; }
  const std::vector<Joint>& after(int task) const { return after_[task]; }

  const Instance& instance() const { return instance_; }
  int types() const { return types_; }
  double makespan() const { return makespan_; }
  /// T and the slack of a proof.
  double limit() const { return makespan_ * (1 + proof::kProofSlack); }
  double time(int task, int type) const { return instance_.time(task, type); }
  double head(int task, int type) const { return head_[task][type]; }
  double tail(int task, int type) const { return tail_[task][type]; }
  bool open(int task, int type) const { return open_[task][type]; }
  /// Units of the type that may share a memory; 0: with other types too, or there are no transfers.
  int home(int type) const { return home_.empty() ? 0 : home_[type]; }

  /// Whether a way is open, whatever the types of its ends: in one memory or on two types; in two
  /// memories of one type.
  bool joint(int edge, int q, int r) const {
    return joint_[(edge * 1UL * types_ + q) * types_ + r];
  }
  bool far(int edge, int type) const { return far_[edge * 1UL * types_ + type]; }
  /// Whether it is, and the types of its ends too.
  bool near_allowed(const Joint& edge, int q, int r) const {
    return joint(edge.edge, q, r) && open_[edge.from][q] && open_[edge.to][r];
  }
  bool far_allowed(const Joint& edge, int q, int r) const {
    return q == r && far(edge.edge, r) && open_[edge.from][r] && open_[edge.to][r];
  }
  bool allowed(const Joint& edge, int q, int r) const {
    return near_allowed(edge, q, r) || far_allowed(edge, q, r);
  }
  double near_cost(const Joint& edge, int q, int r) const {
    const Transfers& transfers = instance_.transfers();
    return transfers.given() ? transfers.type_cost(edge.edge, q, r) : 0;
  }
  double far_cost(const Joint& edge, int q, int r) const {
    return instance_.transfers().remote(edge.edge, q, r);
  }
  /// The least over ways that are allowed.
  double cost(const Joint& edge, int q, int r) const {
    return near_allowed(edge, q, r) ? near_cost(edge, q, r) : far_cost(edge, q, r);
  }

  /// Closes a type of a task, or a way of an edge.
  void close(const proof::TransferGuess& what) {
    const auto& [of_edge, item, choice] = what;
    if (!of_edge)
      open_[item][choice] = 0;
    else if (choice < types_ * types_)
      joint_[item * 1UL * types_ * types_ + choice] = 0;
    else
      far_[item * 1UL * types_ + choice - types_ * types_] = 0;
  }

  /// Closes all others of its task or edge.
  void keep_only(const proof::TransferGuess& what) {
    const int choices = what.of_edge ? types_ * (types_ + 1) : types_;
    for (int other = 0; other < choices; ++other)
      if (other != what.choice) close({what.of_edge, what.item, other});
  }

  /// Raises a head (tail).  True: it rises.
  bool lift(int task, int type, double bound, bool backward) {
    double& now = (backward ? tail_ : head_)[task][type];
    const bool rises = bound > now + proof::kProofSlack * makespan_;
    now = std::max(now, bound);
    return rises;
  }

  /// Heads, tails and what does not fit, until nothing changes.  False: a task can run nowhere in
  /// time.
  bool prune() {
    for (bool changed = true; changed;) {
      check_interrupt();
      changed = false;
      all_starts();
      if (!close_types(changed)) return false;
      for (const Joint& edge : edges_) changed = close_ways(edge) || changed;
    }
    return true;
  }

  /// Heads and tails of all tasks by the loads of their ancestors and descendants.
  void raise(const std::vector<double>& weights) {
    const int n = instance_.tasks();
    Least least{std::vector<double>(n, kInfinity), std::vector<double>(n, kInfinity), {}};
    for (int task = 0; task < n; ++task)
      for (int type = 0; type < types_; ++type)
        if (open_[task][type]) {
          const double p = time(task, type);
          least.time[task] = std::min(least.time[task], p);
          least.work[task] = std::min(least.work[task], weights[type] * p / instance_.units(type));
        }
    for (const bool backward : {false, true}) {
      least.head.clear();
      for (int task = 0; task < n; ++task) least.head.push_back(earliest(task, backward));
      std::vector<int> order = instance_.graph().order();
      if (backward) std::reverse(order.begin(), order.end());
      for (const int task : order) {
        const double found = raised(task, least, backward);
        for (double& head : (backward ? tail_ : head_)[task]) head = std::max(head, found);
        least.head[task] = earliest(task, backward);
      }
    }
  }

 private:
  // What one predecessor (successor, if backward) lets through to a task on a type.
  struct Arrival {
    double least;  // from anywhere
    double apart;  // from another memory
    Work home;     // in the same
  };

  // Units of each type that may share a memory, 0: with other types too.
  void count_homes() {
    home_.assign(types_, 0);
    several_.assign(types_, 0);
    const Memories& memories = instance_.transfers().links().memories;
    if (memories.kind != Memories::Kind::given) {
      for (int type = 0; type < types_; ++type) {
        const bool shared = type == 0 && memories.kind == Memories::Kind::host;
        home_[type] = shared ? instance_.units(type) : 1;
        several_[type] = !shared && instance_.units(type) > 1;
      }
      return;
    }
    std::map<std::pair<int, int>, int> count;  // of (type, memory)
    std::map<int, int> of_memory;
    std::size_t unit = 0;
    for (int type = 0; type < types_; ++type)
      for (int k = 0; k < instance_.units(type); ++k, ++unit) {
        ++count[{type, memories.of_unit[unit]}];
        ++of_memory[memories.of_unit[unit]];
      }
    std::vector<char> mixed(types_, 0);
    for (const auto& [key, units] : count) {
      const auto& [type, memory] = key;
      if (of_memory[memory] > units) mixed[type] = 1;
      if (units < instance_.units(type)) several_[type] = 1;
      home_[type] = std::max(home_[type], units);
    }
    for (int type = 0; type < types_; ++type)
      if (mixed[type]) home_[type] = 0;
  }

  Arrival arrive(const Joint& edge, int type, bool backward) const {
    const auto& bound = backward ? tail_ : head_;
    const int other = backward ? edge.to : edge.from;
    Arrival arrival{kInfinity, kInfinity, {kInfinity, 0}};
    for (int its = 0; its < types_; ++its) {
      const int q = backward ? type : its, r = backward ? its : type;
      if (!allowed(edge, q, r)) continue;
      const double end = bound[other][its] + time(other, its);
      arrival.least = std::min(arrival.least, end + cost(edge, q, r));
      if (!instance_.transfers().given()) continue;
      if (q != r || far_allowed(edge, q, r))
        arrival.apart = std::min(arrival.apart, end + far_cost(edge, q, r));
      if (q == r && near_allowed(edge, q, r)) arrival.home = {bound[other][its], time(other, its)};
    }
    return arrival;
  }

  // When all have arrived, if the best of them stay at home: the first so many by falling `apart`.
  static double least_join(std::vector<Arrival> arrivals, int units) {
    std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
      return std::tie(a.apart, a.home.head, a.home.time) >
             std::tie(b.apart, b.home.head, b.home.time);
    });
    struct Join {
      double home, next;  // all that stay are done; the first of the others is there
    };
    const auto join = [&](std::size_t stay) {
      std::vector<Work> work;
      for (std::size_t k = 0; k < stay; ++k) work.push_back(arrivals[k].home);
      const double next = stay < arrivals.size() ? arrivals[stay].apart : 0;
      return Join{all_done(std::move(work), units), next};
    };
    std::size_t low = 0, high = arrivals.size();  // the first count where home takes longer
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const Join found = join(middle);
      if (found.home >= found.next)
        high = middle;
      else
        low = middle + 1;
    }
    const auto longest = [&](std::size_t stay) {
      const Join found = join(stay);
      return std::max(found.home, found.next);
    };
    return low > 0 ? std::min(longest(low), longest(low - 1)) : longest(low);
  }

  // Head of a task on a type (tail, if backward).
  double start(int task, int type, bool backward) const {
    double best = (backward ? tail_ : head_)[task][type];
    const bool joins = home(type) > 0;
    std::vector<Arrival> arrivals;
    for (const Joint& edge : backward ? after_[task] : before_[task]) {
      const Arrival found = arrive(edge, type, backward);
      best = std::max(best, found.least);
      if (joins) arrivals.push_back(found);
    }
    if (!joins || best == kInfinity) return best;
    return std::max(best, least_join(std::move(arrivals), home(type)));
  }

  void all_starts() {
    const auto& order = instance_.graph().order();
    for (const int task : order)
      for (int type = 0; type < types_; ++type)
        if (open_[task][type]) head_[task][type] = start(task, type, false);
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      for (int type = 0; type < types_; ++type)
        if (open_[*task][type]) tail_[*task][type] = start(*task, type, true);
  }

  // False: a task can run nowhere in time.
  bool close_types(bool& changed) {
    for (int task = 0; task < instance_.tasks(); ++task) {
      bool left = false;
      for (int type = 0; type < types_; ++type) {
        if (!open_[task][type]) continue;
        if (head_[task][type] + time(task, type) + tail_[task][type] <= limit()) {
          left = true;
          continue;
        }
        open_[task][type] = 0;
        changed = true;
      }
      if (!left) return false;
    }
    return true;
  }

  // Ways of an edge that take too long.  True: one was open.
  bool close_ways(const Joint& edge) {
    bool changed = false;
    const auto close_unless = [&](char& way, bool fits) {
      changed = changed || (way && !fits);
      way = way && fits;
    };
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        const double others =
            head_[edge.from][q] + time(edge.from, q) + time(edge.to, r) + tail_[edge.to][r];
        close_unless(joint_[(edge.edge * 1UL * types_ + q) * types_ + r],
                     near_allowed(edge, q, r) && others + near_cost(edge, q, r) <= limit());
        if (q == r)
          close_unless(far_[edge.edge * 1UL * types_ + r],
                       far_allowed(edge, q, r) && others + far_cost(edge, q, r) <= limit());
      }
    return changed;
  }

  double earliest(int task, bool backward) const {
    double least = kInfinity;
    for (int type = 0; type < types_; ++type)
      if (open_[task][type]) least = std::min(least, (backward ? tail_ : head_)[task][type]);
    return least;
  }

  // Of each task over its open types; the work is that of a load.
  struct Least {
    std::vector<double> time, work, head;
  };

  // Head (tail) of a task by its predecessors, and by the loads of its ancestors.
  double raised(int task, const Least& least, bool backward) const {
    const auto before = [&](int of) {
      return backward ? instance_.graph().successors(of) : instance_.graph().predecessors(of);
    };
    double path = 0;
    for (const int other : before(task))
      path = std::max(path, least.head[other] + least.time[other]);
    std::vector<char> seen(instance_.tasks(), 0);
    std::vector<int> ancestors{task};
    std::vector<Work> loads;
    for (std::size_t k = 0; k < ancestors.size(); ++k)
      for (const int other : before(ancestors[k])) {
        if (seen[other]) continue;
        seen[other] = 1;
        ancestors.push_back(other);
        loads.push_back({least.head[other], least.work[other]});
      }
    return std::max(path, all_done(std::move(loads), 1));
  }

  const Instance& instance_;
  int types_;
  double makespan_;
  std::vector<std::vector<double>> head_, tail_;
  std::vector<std::vector<char>> open_;
  std::vector<Joint> edges_;
  std::vector<char> joint_, far_;
  std::vector<std::vector<Joint>> before_, after_;
  std::vector<int> home_;  // empty: no transfers
  std::vector<char> several_;
};

}  // namespace cosched::dags::check
