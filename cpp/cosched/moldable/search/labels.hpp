// A label-setting search for the best schedule of few jobs, by increasing number of started jobs.
#pragma once

#include "cosched/moldable/model/incumbent.hpp"
#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// How much memory and time a label search may use.
struct LabelParams {
  /// Free steps that the labels of one number of jobs may have together: 192 MB for the default,
  /// and as much for the rest of the labels.
  std::size_t max_steps = 12'000'000;
  /// Labels of a set of jobs with which a further one is compared for dominance.  More drop more
  /// labels, but each comparison costs as much as making a label.
  std::size_t compared_labels = 100;
};

/// In some optimal schedule every job starts as early as the order of starts, its release and its
/// count let it.  So a schedule is an order of pairs (job, count), and the remaining jobs need to
/// know of a partial schedule only when how many processors are free, counted from the last start
/// on: that, with its cost so far, is a label.
///
/// Labels with k + 1 started jobs are made from those with k.  A label is dropped
///   - where another label of the same jobs dominates it: it has every processor free no later, at
///     no more cost so far; for the minsum also where it has them free later by d, and costs so
///     much less that all remaining jobs may start later by d (only the `compared_labels` most
///     likely dominators of its set are tried);
///   - where a job that has not started could start and end before the last start (Giffler and
///     Thompson 1960: the hole would stay open for nothing), or an identical job of lower number
///     has not started;
///   - where a lower bound on every schedule that begins with it (label_bounds.hpp) is not below
///     the incumbent.
class Labels {
 public:
  /// All references must outlive the search.
  Labels(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
         Objective objective, Incumbent& incumbent, LabelBounds& bounds, WorkBudget& budget,
         const LabelParams& params = {});

  /// Goes through all numbers of started jobs, from the empty schedule on, and keeps only the
  /// `width` labels of least lower bound for each number (beam search).  Returns false when the
  /// work or the memory is used up.  May throw as check_interrupt(); bound() holds at any time.
  bool run_pass(std::size_t width);

  /// The least lower bound among the labels that this pass dropped because of its width; infinite
  /// where it dropped none, so that the incumbent is then optimal.
  double dropped_bound() const { return dropped_bound_; }

  /// A lower bound on every schedule that this pass has not looked at yet or has dropped because of
  /// its width.
  double bound() const;

 private:
  // The start of one job; with those before it a chain back to the empty schedule.
  struct StartMove {
    int previous_move;  // index in moves_, -1: this job starts first
    int job, procs;
    double start;
  };
  // Its free steps lie in a vector that all labels of one number of jobs share.
  struct Label {
    JobSet jobs;
    double cost;         // sum w C of the started jobs (minsum)
    double lower_bound;  // no schedule that begins so has a better value
    std::size_t first_step;
    int step_count;
    int move_number;  // of its last start in moves_, once the label is kept
    StartMove move;
  };
  // Sorting by it puts labels of one set of jobs together, and likely dominators first.
  struct DominanceKey {
    JobSet jobs;
    double sum;  // of the times at which processors become free, and of the cost
    std::size_t number;
  };

  JobSet all_jobs() const { return first_jobs(instance_.jobs()); }
  double earliest_start(const Label& label, int job, const Choice& choice) const;
  double earliest_end(const Label& label) const;
  double waiting_weight(JobSet started_jobs) const;

  void expand_label(const Label& label);
  void add_successor(const Label& label, int job, const Choice& choice, double start);
  void append_free_steps(const Label& label, Label& successor, const Choice& choice, double start);
  void offer_schedule(const Label& label);

  bool dominates(const Label& a, const Label& b, double weight);
  std::vector<DominanceKey> order_by_dominance_key() const;
  std::vector<Label> undominated_labels();
  void keep_undominated(std::size_t width);
  void drop_worst(std::vector<Label>& labels, std::size_t width);

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  bool minimizes_makespan_;
  Incumbent& incumbent_;
  LabelBounds& bounds_;
  WorkBudget& budget_;
  LabelParams params_;
  std::vector<JobSet> identical_before_;  // of each job, the identical jobs of lower number

  double dropped_bound_ = kInfinity;
  std::vector<Label> labels_;              // of the present number of started jobs
  std::vector<Label> next_labels_;         // of one job more
  std::vector<FreeStep> free_steps_;       // of labels_
  std::vector<FreeStep> next_free_steps_;  // of next_labels_
  std::size_t next_to_expand_ = 0;         // index in labels_
  std::vector<StartMove> moves_;           // the last starts of all labels that were kept
};

}  // namespace cosched::moldable::search
