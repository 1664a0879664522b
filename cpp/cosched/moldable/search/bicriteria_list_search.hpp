// Local search and annealing over lists for log(minsum) + theta log(makespan).
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/list_scheduler.hpp"
#include "cosched/moldable/search/pareto_front.hpp"

namespace cosched::moldable::search {

struct BicriteriaListParams {
  /// A local search ends after so many moves without gain: a number, and as many for each job.
  int patience = 1000, patience_per_job = 100;
  /// The temperature of more jobs falls with their number.
  double heated_jobs = 4;
  /// The last temperature of an annealing, as a part of the first.
  double last_warmth = 0.01;
  /// Places that a job moves in the list at most, every other time.
  int near_places = 10;
};

/// Moves in an order and an allotment that ListScheduler turns into schedules: a job moves in the
/// list, or gets another count, or both.  Offers each schedule that the front accepts.
class BicriteriaListSearch {
 public:
  /// All references must outlive it.
  BicriteriaListSearch(const Instance& instance, ParetoFront& front, Rng& rng,
                       const BicriteriaListParams& params = {})
      : instance_(instance),
        front_(front),
        rng_(rng),
        params_(params),
        scheduler_(instance.machines()) {}

  /// Goes from the best point of the front for theta to neighbours that are no worse, with `work`
  /// placements of jobs, or fewer when gains cease.  May throw as check_interrupt().
  void improve(double theta, std::int64_t work);

  /// Anneals from the best point of the front for theta with `work` placements of jobs.  May throw
  /// as check_interrupt().
  void anneal(double theta, std::int64_t work, double heat);

 private:
  struct ListState {
    std::vector<int> order;
    Allotment procs;
    Criteria value;
  };
  enum class WalkAction { take, leave, end };

  // Draws neighbours and does with each what rule(gain, part of the work that is done) says.
  template <class ListRule>
  void walk(double theta, std::int64_t work, const ListRule& rule) {
    ListState current = start_from_front(theta);
    const std::int64_t placements = instance_.jobs();  // of one evaluation
    for (std::int64_t spent = 0; spent + placements <= work; spent += placements) {
      check_interrupt();
      ListState neighbour = draw_neighbour(current);
      neighbour.value = evaluate(neighbour);
      const double gain = scalarize(current.value, theta) - scalarize(neighbour.value, theta);
      const WalkAction action = rule(gain, static_cast<double>(spent) / static_cast<double>(work));
      if (action == WalkAction::end) return;
      if (action == WalkAction::leave) continue;
      current = std::move(neighbour);
      if (front_.accepts(current.value)) front_.offer(current.value, placement(current));
    }
  }

  // Takes the order and the counts of the best point of the front, and the better of the two list
  // rules for them.
  ListState start_from_front(double theta);

  Criteria evaluate(const ListState& state);

  // Requires the state that was evaluated last.
  Placement placement(const ListState& state) const {
    Placement placement = empty_placement(instance_.jobs());
    for (std::size_t k = 0; k < state.order.size(); ++k)
      place(instance_, placement, state.order[k], counts_[k], starts_[k]);
    return placement;
  }

  ListState draw_neighbour(const ListState& from);

  // Draws half to twice as many processors, at least one more or less, and takes those of them that
  // the job uses; where more processors are no faster, the next count that is.
  int draw_count(int job, int procs);

  const Instance& instance_;
  ParetoFront& front_;
  Rng& rng_;
  BicriteriaListParams params_;
  list::ListScheduler scheduler_;
  list::ListRule list_rule_ = list::ListRule::list;
  // Of the last evaluation, by places in the list.
  std::vector<int> counts_;
  std::vector<double> lengths_, starts_;
};

}  // namespace cosched::moldable::search
