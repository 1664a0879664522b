// Beginnings of schedules, one number of jobs after the other.
#pragma once

#include <tuple>

#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// Room for the labels of one number of jobs, in steps: 192 MB, and as much for what else they
/// hold.
inline constexpr std::size_t kLabelSteps = 12'000'000;

/// In some optimal schedule every job starts as early as the order of starts, its release and its
/// count let it; so a schedule is an order of (job, count), and all that the rest must know of a
/// beginning is when how many processors are free: times that are not before the last start.
/// Labels of one number of jobs are made from those of one job fewer.  One is dropped
///   - where another of the same jobs has every processor free no later, at no more cost so far;
///     for the minsum also where it has them free later by d, and costs so much less that it may
///     start all that follows later by d (one of the hundred of them that are likeliest to);
///   - where a job that is not in it could start and end before the last start (Giffler, Thompson:
///     the hole would stay open for nothing), or an equal job of lower number is not in it;
///   - where a lower bound on what it becomes (label_bounds.hpp) is not below the best schedule
///     known.
class Labels {
 public:
  /// All must outlive it.
  Labels(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
         Objective objective, Incumbent& incumbent, LabelBounds& bounds, WorkBudget& effort,
         std::size_t room = kLabelSteps)
      : instance_(instance),
        choices_(choices),
        minimizes_makespan_(objective == Objective::makespan),
        incumbent_(incumbent),
        bounds_(bounds),
        budget_(effort),
        step_limit_(room),
        identical_before_(instance.jobs(), 0) {
    for (int j = 0; j < instance_.jobs(); ++j)
      for (int i = 0; i < j; ++i)
        if (are_identical(instance_, choices_, i, j)) identical_before_[j] |= JobSet{1} << i;
  }

  /// All numbers of jobs, from the empty schedule on; of each the `width` labels of least bound go
  /// on. False: the work is over, or the room.  May be left by check_interrupt(): bound() holds at
  /// any time.
  bool run_pass(std::size_t width) {
    free_steps_ = {{0, instance_.machines()}};
    labels_ = {{0, 0, 0, 0, 1, -1, {}}};
    moves_.clear();
    dropped_bound_ = kInfinity;
    for (int size = 1; size <= instance_.jobs() && !labels_.empty(); ++size) {
      next_labels_.clear();
      next_free_steps_.clear();
      next_to_expand_ = 0;
      for (; next_to_expand_ < labels_.size(); ++next_to_expand_) {
        if (budget_.is_exhausted() || next_free_steps_.size() > step_limit_) return false;
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
    for (const Label& label : next_labels_) least = std::min(least, label.lower_bound);
    return least;
  }

 private:
  static constexpr std::size_t kComparedLabels =
      100;  // labels of a set that another is compared with

  // The free time of the q-th processor that becomes free.
  static double free_time(const FreeStep* step, int q) {
    while ((q -= step->procs) > 0) ++step;
    return step->time;
  }

  static bool are_identical(const Instance& instance,
                            const std::vector<std::vector<Choice>>& choices, int a, int b) {
    return instance.weight(a) == instance.weight(b) && instance.release(a) == instance.release(b) &&
           std::equal(choices[a].begin(), choices[a].end(), choices[b].begin(), choices[b].end(),
                      [](const Choice& x, const Choice& y) {
                        return x.procs == y.procs && x.time == y.time;
                      });
  }

  struct DominanceKey {
    JobSet jobs;
    double sum;  // of the free times, and of the cost
    std::size_t number;
  };
  struct StartMove {
    int previous_move;  // the move before it, -1: none
    int job, procs;
    double start;
  };
  // Its steps lie in a vector that all labels of a number of jobs share.
  struct Label {
    JobSet jobs;
    double cost;         // sum w C of them (minsum)
    double lower_bound;  // no completion is better
    std::size_t first_step;
    int step_count;
    int move_number;  // of its last move, where it goes on
    StartMove move;
  };

  bool is_in(JobSet jobs, int job) const { return jobs >> job & 1; }
  JobSet all_jobs() const { return (JobSet{1} << instance_.jobs()) - 1; }

  double earliest_start(const Label& label, int job, const Choice& choice) const {
    return std::max(instance_.release(job),
                    free_time(&free_steps_[label.first_step], choice.procs));
  }

  // The earliest end of any job that is not in the label: whoever starts later leaves a hole.
  double earliest_end(const Label& label) const {
    double earliest = kInfinity;
    for (int j = 0; j < instance_.jobs(); ++j)
      if (!is_in(label.jobs, j))
        for (const Choice& choice : choices_[j])
          earliest = std::min(earliest, earliest_start(label, j, choice) + choice.time);
    return earliest;
  }

  void expand_label(const Label& label) {
    if (incumbent_.can_prune(label.lower_bound)) return;
    const double before = earliest_end(label);
    for (int j = 0; j < instance_.jobs(); ++j) {
      if (is_in(label.jobs, j) || (identical_before_[j] & ~label.jobs) != 0) continue;
      for (const Choice& choice : choices_[j]) {
        const double start = earliest_start(label, j, choice);
        budget_.spend(label.step_count);
        if (start < before) add_successor(label, j, choice, start);
      }
    }
  }

  // The label with one job more, where it may lead to something better.
  void add_successor(const Label& label, int job, const Choice& choice, double start) {
    Label made{label.jobs | JobSet{1} << job,
               0,
               0,
               next_free_steps_.size(),
               0,
               -1,
               {label.move_number, job, choice.procs, start}};
    made.cost = label.cost + instance_.weight(job) * (start + choice.time);
    append_free_steps(label, made, choice, start);
    made.lower_bound =
        std::max(label.lower_bound,
                 bounds_.lower_bound(
                     {made.jobs, made.cost, &next_free_steps_[made.first_step], made.step_count},
                     label.lower_bound));
    if (incumbent_.can_prune(made.lower_bound)) {
      next_free_steps_.resize(made.first_step);
      return;
    }
    if (made.jobs == all_jobs())
      offer_schedule(made);
    else
      next_labels_.push_back(made);
  }

  // The steps that are left when `choice` starts.
  void append_free_steps(const Label& label, Label& made, const Choice& choice, double start) {
    const double end = start + choice.time;
    int free = -choice.procs;
    std::size_t k = label.first_step;
    const std::size_t last = label.first_step + label.step_count;
    for (; k < last && free_steps_[k].time <= start; ++k) free += free_steps_[k].procs;
    if (free > 0) next_free_steps_.push_back({start, free});
    for (; k < last && free_steps_[k].time <= end; ++k) next_free_steps_.push_back(free_steps_[k]);
    if (next_free_steps_.size() > made.first_step && next_free_steps_.back().time == end)
      next_free_steps_.back().procs += choice.procs;
    else
      next_free_steps_.push_back({end, choice.procs});
    next_free_steps_.insert(next_free_steps_.end(),
                            free_steps_.begin() + static_cast<std::ptrdiff_t>(k),
                            free_steps_.begin() + static_cast<std::ptrdiff_t>(last));
    made.step_count = static_cast<int>(next_free_steps_.size() - made.first_step);
  }

  void offer_schedule(const Label& label) {
    next_free_steps_.resize(label.first_step);
    Placement made = empty_placement(instance_.jobs());
    for (const StartMove* move = &label.move;; move = &moves_[move->previous_move]) {
      place(instance_, made, move->job, move->procs, move->start);
      if (move->previous_move < 0) break;
    }
    incumbent_.offer(std::move(made));
  }

  // Whether what b becomes, started so much later that every processor of a is free for it, costs
  // no less after b than after a; for the makespan, whether every processor is free no later in a.
  bool dominates(const Label& a, const Label& b, double weight) {
    const double cheaper = minimizes_makespan_ ? 0 : b.cost - a.cost;
    if (cheaper < 0) return false;
    const double most = minimizes_makespan_ ? 0 : cheaper - kProofRounding * b.cost;
    const FreeStep *x = &next_free_steps_[a.first_step], *y = &next_free_steps_[b.first_step];
    const FreeStep* const x_end = x + a.step_count;
    budget_.spend(1);
    for (int p = x->procs, q = y->procs;;) {
      if (x->time > y->time && (minimizes_makespan_ || (x->time - y->time) * weight >= most))
        return false;
      const int both = std::min(p, q);
      if ((p -= both) == 0 && ++x == x_end) return true;
      if (p == 0) p = x->procs;
      if ((q -= both) == 0) q = (++y)->procs;
    }
  }

  double waiting_weight(JobSet jobs) const {
    double weight = 0;
    for (int j = 0; j < instance_.jobs(); ++j)
      if (!is_in(jobs, j)) weight += instance_.weight(j);
    return weight;
  }

  // The labels of one more job, by sets; of a set those that are likely to dominate first.
  std::vector<DominanceKey> order_by_dominance_key() const {
    std::vector<DominanceKey> order;
    order.reserve(next_labels_.size());
    for (std::size_t k = 0; k < next_labels_.size(); ++k) {
      double sum = 0;
      for (int s = 0; s < next_labels_[k].step_count; ++s) {
        const FreeStep& step = next_free_steps_[next_labels_[k].first_step + s];
        sum += step.time * step.procs;
      }
      if (!minimizes_makespan_)
        sum = next_labels_[k].cost +
              waiting_weight(next_labels_[k].jobs) * sum / instance_.machines();
      order.push_back({next_labels_[k].jobs, sum, k});
    }
    std::sort(order.begin(), order.end(), [](const DominanceKey& a, const DominanceKey& b) {
      return std::tie(a.jobs, a.sum, a.number) < std::tie(b.jobs, b.sum, b.number);
    });
    return order;
  }

  void keep_undominated(std::size_t width) {
    std::vector<Label> kept;
    std::vector<double> sums;
    std::size_t group = 0;
    for (const DominanceKey& next : order_by_dominance_key()) {
      const Label& one = next_labels_[next.number];
      if (incumbent_.can_prune(one.lower_bound)) continue;
      if (group < kept.size() && kept[group].jobs != one.jobs) group = kept.size();
      const double weight = waiting_weight(one.jobs);
      bool needed = true;
      const std::size_t near = std::min(kept.size(), group + kComparedLabels);
      for (std::size_t k = group; k < near && needed; ++k)
        needed = !dominates(kept[k], one, weight);
      // Equal ones have nearly the same sum.
      for (std::size_t k = kept.size(); needed && k-- > near;) {
        if (sums[k] * (1 + kProofRounding) < next.sum) break;
        needed = !dominates(kept[k], one, weight);
      }
      if (!needed) continue;
      kept.push_back(one);
      sums.push_back(next.sum);
    }
    if (kept.size() > width) {
      const auto last = kept.begin() + static_cast<std::ptrdiff_t>(width);
      std::nth_element(kept.begin(), last, kept.end(), [](const Label& a, const Label& b) {
        return std::pair(a.lower_bound, a.first_step) < std::pair(b.lower_bound, b.first_step);
      });
      for (auto label = last; label != kept.end(); ++label)
        dropped_bound_ = std::min(dropped_bound_, label->lower_bound);
      kept.erase(last, kept.end());
    }
    for (Label& label : kept) {
      label.move_number = static_cast<int>(moves_.size());
      moves_.push_back(label.move);
    }
    labels_ = std::move(kept);
    free_steps_.swap(next_free_steps_);
    next_labels_.clear();
    next_to_expand_ = 0;
  }

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  bool minimizes_makespan_;
  Incumbent& incumbent_;
  LabelBounds& bounds_;
  WorkBudget& budget_;
  std::size_t step_limit_;
  std::vector<JobSet> identical_before_;  // equal jobs of lower number

  double dropped_bound_ = kInfinity;
  std::vector<Label> labels_, next_labels_;  // of one number of jobs, and of one more
  std::vector<FreeStep> free_steps_, next_free_steps_;
  std::size_t next_to_expand_ = 0;  // labels before it are expanded
  std::vector<StartMove> moves_;    // of labels that went on
};

}  // namespace cosched::moldable::search
