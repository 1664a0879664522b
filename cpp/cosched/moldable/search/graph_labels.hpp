// Beginnings of schedules of jobs with precedence and resources, one number of jobs after the other.
#pragma once

#include <tuple>

#include "cosched/moldable/search/graph_label_bounds.hpp"

namespace cosched::moldable::search {

/// Room for the labels of one number of jobs, in numbers: 256 MB.
inline constexpr std::size_t kGraphLabelsRoom = 32'000'000;

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
  GraphLabels(const GraphJobs& jobs, Objective objective, BestSoFar& incumbent,
              GraphLabelBounds& bounds, Effort& effort, std::size_t room = kGraphLabelsRoom)
      : jobs_(jobs),
        makespan_(objective == Objective::makespan),
        incumbent_(incumbent),
        bounds_(bounds),
        effort_(effort),
        room_(room),
        stride_(1 + jobs.measures()),
        ready_numbers_(jobs.has_edges() ? jobs.jobs() : 0) {}

  /// All numbers of jobs, from the empty schedule on; of each the `width` labels of least bound go
  /// on.  False: the work is over, or the room.  May be left by check_interrupt(): bound() holds at
  /// any time.
  bool pass(std::size_t width) {
    begin_pass();
    for (int size = 1; size <= jobs_.jobs() && !labels_.empty(); ++size) {
      next_labels_.clear();
      next_numbers_.clear();
      expanded_ = 0;
      for (; expanded_ < labels_.size(); ++expanded_) {
        if (effort_.over() || next_numbers_.size() > room_) return false;
        expand(labels_[expanded_]);
      }
      keep_undominated(width);
    }
    labels_.clear();
    next_labels_.clear();
    return true;
  }

  /// The least bound of what was dropped for its number in this pass: infinite where nothing was.
  double dropped() const { return dropped_; }

  /// The least of what was dropped and of what may still come in this pass.
  double bound() const {
    double least = dropped_;
    for (std::size_t k = expanded_; k < labels_.size(); ++k)
      least = std::min(least, labels_[k].least);
    for (const Label& label : next_labels_) least = std::min(least, label.least);
    return least;
  }

 private:
  static constexpr std::size_t kCompared = 100;  // labels of a set that another is compared with
  static constexpr double kSameAmount = 1e-12;   // shares that differ by less are the same

  struct Move {
    int before;  // the number of the move before it, -1: none
    int job, choice;
    double start;
  };
  // Its rows (graph_label_bounds.hpp), and where there are edges when each job is ready, lie in a
  // vector that all labels of a number of jobs share.
  struct Label {
    JobSet jobs;
    double cost;        // sum w C of them (minsum)
    double least;       // no completion is better
    std::size_t first;  // of its numbers
    int rows;
    int last_move;  // its number, where the label goes on
    Move move;
  };
  struct Candidate {
    JobSet jobs;
    double promise;  // those of a small sum of times are likely to dominate others
    std::size_t number;
  };

  bool has_started(const Label& label, int job) const { return label.jobs >> job & 1; }

  const double* row(const std::vector<double>& numbers, const Label& label, int number) const {
    return &numbers[label.first + static_cast<std::size_t>(number) * stride_];
  }
  // When each job is ready, as its release and its predecessors that have started let it.
  const double* ready(const std::vector<double>& numbers, const Label& label) const {
    return ready_numbers_ > 0 ? row(numbers, label, label.rows)
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
    dropped_ = kInfinity;
  }

  bool is_ready(const Label& label, int job) const {
    return (jobs_.predecessors(job) & ~label.jobs) == 0;
  }

  // The first row on which the choice of a job fits from some time on.
  double earliest_start(const Label& label, int job, int choice) const {
    int number = 0;
    while (!jobs_.fits(choice, row(numbers_, label, number) + 1)) ++number;
    return std::max(ready(numbers_, label)[job], row(numbers_, label, number)[0]);
  }

  // The earliest end of any job that may start: whoever starts later leaves a hole.
  double earliest_end(const Label& label) const {
    double earliest = kInfinity;
    for (int job = 0; job < jobs_.jobs(); ++job) {
      if (has_started(label, job) || !is_ready(label, job)) continue;
      for (int choice = jobs_.first(job); choice < jobs_.first(job + 1); ++choice)
        earliest = std::min(earliest, earliest_start(label, job, choice) + jobs_.time(choice));
    }
    return earliest;
  }

  void expand(const Label& label) {
    if (incumbent_.hopeless(label.least)) return;
    const double hole_end = earliest_end(label);
    for (int job = 0; job < jobs_.jobs(); ++job) {
      if (has_started(label, job) || !is_ready(label, job)) continue;
      if ((jobs_.identical_jobs(job) & ~label.jobs) != 0) continue;
      for (int choice = jobs_.first(job); choice < jobs_.first(job + 1); ++choice) {
        const double start = earliest_start(label, job, choice);
        effort_.count(label.rows);
        if (start < hole_end) add(label, job, choice, start);
      }
    }
  }

  // The label with one job more, where it may lead to something better.
  void add(const Label& label, int job, int choice, double start) {
    const double end = start + jobs_.time(choice);
    Label made{label.jobs | JobSet{1} << job,        0, label.least, next_numbers_.size(), 0, -1,
               {label.last_move, job, choice, start}};
    made.cost = label.cost + jobs_.instance().weight(job) * end;
    put_rows(label, made, choice, start, end);
    if (ready_numbers_ > 0) put_ready(label, job, end);
    const GraphBeginning beginning{made.jobs, made.cost, row(next_numbers_, made, 0), made.rows,
                                   ready(next_numbers_, made)};
    made.least = std::max(made.least, bounds_.least(beginning, made.least));
    if (incumbent_.hopeless(made.least))
      next_numbers_.resize(made.first);
    else if (made.jobs == jobs_.everything())
      accept(made);
    else
      next_labels_.push_back(made);
  }

  // What is left free when a choice runs from `start` to `end`.
  void put_rows(const Label& label, Label& made, int choice, double start, double end) {
    int number = 0;
    while (number + 1 < label.rows && row(numbers_, label, number + 1)[0] <= start) ++number;
    put_row(made, row(numbers_, label, number), start, choice);
    for (++number; number < label.rows && row(numbers_, label, number)[0] < end; ++number)
      put_row(made, row(numbers_, label, number), row(numbers_, label, number)[0], choice);
    // From its end on it leaves what the others do.
    const bool ends_with_another = number < label.rows && row(numbers_, label, number)[0] == end;
    if (!ends_with_another) put_row(made, row(numbers_, label, number - 1), end, -1);
    for (; number < label.rows; ++number)
      put_row(made, row(numbers_, label, number), row(numbers_, label, number)[0], -1);
  }

  // A row of the label that is made: what another row has, less the needs of a choice (-1: none).
  void put_row(Label& made, const double* from, double time, int choice) {
    next_numbers_.push_back(time);
    for (int measure = 0; measure < jobs_.measures(); ++measure)
      next_numbers_.push_back(from[1 + measure] - (choice < 0 ? 0 : jobs_.need(choice)[measure]));
    ++made.rows;
  }

  void put_ready(const Label& label, int job, double end) {
    const double* const before = ready(numbers_, label);
    for (int other = 0; other < jobs_.jobs(); ++other) {
      const bool waits_for_job = jobs_.predecessors(other) >> job & 1;
      next_numbers_.push_back(waits_for_job ? std::max(before[other], end) : before[other]);
    }
  }

  void accept(const Label& label) {
    next_numbers_.resize(label.first);
    Placement made = unplaced(jobs_.jobs());
    for (const Move* move = &label.move;; move = &moves_[move->before]) {
      graph::put(made, move->job, jobs_.choice(move->job, move->choice), move->start);
      if (move->before < 0) break;
    }
    incumbent_.offer(std::move(made));
  }

  // Whether what b becomes, started so much later that all of it fits after a, costs no less after
  // b than after a; for the makespan, whether it fits without being later.
  bool dominates(const Label& a, const Label& b, double weight_of_rest) {
    const double saving = makespan_ ? 0 : b.cost * (1 + kProofRounding) - a.cost;
    if (saving < 0) return false;
    const double most_cost = makespan_ ? 0 : b.cost * (1 - kProofRounding) - a.cost;
    const auto is_too_late = [&](double late, double time) {
      if (late <= kProofRounding * time) return false;
      return makespan_ || late * weight_of_rest >= most_cost;
    };
    effort_.count(1);
    int of_a = 0;
    for (int of_b = 0; of_b < b.rows; ++of_b) {
      const double* const row_b = row(next_numbers_, b, of_b);
      while (!has_as_much(row(next_numbers_, a, of_a), row_b)) ++of_a;
      if (is_too_late(row(next_numbers_, a, of_a)[0] - row_b[0], row_b[0])) return false;
    }
    if (ready_numbers_ == 0) return true;
    const double last_start = row(next_numbers_, b, 0)[0];
    for (int job = 0; job < jobs_.jobs(); ++job) {
      if (b.jobs >> job & 1) continue;
      const double earliest = std::max(ready(next_numbers_, b)[job], last_start);
      if (is_too_late(ready(next_numbers_, a)[job] - earliest, earliest)) return false;
    }
    return true;
  }

  bool has_as_much(const double* row_a, const double* row_b) const {
    for (int measure = 0; measure < jobs_.real_measures(); ++measure)
      if (row_a[1 + measure] < row_b[1 + measure] - kSameAmount) return false;
    return true;
  }

  double weight_of_waiting(JobSet jobs) const {
    double weight = 0;
    for (int job = 0; job < jobs_.jobs(); ++job)
      if (!(jobs >> job & 1)) weight += jobs_.instance().weight(job);
    return weight;
  }

  // The time by which measures are free, on average.
  double mean_free_time(const Label& label) const {
    double sum = 0;
    for (int measure = 0; measure < jobs_.real_measures(); ++measure) {
      double free = 0;
      for (int number = 0; number < label.rows; ++number) {
        const double* const own_row = row(next_numbers_, label, number);
        sum += own_row[0] * (own_row[1 + measure] - free) / jobs_.capacity(measure);
        free = own_row[1 + measure];
      }
    }
    return sum / jobs_.real_measures();
  }

  // The labels of one more job, by sets; of a set those that are likely to dominate first.
  std::vector<Candidate> likely_first() const {
    std::vector<Candidate> order;
    order.reserve(next_labels_.size());
    for (std::size_t k = 0; k < next_labels_.size(); ++k) {
      const Label& label = next_labels_[k];
      double promise = mean_free_time(label);
      if (!makespan_) promise = label.cost + weight_of_waiting(label.jobs) * promise;
      order.push_back({label.jobs, promise, k});
    }
    std::sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.jobs, a.promise, a.number) < std::tie(b.jobs, b.promise, b.number);
    });
    return order;
  }

  void keep_undominated(std::size_t width) {
    std::vector<Label> kept;
    std::size_t group = 0;  // the first that is kept of the same jobs
    for (const Candidate& candidate : likely_first()) {
      const Label& label = next_labels_[candidate.number];
      if (incumbent_.hopeless(label.least)) continue;
      if (group < kept.size() && kept[group].jobs != label.jobs) group = kept.size();
      const double weight = weight_of_waiting(label.jobs);
      const auto dominates_label = [&](const Label& other) {
        return dominates(other, label, weight);
      };
      const auto first = kept.begin() + static_cast<std::ptrdiff_t>(group);
      const auto last =
          kept.begin() + static_cast<std::ptrdiff_t>(std::min(kept.size(), group + kCompared));
      if (std::any_of(first, last, dominates_label)) continue;
      // Equal labels have nearly the same promise, and are neighbours.
      if (kept.size() > group + kCompared &&
          std::any_of(kept.end() - kNeighbours, kept.end(), dominates_label))
        continue;
      kept.push_back(label);
    }
    if (kept.size() > width) drop_worst(kept, width);
    for (Label& label : kept) {
      label.last_move = static_cast<int>(moves_.size());
      moves_.push_back(label.move);
    }
    labels_ = std::move(kept);
    numbers_.swap(next_numbers_);
    next_labels_.clear();
    expanded_ = 0;
  }

  void drop_worst(std::vector<Label>& labels, std::size_t width) {
    const auto last = labels.begin() + static_cast<std::ptrdiff_t>(width);
    std::nth_element(labels.begin(), last, labels.end(), [](const Label& a, const Label& b) {
      return std::pair(a.least, a.first) < std::pair(b.least, b.first);
    });
    for (auto label = last; label != labels.end(); ++label)
      dropped_ = std::min(dropped_, label->least);
    labels.erase(last, labels.end());
  }

  static constexpr std::ptrdiff_t kNeighbours = 20;

  const GraphJobs& jobs_;
  bool makespan_;
  BestSoFar& incumbent_;
  GraphLabelBounds& bounds_;
  Effort& effort_;
  std::size_t room_;
  int stride_, ready_numbers_;

  double dropped_ = kInfinity;
  std::vector<Label> labels_, next_labels_;     // of one number of jobs, and of one more
  std::vector<double> numbers_, next_numbers_;  // theirs
  std::size_t expanded_ = 0;                    // labels before it are expanded
  std::vector<Move> moves_;                     // of labels that went on
};

}  // namespace cosched::moldable::search
