// Decodes orders and choices of jobs with precedence or resources into schedules.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/graph/precedence.hpp"
#include "cosched/moldable/search/free_profile.hpp"

namespace cosched::moldable::search {

/// An order of jobs, predecessors first, with a choice for each job; and the starts and the
/// makespan that GraphDecoder::decode() gives them.
struct DecodedSchedule {
  std::vector<int> order;
  graph::ChoiceNumbers choice_numbers;
  std::vector<double> starts;
  double makespan = 0;
};

/// Serial schedule generation: puts each job, in an order, at its earliest fit.
class GraphDecoder {
 public:
  /// `instance` and `choices` must outlive it.
  GraphDecoder(const Instance& instance, const graph::JobChoices& choices)
      : instance_(instance),
        choices_(choices),
        precedence_(instance),
        profile_(instance.machines(), choices.measures() - 1) {}

  /// Computes starts and makespan from order and choices.  O(n breakpoints).
  void decode(DecodedSchedule& schedule) {
    const auto release = [&](int i) { return instance_.release(i); };
    schedule.makespan = decode_order(
        schedule, schedule.order, release, [&](int i) { return precedence_->predecessors(i); },
        schedule.starts);
    operations_ += instance_.jobs();
  }

  /// Forward-backward improvement of project scheduling (Li and Willis 1992): puts the jobs by
  /// decreasing end as late as possible before the end of the schedule, then by the starts that
  /// this gives as early as possible; repeats that while the schedule becomes shorter.  It never
  /// becomes longer.  Does nothing where jobs have release dates.
  void justify(DecodedSchedule& schedule);

  /// The jobs by their starts, each after its predecessors.  O(n log n).
  static std::vector<int> order_by_start(const TaskGraph& graph, const std::vector<double>& start) {
    std::vector<int> order(graph.order());  // so that jobs of no length stay behind predecessors
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return start[a] < start[b]; });
    return order;
  }

  Placement placement(const DecodedSchedule& schedule) const {
    Placement placement = empty_placement(instance_.jobs());
    for (int i = 0; i < instance_.jobs(); ++i)
      graph::place_choice(placement, i, choices_[i][schedule.choice_numbers[i]],
                          schedule.starts[i]);
    return placement;
  }

  const TaskGraph& graph() const { return *precedence_; }
  std::int64_t operations() const { return operations_ + profile_.operations(); }

 private:
  // Finds the starts of the jobs in this order, each after the jobs of predecessors_of(job).
  // Returns the last end.
  template <class ReleaseOf, class PredecessorsOf>
  double decode_order(const DecodedSchedule& schedule, const std::vector<int>& order,
                      ReleaseOf release, PredecessorsOf predecessors_of,
                      std::vector<double>& start) {
    double makespan = 0;
    start.assign(instance_.jobs(), 0.0);
    profile_.place_in_order(
        order,
        [&](int i) {
          double from = release(i);
          for (const int predecessor : predecessors_of(i))
            from = std::max(from, start[predecessor] + length(schedule, predecessor));
          return from;
        },
        [&](int i) {
          const graph::JobChoice& choice = choices_[i][schedule.choice_numbers[i]];
          return std::pair(JobNeed{choice.procs, choice.share.data() + 1}, choice.time);
        },
        [&](int i, double earliest) {
          start[i] = earliest;
          makespan = std::max(makespan, earliest + length(schedule, i));
        });
    return makespan;
  }

  double length(const DecodedSchedule& schedule, int i) const {
    return choices_[i][schedule.choice_numbers[i]].time;
  }

  const Instance& instance_;
  const graph::JobChoices& choices_;
  const graph::Precedence precedence_;
  FreeProfile profile_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::search
