// Orders and choices as schedules: each job at its earliest fit.
#pragma once

#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {

// What is free of the processors and of each resource over time.

/// Steps between breakpoints; everything is free at first.  Shares of the machine, as Choice has
/// them.
class Timeline {
 public:
  Timeline(int machines, int measures) : machines_(machines), measures_(measures) { clear(); }

  void clear() {
    time_.assign(1, 0.0);
    free_.assign(measures_, 1.0);
    free_[0] = machines_;
  }

  /// The earliest start >= from of a choice.  O(breakpoints x measures).
  double earliest(const Choice& choice, double from) const {
    std::size_t step = std::upper_bound(time_.begin(), time_.end(), from) - time_.begin() - 1;
    double start = from;
    const std::size_t begun = step;
    for (; step < time_.size() && time_[step] < start + choice.time; ++step)
      if (!fits(step, choice)) start = step + 1 < time_.size() ? time_[step + 1] : time_[step];
    operations_ += static_cast<std::int64_t>(step - begun) + 1;
    return start;
  }

  /// Takes it from `start` on.  O(breakpoints x measures).
  void take(const Choice& choice, double start) {
    const std::size_t first = cut(start), last = cut(start + choice.time);
    for (std::size_t step = first; step < last; ++step) {
      free_[step * measures_] -= choice.procs;
      for (int r = 1; r < measures_; ++r) free_[step * measures_ + r] -= choice.share[r];
    }
    operations_ += static_cast<std::int64_t>(last - first) + 2;
  }

  /// Breakpoints looked at so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  // The step that begins at a moment.
  std::size_t cut(double at) {
    const std::size_t step = std::lower_bound(time_.begin(), time_.end(), at) - time_.begin();
    if (step < time_.size() && time_[step] == at) return step;
    time_.insert(time_.begin() + static_cast<std::ptrdiff_t>(step), at);
    std::vector<double> same(&free_[(step - 1) * measures_],
                             &free_[(step - 1) * measures_] + measures_);
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(step * measures_), same.begin(),
                 same.end());
    return step;
  }

  bool fits(std::size_t step, const Choice& choice) const {
    const double* free = &free_[step * measures_];
    if (choice.procs > free[0]) return false;
    for (int r = 1; r < measures_; ++r)
      if (choice.share[r] > free[r] + kExactTolerance) return false;
    return true;
  }

  int machines_, measures_;
  std::vector<double> time_;  // free_ holds [time_[k], time_[k + 1])
  std::vector<double> free_;  // measures_ a step: processors, then the free part of each resource
  mutable std::int64_t operations_ = 0;
};

/// Order in which jobs are put, predecessors first; starts and the makespan that follow.
struct Decoded {
  std::vector<int> order;
  Chosen chosen;
  std::vector<double> start;
  double makespan = 0;
};

class Decoder {
 public:
  /// `instance` and `choices` must outlive it.
  Decoder(const Instance& instance, const Choices& choices)
      : it_(instance),
        choices_(choices),
        graph_(instance),
        timeline_(instance.machines(), choices.measures()) {}

  /// Sets starts and makespan from order and choices.  O(n breakpoints).
  void decode(Decoded& made) {
    timeline_.clear();
    made.start.assign(it_.jobs(), 0.0);
    made.makespan = 0;
    for (const int i : made.order) {
      double from = it_.release(i);
      for (const int before : graph_->predecessors(i))
        from = std::max(from, made.start[before] + length(made, before));
      const Choice& choice = choices_[i][made.chosen[i]];
      made.start[i] = timeline_.earliest(choice, from);
      timeline_.take(choice, made.start[i]);
      made.makespan = std::max(made.makespan, made.start[i] + choice.time);
    }
    operations_ += it_.jobs();
  }

  /// Right, then left (forward-backward improvement of project scheduling): jobs by falling ends
  /// from the end of the schedule on, then by the starts that this gives.  Without releases never
  /// longer; repeated while it is shorter.
  void justify(Decoded& made) {
    if (it_.has_releases()) return;
    for (;;) {
      // From the end: time runs backwards, successors are predecessors.
      std::vector<int> order(graph_->order().rbegin(), graph_->order().rend());
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return made.start[a] + length(made, a) > made.start[b] + length(made, b);
      });
      timeline_.clear();
      std::vector<double> back(it_.jobs(), 0.0), start(it_.jobs());
      double end = 0;
      for (const int i : order) {
        double from = 0;
        for (const int after : graph_->successors(i))
          from = std::max(from, back[after] + length(made, after));
        const Choice& choice = choices_[i][made.chosen[i]];
        back[i] = timeline_.earliest(choice, from);
        timeline_.take(choice, back[i]);
        end = std::max(end, back[i] + choice.time);
      }
      for (int i = 0; i < it_.jobs(); ++i) start[i] = end - back[i] - length(made, i);
      Decoded next{by_start(*graph_, start), made.chosen, {}, 0};
      decode(next);
      if (!(next.makespan < made.makespan)) return;
      made = std::move(next);
    }
  }

  /// Jobs in the order of their starts.
  static std::vector<int> by_start(const TaskGraph& graph, const std::vector<double>& start) {
    std::vector<int> order(
        graph.order());  // topological: jobs of no length stay behind those before them
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return start[a] < start[b]; });
    return order;
  }

  Placement placement(const Decoded& made) const {
    Placement placement = unplaced(it_.jobs());
    for (int i = 0; i < it_.jobs(); ++i)
      put(placement, i, choices_[i][made.chosen[i]], made.start[i]);
    return placement;
  }

  const TaskGraph& graph() const { return *graph_; }
  std::int64_t operations() const { return operations_ + timeline_.operations(); }

 private:
  double length(const Decoded& made, int i) const { return choices_[i][made.chosen[i]].time; }

  const Instance& it_;
  const Choices& choices_;
  const Precedence graph_;
  Timeline timeline_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::graph
