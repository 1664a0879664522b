#include "cosched/moldable/search/bicriteria_list_search.hpp"

namespace cosched::moldable::search {

void BicriteriaListSearch::improve(double theta, std::int64_t work) {
  const int patience = params_.patience + params_.patience_per_job * instance_.jobs();
  int moves_without_gain = 0;
  walk(theta, work, [&](double gain, double) {
    moves_without_gain = gain > 0 ? 0 : moves_without_gain + 1;
    if (moves_without_gain >= patience) return WalkAction::end;
    return gain >= 0 ? WalkAction::take : WalkAction::leave;
  });
}

void BicriteriaListSearch::anneal(double theta, std::int64_t work, double heat) {
  const double first_temperature = heat * std::min(1.0, params_.heated_jobs / instance_.jobs());
  walk(theta, work, [&](double gain, double part_of_work) {
    const double temperature = first_temperature * std::pow(params_.last_warmth, part_of_work);
    const bool is_accepted = gain >= temperature * std::log(1 - rng_.uniform());
    return is_accepted ? WalkAction::take : WalkAction::leave;
  });
}

BicriteriaListSearch::ListState BicriteriaListSearch::start_from_front(double theta) {
  const Criteria no_reference{kInfinity, kInfinity};
  const int point = choose_point(front_, theta, no_reference);
  const Placement& start = front_.points()[point].placement;
  ListState state{order_by_start(start), start.procs, {}};
  list_rule_ = list::ListRule::append;
  const Criteria appended = evaluate(state);
  list_rule_ = list::ListRule::list;
  state.value = evaluate(state);
  if (scalarize(appended, theta) < scalarize(state.value, theta)) {
    list_rule_ = list::ListRule::append;
    state.value = appended;
  }
  return state;
}

Criteria BicriteriaListSearch::evaluate(const ListState& state) {
  const std::size_t n = state.order.size();
  counts_.resize(n);
  lengths_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const int i = state.order[k];
    counts_[k] = state.procs[i];
    lengths_[k] = instance_.time(i, counts_[k]);
  }
  scheduler_.schedule(list_rule_, counts_, lengths_, starts_);
  Criteria value;
  for (std::size_t k = 0; k < n; ++k) {
    const double end = starts_[k] + lengths_[k];
    value.makespan = std::max(value.makespan, end);
    value.minsum += instance_.weight(state.order[k]) * end;
  }
  return value;
}

BicriteriaListSearch::ListState BicriteriaListSearch::draw_neighbour(const ListState& from) {
  ListState next = from;
  const int n = instance_.jobs();
  const int position = static_cast<int>(rng_.below(n)), job = next.order[position];
  const auto kind = rng_.below(3);
  if (kind != 0) next.procs[job] = draw_count(job, next.procs[job]);
  if (kind != 1) {
    const int target = rng_.below(2) == 0
                           ? static_cast<int>(rng_.below(n))
                           : std::clamp(position + static_cast<int>(rng_.between(
                                                       -params_.near_places, params_.near_places)),
                                        0, n - 1);
    move_entry(next.order, position, target);
  }
  return next;
}

int BicriteriaListSearch::draw_count(int job, int procs) {
  const int max_count = instance_.useful_machines();
  const int scaled = static_cast<int>(std::lround(procs * std::exp2(2 * rng_.uniform() - 1)));
  const int drawn_count = scaled != procs ? scaled : procs + (rng_.below(2) == 0 ? 1 : -1);
  const int count =
      instance_.used_procs(job, std::clamp(drawn_count, instance_.fewest_procs(job), max_count));
  if (count == procs && drawn_count > procs)
    return std::max(procs, instance_.next_faster_procs(job, procs));
  return count;
}

}  // namespace cosched::moldable::search
