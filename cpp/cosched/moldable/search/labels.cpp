#include "cosched/moldable/search/labels.hpp"

#include <tuple>

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {
namespace {

// The time from which `procs` processors are free.  Requires as many among the steps.
double time_with_free(const FreeStep* step, int procs) {
  int missing = procs - step->procs;
  while (missing > 0) {
    ++step;
    missing -= step->procs;
  }
  return step->time;
}

// Whether two jobs may be exchanged in any schedule.
bool are_identical(const Instance& instance, const std::vector<std::vector<Choice>>& choices, int a,
                   int b) {
  return instance.weight(a) == instance.weight(b) && instance.release(a) == instance.release(b) &&
         std::equal(choices[a].begin(), choices[a].end(), choices[b].begin(), choices[b].end(),
                    [](const Choice& x, const Choice& y) {
                      return x.procs == y.procs && x.time == y.time;
                    });
}

}  // namespace

Labels::Labels(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
               Objective objective, Incumbent& incumbent, LabelBounds& bounds, WorkBudget& budget,
               const LabelParams& params)
    : instance_(instance),
      choices_(choices),
      minimizes_makespan_(objective == Objective::makespan),
      incumbent_(incumbent),
      bounds_(bounds),
      budget_(budget),
      params_(params),
      identical_before_(instance.jobs(), 0) {
  COSCHED_ASSERT(instance.jobs() < 32);
  for (int j = 0; j < instance_.jobs(); ++j)
    for (int i = 0; i < j; ++i)
      if (are_identical(instance_, choices_, i, j))
        identical_before_[j] = with_job(identical_before_[j], i);
}

bool Labels::run_pass(std::size_t width) {
  free_steps_ = {{0, instance_.machines()}};
  labels_ = {Label{.jobs = 0,
                   .cost = 0,
                   .lower_bound = 0,
                   .first_step = 0,
                   .step_count = 1,
                   .move_number = -1,
                   .move = {}}};
  moves_.clear();
  dropped_bound_ = kInfinity;
  for (int size = 1; size <= instance_.jobs() && !labels_.empty(); ++size) {
    next_labels_.clear();
    next_free_steps_.clear();
    for (next_to_expand_ = 0; next_to_expand_ < labels_.size(); ++next_to_expand_) {
      if (budget_.is_exhausted() || next_free_steps_.size() > params_.max_steps) return false;
      expand_label(labels_[next_to_expand_]);
    }
    keep_undominated(width);
  }
  labels_.clear();
  next_labels_.clear();
  return true;
}

double Labels::bound() const {
  double least = dropped_bound_;
  for (std::size_t k = next_to_expand_; k < labels_.size(); ++k)
    least = std::min(least, labels_[k].lower_bound);
  for (const Label& label : next_labels_) least = std::min(least, label.lower_bound);
  return least;
}

double Labels::earliest_start(const Label& label, int job, const Choice& choice) const {
  return std::max(instance_.release(job),
                  time_with_free(&free_steps_[label.first_step], choice.procs));
}

// The earliest end of any job that has not started: a job that starts later leaves a hole.
double Labels::earliest_end(const Label& label) const {
  double earliest = kInfinity;
  for (int job = 0; job < instance_.jobs(); ++job) {
    if (contains(label.jobs, job)) continue;
    for (const Choice& choice : choices_[job])
      earliest = std::min(earliest, earliest_start(label, job, choice) + choice.time);
  }
  return earliest;
}

// The sum of the weights of the jobs that have not started.
double Labels::waiting_weight(JobSet started_jobs) const {
  double weight = 0;
  for (int job = 0; job < instance_.jobs(); ++job)
    if (!contains(started_jobs, job)) weight += instance_.weight(job);
  return weight;
}

void Labels::expand_label(const Label& label) {
  if (incumbent_.can_prune(label.lower_bound)) return;
  const double hole_end = earliest_end(label);
  for (int job = 0; job < instance_.jobs(); ++job) {
    if (contains(label.jobs, job) || (identical_before_[job] & ~label.jobs) != 0) continue;
    for (const Choice& choice : choices_[job]) {
      const double start = earliest_start(label, job, choice);
      budget_.spend(label.step_count);
      if (start < hole_end) add_successor(label, job, choice, start);
    }
  }
}

// Adds the label with one job more, unless its lower bound is not below the incumbent.
void Labels::add_successor(const Label& label, int job, const Choice& choice, double start) {
  Label successor{.jobs = with_job(label.jobs, job),
                  .cost = label.cost + instance_.weight(job) * (start + choice.time),
                  .lower_bound = label.lower_bound,
                  .first_step = next_free_steps_.size(),
                  .step_count = 0,
                  .move_number = -1,
                  .move = {label.move_number, job, choice.procs, start}};
  append_free_steps(label, successor, choice, start);
  const PartialSchedule partial{.started_jobs = successor.jobs,
                                .started_cost = successor.cost,
                                .free_steps = {&next_free_steps_[successor.first_step],
                                               static_cast<std::size_t>(successor.step_count)}};
  successor.lower_bound =
      std::max(label.lower_bound, bounds_.lower_bound(partial, label.lower_bound));
  if (incumbent_.can_prune(successor.lower_bound)) {
    next_free_steps_.resize(successor.first_step);
    return;
  }
  if (successor.jobs == all_jobs())
    offer_schedule(successor);
  else
    next_labels_.push_back(successor);
}

// The free steps after `choice` has started: the processors that are free at `start` and not taken
// by it, the steps up to its end, its own processors from its end on, and the later steps.
void Labels::append_free_steps(const Label& label, Label& successor, const Choice& choice,
                               double start) {
  const double end = start + choice.time;
  const std::size_t last = label.first_step + label.step_count;
  std::size_t k = label.first_step;
  int free_at_start = -choice.procs;
  for (; k < last && free_steps_[k].time <= start; ++k) free_at_start += free_steps_[k].procs;
  if (free_at_start > 0) next_free_steps_.push_back({start, free_at_start});
  for (; k < last && free_steps_[k].time <= end; ++k) next_free_steps_.push_back(free_steps_[k]);
  const bool has_step_at_end =
      next_free_steps_.size() > successor.first_step && next_free_steps_.back().time == end;
  if (has_step_at_end)
    next_free_steps_.back().procs += choice.procs;
  else
    next_free_steps_.push_back({end, choice.procs});
  next_free_steps_.insert(next_free_steps_.end(),
                          free_steps_.begin() + static_cast<std::ptrdiff_t>(k),
                          free_steps_.begin() + static_cast<std::ptrdiff_t>(last));
  successor.step_count = static_cast<int>(next_free_steps_.size() - successor.first_step);
}

// Offers the schedule of a label in which all jobs have started, and forgets its steps.
void Labels::offer_schedule(const Label& label) {
  next_free_steps_.resize(label.first_step);
  Placement placement = empty_placement(instance_.jobs());
  const StartMove* move = &label.move;
  place(instance_, placement, move->job, move->procs, move->start);
  while (move->previous_move >= 0) {
    move = &moves_[move->previous_move];
    place(instance_, placement, move->job, move->procs, move->start);
  }
  incumbent_.offer(std::move(placement));
}

// Whether every completion of b costs at least as much as after a, when it starts so much later
// that a has every processor free for it; for the makespan, whether a has every processor free no
// later than b.  `weight`: of the jobs that have not started.
bool Labels::dominates(const Label& a, const Label& b, double weight) {
  const double saving = minimizes_makespan_ ? 0 : b.cost - a.cost;
  if (saving < 0) return false;
  const double max_delay_cost = minimizes_makespan_ ? 0 : saving - kProofRounding * b.cost;
  budget_.spend(1);
  // Both staircases at once: each turn compares the processors that both present steps still have.
  const FreeStep* step_a = &next_free_steps_[a.first_step];
  const FreeStep* step_b = &next_free_steps_[b.first_step];
  const FreeStep* const end_a = step_a + a.step_count;
  int procs_a = step_a->procs, procs_b = step_b->procs;
  for (;;) {
    if (step_a->time > step_b->time &&
        (minimizes_makespan_ || (step_a->time - step_b->time) * weight >= max_delay_cost))
      return false;
    const int compared = std::min(procs_a, procs_b);
    procs_a -= compared;
    procs_b -= compared;
    if (procs_a == 0) {
      ++step_a;
      if (step_a == end_a) return true;
      procs_a = step_a->procs;
    }
    if (procs_b == 0) {
      ++step_b;
      procs_b = step_b->procs;
    }
  }
}

std::vector<Labels::DominanceKey> Labels::order_by_dominance_key() const {
  std::vector<DominanceKey> order;
  order.reserve(next_labels_.size());
  for (std::size_t k = 0; k < next_labels_.size(); ++k) {
    const Label& label = next_labels_[k];
    double sum = 0;
    for (int s = 0; s < label.step_count; ++s) {
      const FreeStep& step = next_free_steps_[label.first_step + s];
      sum += step.time * step.procs;
    }
    if (!minimizes_makespan_)
      sum = label.cost + waiting_weight(label.jobs) * sum / instance_.machines();
    order.push_back({label.jobs, sum, k});
  }
  std::sort(order.begin(), order.end(), [](const DominanceKey& a, const DominanceKey& b) {
    return std::tie(a.jobs, a.sum, a.number) < std::tie(b.jobs, b.sum, b.number);
  });
  return order;
}

std::vector<Labels::Label> Labels::undominated_labels() {
  std::vector<Label> undominated;
  std::vector<double> sums;   // DominanceKey::sum of each undominated label
  std::size_t set_begin = 0;  // index of the first label of the present set of jobs
  for (const DominanceKey& key : order_by_dominance_key()) {
    const Label& label = next_labels_[key.number];
    if (incumbent_.can_prune(label.lower_bound)) continue;
    const bool is_new_set =
        set_begin < undominated.size() && undominated[set_begin].jobs != label.jobs;
    if (is_new_set) set_begin = undominated.size();
    const double weight = waiting_weight(label.jobs);
    const std::size_t compared_end =
        std::min(undominated.size(), set_begin + params_.compared_labels);
    bool is_dominated = false;
    for (std::size_t k = set_begin; k < compared_end && !is_dominated; ++k)
      is_dominated = dominates(undominated[k], label, weight);
    // A label that equals this one has nearly the same sum, so it is among the last ones.
    for (std::size_t k = undominated.size(); !is_dominated && k > compared_end; --k) {
      if (sums[k - 1] * (1 + kProofRounding) < key.sum) break;
      is_dominated = dominates(undominated[k - 1], label, weight);
    }
    if (is_dominated) continue;
    undominated.push_back(label);
    sums.push_back(key.sum);
  }
  return undominated;
}

// Makes the undominated next labels the present ones: those of least lower bound, `width` at most.
void Labels::keep_undominated(std::size_t width) {
  std::vector<Label> undominated = undominated_labels();
  if (undominated.size() > width) drop_worst(undominated, width);
  for (Label& label : undominated) {
    label.move_number = static_cast<int>(moves_.size());
    moves_.push_back(label.move);
  }
  labels_ = std::move(undominated);
  free_steps_.swap(next_free_steps_);
  next_labels_.clear();
  next_to_expand_ = 0;
}

void Labels::drop_worst(std::vector<Label>& labels, std::size_t width) {
  const auto first_dropped = labels.begin() + static_cast<std::ptrdiff_t>(width);
  std::nth_element(labels.begin(), first_dropped, labels.end(), [](const Label& a, const Label& b) {
    return std::pair(a.lower_bound, a.first_step) < std::pair(b.lower_bound, b.first_step);
  });
  for (auto label = first_dropped; label != labels.end(); ++label)
    dropped_bound_ = std::min(dropped_bound_, label->lower_bound);
  labels.erase(first_dropped, labels.end());
}

}  // namespace cosched::moldable::search
