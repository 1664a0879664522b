// Which pairs (task, type) are still open at a guess T of the makespan: what both kinds of windows
// (time_windows.hpp, transfer_windows.hpp) have in common.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

/// A task on a type.
struct Pair {
  int task, type;
};

class OpenTypes {
 public:
  /// All pairs of finite time.
  OpenTypes(const Instance& instance, double makespan)
      : instance_(&instance),
        makespan_(makespan),
        open_(instance.times().size()),
        only_type_(instance.tasks()) {
    for (int task = 0; task < instance.tasks(); ++task) {
      for (int type = 0; type < instance.types(); ++type)
        open_[pair(task, type)] = instance.can_run(task, type);
      refresh(task);
      undecided_ += only_type_[task] < 0;
    }
  }

  const Instance& instance() const { return *instance_; }
  double makespan() const { return makespan_; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// (n, Q): 1 where a type is the only one of a task, 0 everywhere else.
  Table decided() const {
    Table share(instance_->tasks(), instance_->types());
    for (int task = 0; task < instance_->tasks(); ++task)
      if (only_type_[task] >= 0) share(task, only_type_[task]) = 1;
    return share;
  }

 protected:
  /// What is open at one makespan is open at a shorter one, before anything is pruned.
  void change_makespan(double makespan) { makespan_ = makespan; }
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * instance_->types() + type;
  }
  /// Whether each type of a task is open.
  const char* open_row(int task) const { return open_.data() + pair(task, 0); }

  /// False: it was closed before.
  bool close_type(int task, int type) {
    if (!open(task, type)) return false;
    const bool undecided = only_type_[task] < 0;
    open_[pair(task, type)] = 0;
    refresh(task);
    undecided_ -= undecided && only_type_[task] >= 0;
    return true;
  }

  /// Takes that back.
  void open_type(int task, int type) {
    const bool decided = only_type_[task] >= 0;  // a task without a type counts as decided
    open_[pair(task, type)] = 1;
    refresh(task);
    undecided_ += decided;
  }

 private:
  void refresh(int task) {
    int count = 0;
    for (int type = 0; type < instance_->types(); ++type)
      if (open(task, type)) {
        only_type_[task] = type;
        ++count;
      }
    if (count != 1) only_type_[task] = -1;
  }

  const Instance* instance_;
  double makespan_;
  std::vector<char> open_;
  std::vector<int> only_type_;
  int undecided_ = 0;
};

// Load heads: when a task can start at the earliest because of all that its ancestors have to do.
//
// With weights w >= 0 of the types, sum 1, a schedule of at most T spends w_q / m_q of each second
// that a unit of type q works: at most one second a second.  So those ancestors of a task that
// start at h or later need, after h, at least the sum over them of (min over open q of w_q p_jq /
// m_q).

/// What cannot begin before `head` and then takes `work`.
struct Load {
  double head, work;
};

/// Time until all are done one after the other; sorts them by falling heads.
inline double all_done(std::vector<Load>& loads) {
  std::sort(loads.begin(), loads.end(), [](const Load& a, const Load& b) {
    return a.head != b.head ? a.head > b.head : a.work > b.work;
  });
  double sum = 0, most = 0;
  for (const Load& load : loads) most = std::max(most, load.head + (sum += load.work));
  return most;
}

/// Finds the load heads of one task after the other; owns what that needs of memory.
class LoadHeads {
 public:
  explicit LoadHeads(const TaskGraph& graph) : graph_(&graph), seen_(graph.tasks(), 0) {}

  /// The best that the ancestors (descendants, if backward) of the task give.  O(n log n + e).
  double of(int task, const std::vector<double>& work, const std::vector<double>& head,
            bool backward) {
    ancestors_.clear();
    stack_.assign(1, task);
    ++stamp_;
    std::int64_t scanned = 0;
    while (!stack_.empty()) {
      const TaskGraph::Range next = before(stack_.back(), backward);
      stack_.pop_back();
      scanned += next.size();
      for (const int other : next) {
        if (seen_[other] == stamp_) continue;
        seen_[other] = stamp_;
        stack_.push_back(other);
        if (work[other] > 0) ancestors_.push_back({head[other], work[other]});
      }
    }
    steps_ += 2 * scanned + 40 * static_cast<std::int64_t>(ancestors_.size());
    return all_done(ancestors_);
  }

  TaskGraph::Range before(int task, bool backward) const {
    return backward ? graph_->successors(task) : graph_->predecessors(task);
  }
  /// Of about a nanosecond, so far.
  std::int64_t steps() const { return steps_; }

 private:
  const TaskGraph* graph_;
  std::vector<std::int64_t> seen_;
  std::vector<int> stack_;
  std::vector<Load> ancestors_;
  std::int64_t stamp_ = 0;
  std::int64_t steps_ = 0;
};

/// Of each task: min over open q of w_q p_jq / m_q.
inline std::vector<double> least_work(const OpenTypes& open, const std::vector<double>& weights) {
  const Instance& instance = open.instance();
  std::vector<double> work(instance.tasks(), kInfinity);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (open.open(task, type))
        work[task] =
            std::min(work[task], weights[type] * instance.time(task, type) / instance.units(type));
  return work;
}

/// The weights that a refuter tries: each type alone if asked for (or if it is the only one), and
/// those of the loads in LP*.
inline std::vector<std::vector<double>> load_mixtures(std::vector<double> loads, bool each_type) {
  const std::size_t types = loads.size();
  std::vector<std::vector<double>> mixtures;
  for (std::size_t type = 0; type < types && (each_type || types == 1); ++type) {
    mixtures.emplace_back(types, 0.0);
    mixtures.back()[type] = 1;
  }
  double sum = 0;
  for (const double load : loads) sum += load;
  if (types > 1 && sum > 1e-6) {
    for (double& load : loads) load /= sum;
    mixtures.push_back(std::move(loads));
  }
  return mixtures;
}

/// Raises heads and tails by each of the mixtures, and prunes after each; where there is
/// `each_type` all of that twice.  Appends a stage for each that raised something.  True: nothing
/// is left.
template <class Windows, class Stage, class Prune>
bool raise_heads(Windows& windows, const std::vector<std::vector<double>>& mixtures, bool each_type,
                 std::vector<Stage>& stages, const Prune& prune) {
  for (int repeat = 0; repeat < (each_type ? 2 : 1); ++repeat) {
    bool any = false;
    for (const std::vector<double>& mixture : mixtures) {
      const bool heads = windows.raise(mixture, false), tails = windows.raise(mixture, true);
      if (!heads && !tails) continue;
      stages.emplace_back().raise = mixture;
      if (!prune(windows)) return true;
      any = true;
    }
    if (!any) break;
  }
  return false;
}

}  // namespace cosched::dags::proof
