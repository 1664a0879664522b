// Beginnings of schedules, one number of jobs after the other.
#pragma once

#include <tuple>

#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// Room for the labels of one number of jobs, in steps: 192 MB, and as much for what else they
/// hold.
inline constexpr std::size_t kLabelsRoom = 12'000'000;

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
         Objective objective, BestSoFar& incumbent, LabelBounds& bounds, Effort& effort,
         std::size_t room = kLabelsRoom)
      : it_(instance),
        choices_(choices),
        makespan_(objective == Objective::makespan),
        best_(incumbent),
        bounds_(bounds),
        effort_(effort),
        room_(room),
        identical_jobs_(instance.jobs(), 0) {
    for (int j = 0; j < it_.jobs(); ++j)
      for (int i = 0; i < j; ++i)
        if (alike(it_, choices_, i, j)) identical_jobs_[j] |= JobSet{1} << i;
  }

  /// All numbers of jobs, from the empty schedule on; of each the `width` labels of least bound go
  /// on. False: the work is over, or the room.  May be left by check_interrupt(): bound() holds at
  /// any time.
  bool pass(std::size_t width) {
    steps_ = {{0, it_.machines()}};
    labels_ = {{0, 0, 0, 0, 1, -1, {}}};
    moves_.clear();
    dropped_ = kInfinity;
    for (int size = 1; size <= it_.jobs() && !labels_.empty(); ++size) {
      next_.clear();
      next_steps_.clear();
      at_ = 0;
      for (; at_ < labels_.size(); ++at_) {
        if (effort_.over() || next_steps_.size() > room_) return false;
        expand(labels_[at_]);
      }
      keep_undominated(width);
    }
    labels_.clear();
    next_.clear();
    return true;
  }

  /// The least bound of what was dropped for its number in this pass: infinite where nothing was.
  double dropped() const { return dropped_; }

  /// The least of what was dropped and of what may still come in this pass.
  double bound() const {
    double least = dropped_;
    for (std::size_t k = at_; k < labels_.size(); ++k) least = std::min(least, labels_[k].least);
    for (const Label& label : next_) least = std::min(least, label.least);
    return least;
  }

 private:
  static constexpr std::size_t kCompared = 100;  // labels of a set that another is compared with

  // The free time of the q-th processor that becomes free.
  static double free_time(const Step* step, int q) {
    while ((q -= step->count) > 0) ++step;
    return step->time;
  }

  static bool alike(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                    int a, int b) {
    return instance.weight(a) == instance.weight(b) && instance.release(a) == instance.release(b) &&
           std::equal(choices[a].begin(), choices[a].end(), choices[b].begin(), choices[b].end(),
                      [](const Choice& x, const Choice& y) {
                        return x.procs == y.procs && x.time == y.time;
                      });
  }

  struct Likely {
    JobSet jobs;
    double sum;  // of the free times, and of the cost
    std::size_t number;
  };
  struct Move {
    int before;  // the move before it, -1: none
    int job, procs;
    double start;
  };
  // Its steps lie in a vector that all labels of a number of jobs share.
  struct Label {
    JobSet jobs;
    double cost;   // sum w C of them (minsum)
    double least;  // no completion is better
    std::size_t first;
    int steps;
    int number;  // of its last move, where it goes on
    Move move;
  };

  bool in(JobSet jobs, int job) const { return jobs >> job & 1; }
  JobSet everything() const { return (JobSet{1} << it_.jobs()) - 1; }

  double start_of(const Label& label, int job, const Choice& choice) const {
    return std::max(it_.release(job), free_time(&steps_[label.first], choice.procs));
  }

  // The earliest end of any job that is not in the label: whoever starts later leaves a hole.
  double earliest_end(const Label& label) const {
    double earliest = kInfinity;
    for (int j = 0; j < it_.jobs(); ++j)
      if (!in(label.jobs, j))
        for (const Choice& choice : choices_[j])
          earliest = std::min(earliest, start_of(label, j, choice) + choice.time);
    return earliest;
  }

  void expand(const Label& label) {
    if (best_.hopeless(label.least)) return;
    const double before = earliest_end(label);
    for (int j = 0; j < it_.jobs(); ++j) {
      if (in(label.jobs, j) || (identical_jobs_[j] & ~label.jobs) != 0) continue;
      for (const Choice& choice : choices_[j]) {
        const double start = start_of(label, j, choice);
        effort_.count(label.steps);
        if (start < before) add(label, j, choice, start);
      }
    }
  }

  // The label with one job more, where it may lead to something better.
  void add(const Label& label, int job, const Choice& choice, double start) {
    Label made{label.jobs | JobSet{1} << job,           0, 0, next_steps_.size(), 0, -1,
               {label.number, job, choice.procs, start}};
    made.cost = label.cost + it_.weight(job) * (start + choice.time);
    put(label, made, choice, start);
    made.least = std::max(
        label.least,
        bounds_.least({made.jobs, made.cost, &next_steps_[made.first], made.steps}, label.least));
    if (best_.hopeless(made.least)) {
      next_steps_.resize(made.first);
      return;
    }
    if (made.jobs == everything())
      accept(made);
    else
      next_.push_back(made);
  }

  // The steps that are left when `choice` starts.
  void put(const Label& label, Label& made, const Choice& choice, double start) {
    const double end = start + choice.time;
    int free = -choice.procs;
    std::size_t k = label.first;
    const std::size_t last = label.first + label.steps;
    for (; k < last && steps_[k].time <= start; ++k) free += steps_[k].count;
    if (free > 0) next_steps_.push_back({start, free});
    for (; k < last && steps_[k].time <= end; ++k) next_steps_.push_back(steps_[k]);
    if (next_steps_.size() > made.first && next_steps_.back().time == end)
      next_steps_.back().count += choice.procs;
    else
      next_steps_.push_back({end, choice.procs});
    next_steps_.insert(next_steps_.end(), steps_.begin() + static_cast<std::ptrdiff_t>(k),
                       steps_.begin() + static_cast<std::ptrdiff_t>(last));
    made.steps = static_cast<int>(next_steps_.size() - made.first);
  }

  void accept(const Label& label) {
    next_steps_.resize(label.first);
    Placement made = unplaced(it_.jobs());
    for (const Move* move = &label.move;; move = &moves_[move->before]) {
      place(it_, made, move->job, move->procs, move->start);
      if (move->before < 0) break;
    }
    best_.offer(std::move(made));
  }

  // Whether what b becomes, started so much later that every processor of a is free for it, costs
  // no less after b than after a; for the makespan, whether every processor is free no later in a.
  bool dominates(const Label& a, const Label& b, double weight) {
    const double cheaper = makespan_ ? 0 : b.cost - a.cost;
    if (cheaper < 0) return false;
    const double most = makespan_ ? 0 : cheaper - kProofRounding * b.cost;
    const Step *x = &next_steps_[a.first], *y = &next_steps_[b.first];
    const Step* const x_end = x + a.steps;
    effort_.count(1);
    for (int p = x->count, q = y->count;;) {
      if (x->time > y->time && (makespan_ || (x->time - y->time) * weight >= most)) return false;
      const int both = std::min(p, q);
      if ((p -= both) == 0 && ++x == x_end) return true;
      if (p == 0) p = x->count;
      if ((q -= both) == 0) q = (++y)->count;
    }
  }

  double weight_after(JobSet jobs) const {
    double weight = 0;
    for (int j = 0; j < it_.jobs(); ++j)
      if (!in(jobs, j)) weight += it_.weight(j);
    return weight;
  }

  // The labels of one more job, by sets; of a set those that are likely to dominate first.
  std::vector<Likely> likely_first() const {
    std::vector<Likely> order;
    order.reserve(next_.size());
    for (std::size_t k = 0; k < next_.size(); ++k) {
      double sum = 0;
      for (int s = 0; s < next_[k].steps; ++s) {
        const Step& step = next_steps_[next_[k].first + s];
        sum += step.time * step.count;
      }
      if (!makespan_) sum = next_[k].cost + weight_after(next_[k].jobs) * sum / it_.machines();
      order.push_back({next_[k].jobs, sum, k});
    }
    std::sort(order.begin(), order.end(), [](const Likely& a, const Likely& b) {
      return std::tie(a.jobs, a.sum, a.number) < std::tie(b.jobs, b.sum, b.number);
    });
    return order;
  }

  void keep_undominated(std::size_t width) {
    std::vector<Label> kept;
    std::vector<double> sums;
    std::size_t group = 0;
    for (const Likely& next : likely_first()) {
      const Label& one = next_[next.number];
      if (best_.hopeless(one.least)) continue;
      if (group < kept.size() && kept[group].jobs != one.jobs) group = kept.size();
      const double weight = weight_after(one.jobs);
      bool needed = true;
      const std::size_t near = std::min(kept.size(), group + kCompared);
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
        return std::pair(a.least, a.first) < std::pair(b.least, b.first);
      });
      for (auto label = last; label != kept.end(); ++label)
        dropped_ = std::min(dropped_, label->least);
      kept.erase(last, kept.end());
    }
    for (Label& label : kept) {
      label.number = static_cast<int>(moves_.size());
      moves_.push_back(label.move);
    }
    labels_ = std::move(kept);
    steps_.swap(next_steps_);
    next_.clear();
    at_ = 0;
  }

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  bool makespan_;
  BestSoFar& best_;
  LabelBounds& bounds_;
  Effort& effort_;
  std::size_t room_;
  std::vector<JobSet> identical_jobs_;  // equal jobs of lower number

  double dropped_ = kInfinity;
  std::vector<Label> labels_, next_;  // of one number of jobs, and of one more
  std::vector<Step> steps_, next_steps_;
  std::size_t at_ = 0;       // labels before it are expanded
  std::vector<Move> moves_;  // of labels that went on
};

}  // namespace cosched::moldable::search
