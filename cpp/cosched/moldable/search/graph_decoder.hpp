// Jobs with precedence or resources: orders and choices as schedules, each job at its earliest fit.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Order in which jobs are put, predecessors first; starts and the makespan that follow.
struct Decoded {
  std::vector<int> order;
  graph::Chosen chosen;
  std::vector<double> start;
  double makespan = 0;
};

class GraphDecoder {
 public:
  /// `instance` and `choices` must outlive it.
  GraphDecoder(const Instance& instance, const graph::Choices& choices)
      : it_(instance),
        choices_(choices),
        graph_(instance),
        profile_(instance.machines(), choices.measures() - 1) {}

  /// Sets starts and makespan from order and choices.  O(n breakpoints).
  void decode(Decoded& made) {
    const auto release = [&](int i) { return it_.release(i); };
    made.makespan = put(
        made, made.order, release, [&](int i) { return graph_->predecessors(i); }, made.start);
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
      std::vector<double> back, start(it_.jobs());
      const double end = put(
          made, order, [](int) { return 0.0; }, [&](int i) { return graph_->successors(i); }, back);
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
      graph::put(placement, i, choices_[i][made.chosen[i]], made.start[i]);
    return placement;
  }

  const TaskGraph& graph() const { return *graph_; }
  std::int64_t operations() const { return operations_ + profile_.operations(); }

 private:
  // Starts of the jobs in this order, each after those that `before` names; the last end.
  template <class ReleaseOf, class BeforeOf>
  double put(const Decoded& made, const std::vector<int>& order, ReleaseOf release,
             BeforeOf before_of, std::vector<double>& start) {
    double last = 0;
    start.assign(it_.jobs(), 0.0);
    profile_.put_in_order(
        order,
        [&](int i) {
          double from = release(i);
          for (const int before : before_of(i))
            from = std::max(from, start[before] + length(made, before));
          return from;
        },
        [&](int i) {
          const graph::Choice& choice = choices_[i][made.chosen[i]];
          return std::pair(Need{choice.procs, choice.share.data() + 1}, choice.time);
        },
        [&](int i, double at) {
          start[i] = at;
          last = std::max(last, at + length(made, i));
        });
    return last;
  }

  double length(const Decoded& made, int i) const { return choices_[i][made.chosen[i]].time; }

  const Instance& it_;
  const graph::Choices& choices_;
  const graph::Precedence graph_;
  FreeProfile profile_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
