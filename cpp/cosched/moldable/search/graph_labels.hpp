// Beginnings of schedules of jobs with precedence and resources, one number of jobs after the other.
#pragma once

#include <tuple>

#include "cosched/moldable/search/graph_label_bounds.hpp"

namespace cosched::moldable::search {

/// Room for the labels of one number of jobs, in numbers: 256 MB.
inline constexpr std::size_t kGraphLabelNumbers = 32'000'000;

/// As labels.hpp, for more than processors.  In some optimal schedule every job starts as early as
/// the order of starts, its release, its predecessors and its choice let it.  All that the rest must
/// know of a beginning is what is free when, and when the predecessors of waiting jobs end.  That a
/// job may have to wait beside idle processors is part of it: the order of starts says so.
///
/// One is dropped
///   - where another of the same jobs has everything free no later, and every waiting job ready no
///     later, at no more cost so far; for the minsum also where that holds later by d, and it costs
///     so much less that all that follows may start later by d;
///   - where a waiting job could start and end before the last start (Giffler, Thompson), or an
///     identical job of lower number waits;
///   - where a lower bound on what it becomes (graph_label_bounds.hpp) is not below the best
///     schedule known.
class GraphLabels {
 public:
  /// All must outlive it.
  GraphLabels(const GraphJobs& jobs, Objective objective, Incumbent& incumbent,
              GraphLabelBounds& bounds, WorkBudget& effort, std::size_t room = kGraphLabelNumbers)
      : jobs_(jobs),
        minimizes_makespan_(objective == Objective::makespan),
        incumbent_(incumbent),
        bounds_(bounds),
        budget_(effort),
        number_limit_(room),
        stride_(1 + jobs.measures()),
        ready_numbers_(jobs.has_edges() ? jobs.jobs() : 0) {}

  /// All numbers of jobs, from the empty schedule on; of each the `width` labels of least bound go
  /// on.  False: the work is over, or the room.  May be left by check_interrupt(): bound() holds at
  /// any time.
  bool run_pass(std::size_t width) {
    begin_pass();
    for (int size = 1; size <= jobs_.jobs() && !labels_.empty(); ++size) {
      next_labels_.clear();
      next_numbers_.clear();
      next_to_expand_ = 0;
      for (; next_to_expand_ < labels_.size(); ++next_to_expand_) {
        if (budget_.is_exhausted() || next_numbers_.size() > number_limit_) return false;
        expand_label(labels_[next_to_expand_]);
      }
      keep_undominated(width);
    }
    labels_.clear();
    next_labels_.clear();
    return true;
  }

  /// The least bound of what was dropped for its number in this pass: infinite where nothing was.
  double dropped_bound() const { return dropped_bound_; }

  /// The least of what was dropped and of what may still come in this pass.
  double bound() const {
    double least = dropped_bound_;
    for (std::size_t k = next_to_expand_; k < labels_.size(); ++k)
      least = std::min(least, labels_[k].lower_bound);
    for (const GraphLabel& label : next_labels_) least = std::min(least, label.lower_bound);
    return least;
  }

 private:
  static constexpr std::size_t kComparedLabels =
      100;                                      // labels of a set that another is compared with
  static constexpr double kSameAmount = 1e-12;  // shares that differ by less are the same

  struct StartMove {
    int previous_move;  // the number of the move before it, -1: none
    int job, choice;
    double start;
  };
  // Its rows (graph_label_bounds.hpp), and where there are edges when each job is ready, lie in a
  // vector that all labels of a number of jobs share.
  struct GraphLabel {
    JobSet jobs;
    double cost;               // sum w C of them (minsum)
    double lower_bound;        // no completion is better
    std::size_t first_number;  // of its numbers
    int row_count;
    int last_move;  // its number, where the label goes on
    StartMove move;
  };
  struct DominanceKey {
    JobSet jobs;
    double promise;  // those of a small sum of times are likely to dominate others
    std::size_t number;
  };

  bool has_started(const GraphLabel& label, int job) const { return label.jobs >> job & 1; }

  const double* row(const std::vector<double>& numbers, const GraphLabel& label, int number) const {
    return &numbers[label.first_number + static_cast<std::size_t>(number) * stride_];
  }
  // When each job is ready, as its release and its predecessors that have started let it.
  const double* ready_times(const std::vector<double>& numbers, const GraphLabel& label) const {
    return ready_numbers_ > 0 ? row(numbers, label, label.row_count)
                              : jobs_.instance().releases().data();
  }

  void begin_pass() {
    numbers_.assign(1, 0.0);
    for (int measure = 0; measure < jobs_.measures(); ++measure)
      numbers_.push_back(jobs_.capacity(measure));
    if (ready_numbers_ > 0) {
      const std::vector<double>& releases = jobs_.instance().releases();
      numbers_.insert(numbers_.end(), releases.begin(), releases.end());
    }
    labels_ = {{0, 0, 0, 0, 1, -1, {}}};
    moves_.clear();
    dropped_bound_ = kInfinity;
  }

  bool is_ready(const GraphLabel& label, int job) const {
    return (jobs_.predecessors(job) & ~label.jobs) == 0;
  }

  // The first row on which the choice of a job fits from some time on.
  double earliest_start(const GraphLabel& label, int job, int choice) const {
    int number = 0;
    while (!jobs_.has_room_for(choice, row(numbers_, label, number) + 1)) ++number;
    return std::max(ready_times(numbers_, label)[job], row(numbers_, label, number)[0]);
  }

  // The earliest end of any job that may start: whoever starts later leaves a hole.
  double earliest_end(const GraphLabel& label) const {
    double earliest = kInfinity;
    for (int job = 0; job < jobs_.jobs(); ++job) {
      if (has_started(label, job) || !is_ready(label, job)) continue;
      for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice)
        earliest = std::min(earliest, earliest_start(label, job, choice) + jobs_.time(choice));
    }
    return earliest;
  }

  void expand_label(const GraphLabel& label) {
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

  // The label with one job more, where it may lead to something better.
  void add_successor(const GraphLabel& label, int job, int choice, double start) {
    const double end = start + jobs_.time(choice);
    GraphLabel made{
        label.jobs | JobSet{1} << job,        0, label.lower_bound, next_numbers_.size(), 0, -1,
        {label.last_move, job, choice, start}};
    made.cost = label.cost + jobs_.instance().weight(job) * end;
    append_rows(label, made, choice, start, end);
    if (ready_numbers_ > 0) append_ready_times(label, job, end);
    const GraphPartialSchedule beginning{made.jobs, made.cost, row(next_numbers_, made, 0),
                                         made.row_count, ready_times(next_numbers_, made)};
    made.lower_bound = std::max(made.lower_bound, bounds_.lower_bound(beginning, made.lower_bound));
    if (incumbent_.can_prune(made.lower_bound))
      next_numbers_.resize(made.first_number);
    else if (made.jobs == jobs_.all_jobs())
      offer_schedule(made);
    else
      next_labels_.push_back(made);
  }

  // What is left free when a choice runs from `start` to `end`.
  void append_rows(const GraphLabel& label, GraphLabel& made, int choice, double start,
                   double end) {
    int number = 0;
    while (number + 1 < label.row_count && row(numbers_, label, number + 1)[0] <= start) ++number;
    append_row(made, row(numbers_, label, number), start, choice);
    for (++number; number < label.row_count && row(numbers_, label, number)[0] < end; ++number)
      append_row(made, row(numbers_, label, number), row(numbers_, label, number)[0], choice);
    // From its end on it leaves what the others do.
    const bool ends_with_another =
        number < label.row_count && row(numbers_, label, number)[0] == end;
    if (!ends_with_another) append_row(made, row(numbers_, label, number - 1), end, -1);
    for (; number < label.row_count; ++number)
      append_row(made, row(numbers_, label, number), row(numbers_, label, number)[0], -1);
  }

  // A row of the label that is made: what another row has, less the needs of a choice (-1: none).
  void append_row(GraphLabel& made, const double* from, double time, int choice) {
    next_numbers_.push_back(time);
    for (int measure = 0; measure < jobs_.measures(); ++measure)
      next_numbers_.push_back(from[1 + measure] - (choice < 0 ? 0 : jobs_.need(choice)[measure]));
    ++made.row_count;
  }

  void append_ready_times(const GraphLabel& label, int job, double end) {
    const double* const before = ready_times(numbers_, label);
    for (int other = 0; other < jobs_.jobs(); ++other) {
      const bool waits_for_job = jobs_.predecessors(other) >> job & 1;
      next_numbers_.push_back(waits_for_job ? std::max(before[other], end) : before[other]);
    }
  }

  void offer_schedule(const GraphLabel& label) {
    next_numbers_.resize(label.first_number);
    Placement made = empty_placement(jobs_.jobs());
    for (const StartMove* move = &label.move;; move = &moves_[move->previous_move]) {
      graph::place_choice(made, move->job, jobs_.choice(move->job, move->choice), move->start);
      if (move->previous_move < 0) break;
    }
    incumbent_.offer(std::move(made));
  }

  // Whether what b becomes, started so much later that all of it fits after a, costs no less after
  // b than after a; for the makespan, whether it fits without being later.
  bool dominates(const GraphLabel& a, const GraphLabel& b, double weight_of_rest) {
    const double saving = minimizes_makespan_ ? 0 : b.cost * (1 + kProofRounding) - a.cost;
    if (saving < 0) return false;
    const double most_cost = minimizes_makespan_ ? 0 : b.cost * (1 - kProofRounding) - a.cost;
    const auto is_too_late = [&](double late, double time) {
      if (late <= kProofRounding * time) return false;
      return minimizes_makespan_ || late * weight_of_rest >= most_cost;
    };
    budget_.spend(1);
    int of_a = 0;
    for (int of_b = 0; of_b < b.row_count; ++of_b) {
      const double* const row_b = row(next_numbers_, b, of_b);
      while (!is_no_scarcer(row(next_numbers_, a, of_a), row_b)) ++of_a;
      if (is_too_late(row(next_numbers_, a, of_a)[0] - row_b[0], row_b[0])) return false;
    }
    if (ready_numbers_ == 0) return true;
    const double last_start = row(next_numbers_, b, 0)[0];
    for (int job = 0; job < jobs_.jobs(); ++job) {
      if (b.jobs >> job & 1) continue;
      const double earliest = std::max(ready_times(next_numbers_, b)[job], last_start);
      if (is_too_late(ready_times(next_numbers_, a)[job] - earliest, earliest)) return false;
    }
    return true;
  }

  bool is_no_scarcer(const double* row_a, const double* row_b) const {
    for (int measure = 0; measure < jobs_.real_measures(); ++measure)
      if (row_a[1 + measure] < row_b[1 + measure] - kSameAmount) return false;
    return true;
  }

  double waiting_weight(JobSet jobs) const {
    double weight = 0;
    for (int job = 0; job < jobs_.jobs(); ++job)
      if (!(jobs >> job & 1)) weight += jobs_.instance().weight(job);
    return weight;
  }

  // The time by which measures are free, on average.
  double mean_free_time(const GraphLabel& label) const {
    double sum = 0;
    for (int measure = 0; measure < jobs_.real_measures(); ++measure) {
      double free = 0;
      for (int number = 0; number < label.row_count; ++number) {
        const double* const own_row = row(next_numbers_, label, number);
        sum += own_row[0] * (own_row[1 + measure] - free) / jobs_.capacity(measure);
        free = own_row[1 + measure];
      }
    }
    return sum / jobs_.real_measures();
  }

  // The labels of one more job, by sets; of a set those that are likely to dominate first.
  std::vector<DominanceKey> order_by_dominance_key() const {
    std::vector<DominanceKey> order;
    order.reserve(next_labels_.size());
    for (std::size_t k = 0; k < next_labels_.size(); ++k) {
      const GraphLabel& label = next_labels_[k];
      double promise = mean_free_time(label);
      if (!minimizes_makespan_) promise = label.cost + waiting_weight(label.jobs) * promise;
      order.push_back({label.jobs, promise, k});
    }
    std::sort(order.begin(), order.end(), [](const DominanceKey& a, const DominanceKey& b) {
      return std::tie(a.jobs, a.promise, a.number) < std::tie(b.jobs, b.promise, b.number);
    });
    return order;
  }

  void keep_undominated(std::size_t width) {
    std::vector<GraphLabel> kept;
    std::size_t group = 0;  // the first that is kept of the same jobs
    for (const DominanceKey& candidate : order_by_dominance_key()) {
      const GraphLabel& label = next_labels_[candidate.number];
      if (incumbent_.can_prune(label.lower_bound)) continue;
      if (group < kept.size() && kept[group].jobs != label.jobs) group = kept.size();
      const double weight = waiting_weight(label.jobs);
      const auto dominates_label = [&](const GraphLabel& other) {
        return dominates(other, label, weight);
      };
      const auto first = kept.begin() + static_cast<std::ptrdiff_t>(group);
      const auto last = kept.begin() +
                        static_cast<std::ptrdiff_t>(std::min(kept.size(), group + kComparedLabels));
      if (std::any_of(first, last, dominates_label)) continue;
      // Equal labels have nearly the same promise, and are neighbours.
      if (kept.size() > group + kComparedLabels &&
          std::any_of(kept.end() - kNeighbours, kept.end(), dominates_label))
        continue;
      kept.push_back(label);
    }
    if (kept.size() > width) drop_worst(kept, width);
    for (GraphLabel& label : kept) {
      label.last_move = static_cast<int>(moves_.size());
      moves_.push_back(label.move);
    }
    labels_ = std::move(kept);
    numbers_.swap(next_numbers_);
    next_labels_.clear();
    next_to_expand_ = 0;
  }

  void drop_worst(std::vector<GraphLabel>& labels, std::size_t width) {
    const auto last = labels.begin() + static_cast<std::ptrdiff_t>(width);
    std::nth_element(labels.begin(), last, labels.end(),
                     [](const GraphLabel& a, const GraphLabel& b) {
                       return std::pair(a.lower_bound, a.first_number) <
                              std::pair(b.lower_bound, b.first_number);
                     });
    for (auto label = last; label != labels.end(); ++label)
      dropped_bound_ = std::min(dropped_bound_, label->lower_bound);
    labels.erase(last, labels.end());
  }

  static constexpr std::ptrdiff_t kNeighbours = 20;

  const GraphJobs& jobs_;
  bool minimizes_makespan_;
  Incumbent& incumbent_;
  GraphLabelBounds& bounds_;
  WorkBudget& budget_;
  std::size_t number_limit_;
  int stride_, ready_numbers_;

  double dropped_bound_ = kInfinity;
  std::vector<GraphLabel> labels_, next_labels_;  // of one number of jobs, and of one more
  std::vector<double> numbers_, next_numbers_;    // theirs
  std::size_t next_to_expand_ = 0;                // labels before it are expanded
  std::vector<StartMove> moves_;                  // of labels that went on
};

}  // namespace cosched::moldable::search
