// A label-setting search for the best schedule of few jobs with precedence and resources.
#pragma once

#include <tuple>

#include "cosched/moldable/search/graph_label_bounds.hpp"

namespace cosched::moldable::search {

/// How much memory and time a label search may use.
struct GraphLabelParams {
  /// Numbers that the labels of one number of jobs may have together: 256 MB for the default.
  std::size_t max_numbers = 32'000'000;
  /// Labels of a set of jobs with which a further one is compared for dominance: the most likely
  /// dominators, and where there are more the last ones, which may be equal to it.
  std::size_t compared_labels = 100;
  std::ptrdiff_t compared_neighbours = 20;
};

/// As Labels (labels.hpp), for more than processors.  In some optimal schedule every job starts as
/// early as the order of starts, its release, its predecessors and its choice let it.  The
/// remaining jobs need to know of a partial schedule only what is free when, and when the
/// predecessors of waiting jobs end: that, with its cost so far, is a label.  An order of starts
/// may let a job wait beside idle processors.
///
/// A label is dropped
///   - where another label of the same jobs dominates it: it has everything free no later, and
///     every waiting job ready no later, at no more cost so far; for the minsum also where it has
///     that later by d, and costs so much less that all remaining jobs may start later by d;
///   - where a waiting job could start and end before the last start (Giffler and Thompson 1960),
///     or an identical job of lower number waits;
///   - where a lower bound on every schedule that begins with it (graph_label_bounds.hpp) is not
///     below the incumbent.
class GraphLabels {
 public:
  /// All references must outlive the search.
  GraphLabels(const GraphJobs& jobs, Objective objective, Incumbent& incumbent,
              GraphLabelBounds& bounds, WorkBudget& budget, const GraphLabelParams& params = {});

  /// Goes through all numbers of started jobs, from the empty schedule on, and keeps only the
  /// `width` labels of least lower bound for each number (beam search).  Returns false when the
  /// work or the memory is used up.  May throw as check_interrupt(); bound() holds at any time.
  bool run_pass(std::size_t width);

  /// The least lower bound among the labels that this pass dropped because of its width; infinite
  /// where it dropped none, so that the incumbent is then optimal.
  double dropped_bound() const { return dropped_bound_; }

  /// A lower bound on every schedule that this pass has not looked at yet or has dropped because of
  /// its width.
  double bound() const {
    double least = dropped_bound_;
    for (std::size_t k = next_to_expand_; k < labels_.size(); ++k)
      least = std::min(least, labels_[k].lower_bound);
    for (const GraphLabel& label : next_labels_) least = std::min(least, label.lower_bound);
    return least;
  }

 private:
  struct GraphStartMove {
    int previous_move;  // index in moves_, -1: this job starts first
    int job, choice;
    double start;
  };
  // Its rows (GraphPartialSchedule), and where there are edges the ready time of each job, lie in a
  // vector that all labels of one number of jobs share.
  struct GraphLabel {
    JobSet jobs;
    double cost;               // sum w C of the started jobs (minsum)
    double lower_bound;        // no schedule that begins so has a better value
    std::size_t first_number;  // index of its first row
    int row_count;
    int move_number;  // of its last start in moves_, once the label is kept
    GraphStartMove move;
  };
  // Sorting by it puts labels of one set of jobs together, and likely dominators first.
  struct GraphDominanceKey {
    JobSet jobs;
    double sum;  // of the mean times at which the measures become free, and of the cost
    std::size_t number;
  };

  bool has_started(const GraphLabel& label, int job) const { return contains(label.jobs, job); }

  const double* row(const std::vector<double>& numbers, const GraphLabel& label, int number) const {
    return &numbers[label.first_number + static_cast<std::size_t>(number) * stride_];
  }
  // The ready time of each job: its release, or the last end of its predecessors that have started.
  const double* ready_times(const std::vector<double>& numbers, const GraphLabel& label) const {
    return ready_numbers_ > 0 ? row(numbers, label, label.row_count)
                              : jobs_.instance().releases().data();
  }

  void begin_pass();

  bool is_ready(const GraphLabel& label, int job) const {
    return (jobs_.predecessors(job) & ~label.jobs) == 0;
  }

  // The earliest time at which a job is ready and its choice fits.
  double earliest_start(const GraphLabel& label, int job, int choice) const {
    int number = 0;
    while (!jobs_.has_room_for(choice, row(numbers_, label, number) + 1)) ++number;
    return std::max(ready_times(numbers_, label)[job], row(numbers_, label, number)[0]);
  }

  // The earliest end of any job that may start: a job that starts later leaves a hole.
  double earliest_end(const GraphLabel& label) const;

  void expand_label(const GraphLabel& label);

  // Adds the label with one job more, unless its lower bound is not below the incumbent.
  void add_successor(const GraphLabel& label, int job, int choice, double start);

  // Appends the rows of the successor, in which `choice` runs from `start` to `end`.
  void append_rows(const GraphLabel& label, GraphLabel& successor, int choice, double start,
                   double end);

  // Appends a row to the successor: the amounts of another row, less the needs of a choice (-1:
  // none).
  void append_row(GraphLabel& successor, const double* from, double time, int choice) {
    next_numbers_.push_back(time);
    for (int measure = 0; measure < jobs_.measures(); ++measure)
      next_numbers_.push_back(from[1 + measure] - (choice < 0 ? 0 : jobs_.need(choice)[measure]));
    ++successor.row_count;
  }

  void append_ready_times(const GraphLabel& label, int job, double end);

  // Offers the schedule of a label in which all jobs have started, and forgets its rows.
  void offer_schedule(const GraphLabel& label);

  // Whether every completion of b costs at least as much as after a, when it starts so much later
  // that all of it fits after a; for the makespan, whether it fits after a without starting later.
  // `weight_of_rest`: of the jobs that have not started.
  bool dominates(const GraphLabel& a, const GraphLabel& b, double weight_of_rest);

  bool is_no_scarcer(const double* row_a, const double* row_b) const {
    constexpr double kSameAmount = 1e-12;  // amounts that differ by less are the same
    for (int measure = 0; measure < jobs_.real_measures(); ++measure)
      if (row_a[1 + measure] < row_b[1 + measure] - kSameAmount) return false;
    return true;
  }

  double waiting_weight(JobSet started_jobs) const {
    double weight = 0;
    for (int job = 0; job < jobs_.jobs(); ++job)
      if (!contains(started_jobs, job)) weight += jobs_.instance().weight(job);
    return weight;
  }

  // The mean over the real measures of the mean time at which a part of the measure becomes free.
  double mean_free_time(const GraphLabel& label) const;

  std::vector<GraphDominanceKey> order_by_dominance_key() const;

  void keep_undominated(std::size_t width);

  void drop_worst(std::vector<GraphLabel>& labels, std::size_t width);

  const GraphJobs& jobs_;
  bool minimizes_makespan_;
  Incumbent& incumbent_;
  GraphLabelBounds& bounds_;
  WorkBudget& budget_;
  GraphLabelParams params_;
  int stride_;         // numbers of a row
  int ready_numbers_;  // of a label: a ready time for each job, or 0 without edges

  double dropped_bound_ = kInfinity;
  std::vector<GraphLabel> labels_;       // of the present number of started jobs
  std::vector<GraphLabel> next_labels_;  // of one job more
  std::vector<double> numbers_;          // rows and ready times of labels_
  std::vector<double> next_numbers_;     // of next_labels_
  std::size_t next_to_expand_ = 0;       // index in labels_
  std::vector<GraphStartMove> moves_;    // the last starts of all labels that were kept
};

}  // namespace cosched::moldable::search
