#include "cosched/moldable/search/graph_labels.hpp"

namespace cosched::moldable::search {

GraphLabels::GraphLabels(const GraphJobs& jobs, Objective objective, Incumbent& incumbent,
                         GraphLabelBounds& bounds, WorkBudget& budget,
                         const GraphLabelParams& params)
    : jobs_(jobs),
      minimizes_makespan_(objective == Objective::makespan),
      incumbent_(incumbent),
      bounds_(bounds),
      budget_(budget),
      params_(params),
      stride_(1 + jobs.measures()),
      ready_numbers_(jobs.has_edges() ? jobs.jobs() : 0) {}

bool GraphLabels::run_pass(std::size_t width) {
  begin_pass();
  for (int size = 1; size <= jobs_.jobs() && !labels_.empty(); ++size) {
    next_labels_.clear();
    next_numbers_.clear();
    for (next_to_expand_ = 0; next_to_expand_ < labels_.size(); ++next_to_expand_) {
      if (budget_.is_exhausted() || next_numbers_.size() > params_.max_numbers) return false;
      expand_label(labels_[next_to_expand_]);
    }
    keep_undominated(width);
  }
  labels_.clear();
  next_labels_.clear();
  return true;
}

void GraphLabels::begin_pass() {
  numbers_.assign(1, 0.0);
  for (int measure = 0; measure < jobs_.measures(); ++measure)
    numbers_.push_back(jobs_.capacity(measure));
  if (ready_numbers_ > 0) {
    const std::vector<double>& releases = jobs_.instance().releases();
    numbers_.insert(numbers_.end(), releases.begin(), releases.end());
  }
  labels_ = {GraphLabel{.jobs = 0,
                        .cost = 0,
                        .lower_bound = 0,
                        .first_number = 0,
                        .row_count = 1,
                        .move_number = -1,
                        .move = {}}};
  moves_.clear();
  dropped_bound_ = kInfinity;
}

double GraphLabels::earliest_end(const GraphLabel& label) const {
  double earliest = kInfinity;
  for (int job = 0; job < jobs_.jobs(); ++job) {
    if (has_started(label, job) || !is_ready(label, job)) continue;
    for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice)
      earliest = std::min(earliest, earliest_start(label, job, choice) + jobs_.time(choice));
  }
  return earliest;
}

void GraphLabels::expand_label(const GraphLabel& label) {
  if (incumbent_.can_prune(label.lower_bound)) return;
  const double hole_end = earliest_end(label);
  for (int job = 0; job < jobs_.jobs(); ++job) {
    if (has_started(label, job) || !is_ready(label, job)) continue;
    if ((jobs_.identical_before(job) & ~label.jobs) != 0) continue;
    for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice) {
      const double start = earliest_start(label, job, choice);
      budget_.spend(label.row_count);
      if (start < hole_end) add_successor(label, job, choice, start);
    }
  }
}

void GraphLabels::add_successor(const GraphLabel& label, int job, int choice, double start) {
  const double end = start + jobs_.time(choice);
  GraphLabel successor{.jobs = with_job(label.jobs, job),
                       .cost = label.cost + jobs_.instance().weight(job) * end,
                       .lower_bound = label.lower_bound,
                       .first_number = next_numbers_.size(),
                       .row_count = 0,
                       .move_number = -1,
                       .move = {label.move_number, job, choice, start}};
  append_rows(label, successor, choice, start, end);
  if (ready_numbers_ > 0) append_ready_times(label, job, end);
  const GraphPartialSchedule partial{.started_jobs = successor.jobs,
                                     .started_cost = successor.cost,
                                     .rows = row(next_numbers_, successor, 0),
                                     .row_count = successor.row_count,
                                     .ready_times = ready_times(next_numbers_, successor)};
  successor.lower_bound =
      std::max(successor.lower_bound, bounds_.lower_bound(partial, successor.lower_bound));
  if (incumbent_.can_prune(successor.lower_bound))
    next_numbers_.resize(successor.first_number);
  else if (successor.jobs == jobs_.all_jobs())
    offer_schedule(successor);
  else
    next_labels_.push_back(successor);
}

void GraphLabels::append_rows(const GraphLabel& label, GraphLabel& successor, int choice,
                              double start, double end) {
  int number = 0;
  while (number + 1 < label.row_count && row(numbers_, label, number + 1)[0] <= start) ++number;
  append_row(successor, row(numbers_, label, number), start, choice);
  for (++number; number < label.row_count && row(numbers_, label, number)[0] < end; ++number)
    append_row(successor, row(numbers_, label, number), row(numbers_, label, number)[0], choice);
  // From the end of the job on the rows are those of the label.
  const bool ends_with_another = number < label.row_count && row(numbers_, label, number)[0] == end;
  if (!ends_with_another) append_row(successor, row(numbers_, label, number - 1), end, -1);
  for (; number < label.row_count; ++number)
    append_row(successor, row(numbers_, label, number), row(numbers_, label, number)[0], -1);
}

void GraphLabels::append_ready_times(const GraphLabel& label, int job, double end) {
  const double* const ready_before = ready_times(numbers_, label);
  for (int other = 0; other < jobs_.jobs(); ++other) {
    const bool waits_for_job = jobs_.predecessors(other) >> job & 1;
    next_numbers_.push_back(waits_for_job ? std::max(ready_before[other], end)
                                          : ready_before[other]);
  }
}

void GraphLabels::offer_schedule(const GraphLabel& label) {
  next_numbers_.resize(label.first_number);
  Placement placement = empty_placement(jobs_.jobs());
  const auto place_job = [&](const GraphStartMove& move) {
    graph::place_choice(placement, move.job, jobs_.choice(move.job, move.choice), move.start);
  };
  const GraphStartMove* move = &label.move;
  place_job(*move);
  while (move->previous_move >= 0) {
    move = &moves_[move->previous_move];
    place_job(*move);
  }
  incumbent_.offer(std::move(placement));
}

bool GraphLabels::dominates(const GraphLabel& a, const GraphLabel& b, double weight_of_rest) {
  const double saving = minimizes_makespan_ ? 0 : b.cost * (1 + kProofRounding) - a.cost;
  if (saving < 0) return false;
  const double max_delay_cost = minimizes_makespan_ ? 0 : b.cost * (1 - kProofRounding) - a.cost;
  const auto is_too_late = [&](double delay, double time) {
    if (delay <= kProofRounding * time) return false;
    return minimizes_makespan_ || delay * weight_of_rest >= max_delay_cost;
  };
  budget_.spend(1);
  int row_number_a = 0;
  for (int row_number_b = 0; row_number_b < b.row_count; ++row_number_b) {
    const double* const row_b = row(next_numbers_, b, row_number_b);
    while (!is_no_scarcer(row(next_numbers_, a, row_number_a), row_b)) ++row_number_a;
    if (is_too_late(row(next_numbers_, a, row_number_a)[0] - row_b[0], row_b[0])) return false;
  }
  if (ready_numbers_ == 0) return true;
  const double last_start = row(next_numbers_, b, 0)[0];
  for (int job = 0; job < jobs_.jobs(); ++job) {
    if (contains(b.jobs, job)) continue;
    const double earliest = std::max(ready_times(next_numbers_, b)[job], last_start);
    if (is_too_late(ready_times(next_numbers_, a)[job] - earliest, earliest)) return false;
  }
  return true;
}

double GraphLabels::mean_free_time(const GraphLabel& label) const {
  double sum = 0;
  for (int measure = 0; measure < jobs_.real_measures(); ++measure) {
    double free = 0;
    for (int number = 0; number < label.row_count; ++number) {
      const double* const label_row = row(next_numbers_, label, number);
      sum += label_row[0] * (label_row[1 + measure] - free) / jobs_.capacity(measure);
      free = label_row[1 + measure];
    }
  }
  return sum / jobs_.real_measures();
}

std::vector<GraphLabels::GraphDominanceKey> GraphLabels::order_by_dominance_key() const {
  std::vector<GraphDominanceKey> order;
  order.reserve(next_labels_.size());
  for (std::size_t k = 0; k < next_labels_.size(); ++k) {
    const GraphLabel& label = next_labels_[k];
    double sum = mean_free_time(label);
    if (!minimizes_makespan_) sum = label.cost + waiting_weight(label.jobs) * sum;
    order.push_back({label.jobs, sum, k});
  }
  std::sort(order.begin(), order.end(), [](const GraphDominanceKey& a, const GraphDominanceKey& b) {
    return std::tie(a.jobs, a.sum, a.number) < std::tie(b.jobs, b.sum, b.number);
  });
  return order;
}

void GraphLabels::keep_undominated(std::size_t width) {
  std::vector<GraphLabel> undominated;
  std::size_t set_begin = 0;  // index of the first label of the present set of jobs
  for (const GraphDominanceKey& key : order_by_dominance_key()) {
    const GraphLabel& label = next_labels_[key.number];
    if (incumbent_.can_prune(label.lower_bound)) continue;
    const bool is_new_set =
        set_begin < undominated.size() && undominated[set_begin].jobs != label.jobs;
    if (is_new_set) set_begin = undominated.size();
    const double weight = waiting_weight(label.jobs);
    const auto dominates_label = [&](const GraphLabel& other) {
      return dominates(other, label, weight);
    };
    const auto first = undominated.begin() + static_cast<std::ptrdiff_t>(set_begin);
    const auto last =
        undominated.begin() + static_cast<std::ptrdiff_t>(std::min(
                                  undominated.size(), set_begin + params_.compared_labels));
    if (std::any_of(first, last, dominates_label)) continue;
    // Equal labels have nearly the same sum: they are the last ones.
    if (undominated.size() > set_begin + params_.compared_labels &&
        std::any_of(undominated.end() - params_.compared_neighbours, undominated.end(),
                    dominates_label))
      continue;
    undominated.push_back(label);
  }
  if (undominated.size() > width) drop_worst(undominated, width);
  for (GraphLabel& label : undominated) {
    label.move_number = static_cast<int>(moves_.size());
    moves_.push_back(label.move);
  }
  labels_ = std::move(undominated);
  numbers_.swap(next_numbers_);
  next_labels_.clear();
  next_to_expand_ = 0;
}

void GraphLabels::drop_worst(std::vector<GraphLabel>& labels, std::size_t width) {
  const auto first_dropped = labels.begin() + static_cast<std::ptrdiff_t>(width);
  std::nth_element(
      labels.begin(), first_dropped, labels.end(), [](const GraphLabel& a, const GraphLabel& b) {
        return std::pair(a.lower_bound, a.first_number) < std::pair(b.lower_bound, b.first_number);
      });
  for (auto label = first_dropped; label != labels.end(); ++label)
    dropped_bound_ = std::min(dropped_bound_, label->lower_bound);
  labels.erase(first_dropped, labels.end());
}

}  // namespace cosched::moldable::search
