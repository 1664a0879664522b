// Jobs with precedence or resources: orders and choices as schedules, each job at its earliest fit.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/search/search_state.hpp"

namespace cosched::moldable::search {

/// Order in which jobs are put, predecessors first; starts and the makespan that follow.
struct DecodedSchedule {
  std::vector<int> order;
  graph::ChoiceNumbers choice_numbers;
  std::vector<double> starts;
  double makespan = 0;
};

class GraphDecoder {
 public:
  /// `instance` and `choices` must outlive it.
  GraphDecoder(const Instance& instance, const graph::JobChoices& choices)
      : instance_(instance),
        choices_(choices),
        precedence_(instance),
        profile_(instance.machines(), choices.measures() - 1) {}

  /// Sets starts and makespan from order and choices.  O(n breakpoints).
  void decode(DecodedSchedule& made) {
    const auto release = [&](int i) { return instance_.release(i); };
    made.makespan = decode_order(
        made, made.order, release, [&](int i) { return precedence_->predecessors(i); },
        made.starts);
    operations_ += instance_.jobs();
  }

  /// Right, then left (forward-backward improvement of project scheduling): jobs by falling ends
  /// from the end of the schedule on, then by the starts that this gives.  Without releases never
  /// longer; repeated while it is shorter.
  void justify(DecodedSchedule& made) {
    if (instance_.has_releases()) return;
    for (;;) {
      // From the end: time runs backwards, successors are predecessors.
      std::vector<int> order(precedence_->order().rbegin(), precedence_->order().rend());
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return made.starts[a] + length(made, a) > made.starts[b] + length(made, b);
      });
      std::vector<double> back, start(instance_.jobs());
      const double end = decode_order(
          made, order, [](int) { return 0.0; }, [&](int i) { return precedence_->successors(i); },
          back);
      for (int i = 0; i < instance_.jobs(); ++i) start[i] = end - back[i] - length(made, i);
      DecodedSchedule next{order_by_start(*precedence_, start), made.choice_numbers, {}, 0};
      decode(next);
      if (!(next.makespan < made.makespan)) return;
      made = std::move(next);
    }
  }

  /// Jobs in the order of their starts.
  static std::vector<int> order_by_start(const TaskGraph& graph, const std::vector<double>& start) {
    std::vector<int> order(
        graph.order());  // topological: jobs of no length stay behind those before them
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return start[a] < start[b]; });
    return order;
  }

  Placement placement(const DecodedSchedule& made) const {
    Placement placement = empty_placement(instance_.jobs());
    for (int i = 0; i < instance_.jobs(); ++i)
      graph::place_choice(placement, i, choices_[i][made.choice_numbers[i]], made.starts[i]);
    return placement;
  }

  const TaskGraph& graph() const { return *precedence_; }
  std::int64_t operations() const { return operations_ + profile_.operations(); }

 private:
  // Starts of the jobs in this order, each after those that `before` names; the last end.
  template <class ReleaseOf, class BeforeOf>
  double decode_order(const DecodedSchedule& made, const std::vector<int>& order, ReleaseOf release,
                      BeforeOf before_of, std::vector<double>& start) {
    double last = 0;
    start.assign(instance_.jobs(), 0.0);
    profile_.place_in_order(
        order,
        [&](int i) {
          double from = release(i);
          for (const int before : before_of(i))
            from = std::max(from, start[before] + length(made, before));
          return from;
        },
        [&](int i) {
          const graph::JobChoice& choice = choices_[i][made.choice_numbers[i]];
          return std::pair(JobNeed{choice.procs, choice.share.data() + 1}, choice.time);
        },
        [&](int i, double at) {
          start[i] = at;
          last = std::max(last, at + length(made, i));
        });
    return last;
  }

  double length(const DecodedSchedule& made, int i) const {
    return choices_[i][made.choice_numbers[i]].time;
  }

  const Instance& instance_;
  const graph::JobChoices& choices_;
  const graph::Precedence precedence_;
  FreeProfile profile_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
