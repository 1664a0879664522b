// Annealing over active schedules of jobs with precedence and resources.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/search/graph_decoder.hpp"

namespace cosched::moldable::search {

struct ActiveSearchParams {
  /// Temperatures at first and at last, as parts of the value.
  double first_temperature = 0.02, last_temperature = 2e-4;
  /// Every other annealing of at most `few_jobs` jobs is hotter by this factor.
  double hotter_factor = 8;
  int few_jobs = 30;
  /// For the minsum of more jobs the temperature falls with their number, as each job has a smaller
  /// part in the value.
  double minsum_jobs = 4;
  /// Operations of the decoder for one operation of the work that callers give.
  double decoder_operations = 1.35;
  /// The part of work and mean end that counts beside the makespan, and of work and makespan beside
  /// the minsum, so that moves on a plateau lead somewhere.
  double makespan_plateau = 0.02, minsum_plateau = 1e-3;
};

/// Serial schedule generation: every active schedule is some order with some counts, each job at
/// its earliest fit, and some active schedule is optimal for both criteria.  Unlike a list, an
/// order may leave processors idle until a job is released, or its predecessors end.
class ActiveSearch {
 public:
  /// `instance` must outlive it.  Requires jobs that do not slow each other.
  ActiveSearch(const Instance& instance, Objective objective,
               const ActiveSearchParams& params = {});

  const graph::JobChoices& choices() const { return choices_; }

  /// Offers a schedule as it is, and what its order and counts are decoded to.
  void offer_placement(const Placement& placement);

  /// The schedule of this order on these counts, or on the fastest smaller ones where jobs do not
  /// fit on them.
  Placement decode(const std::vector<int>& order, const Allotment& procs) {
    Placement placement = empty_placement(instance_.jobs());
    placement.procs = procs;
    DecodedSchedule schedule{order, choice_numbers_of(placement), {}, 0};
    decoder_.decode(schedule);
    return decoder_.placement(schedule);
  }

  /// Offers the list schedule of these choices; for the minsum also the one by Smith's rule.
  void offer_list(const graph::ChoiceNumbers& chosen);

  /// Offers lists of each job on the count of least work, and of each on its fastest count.
  void offer_simple_schedules();

  /// Offers the lists of the algorithms for jobs with precedence (graph/list.hpp), and those of
  /// every trade-off between work and path that the programme asked for.
  void offer_family_schedules(const graph::WorkPath& programme);

  /// Anneals from the best schedule so far with `work` operations, or until a value of
  /// `target_value` is reached.  Annealings of odd `number` are hotter where jobs are few.  May
  /// throw as check_interrupt(): placement() stays valid.
  void anneal(std::int64_t work, std::uint64_t seed, int number, double target_value);

  /// The best schedule so far.
  Placement placement() const {
    return best_offered_.jobs() > 0 && offered_value_ <= best_value_
               ? best_offered_
               : decoder_.placement(best_schedule_);
  }
  double value() const {
    return best_offered_.jobs() > 0 ? std::min(best_value_, offered_value_) : best_value_;
  }

 private:
  double first_temperature(int number) const {
    const bool is_hotter = number % 2 == 1 && instance_.jobs() <= params_.few_jobs;
    const double factor = is_hotter ? params_.hotter_factor : 1;
    const double part =
        minimizes_makespan_ ? 1 : std::min(1.0, params_.minsum_jobs / instance_.jobs());
    return params_.first_temperature * factor * part;
  }

  double value_of(const Placement& placement) const {
    return minimizes_makespan_ ? makespan(placement) : weighted_completion(instance_, placement);
  }
  double value_of(const DecodedSchedule& decoded) const {
    if (minimizes_makespan_) return decoded.makespan;
    double sum = 0;
    for (int job = 0; job < choices_.jobs(); ++job)
      sum += instance_.weight(job) * end_of(decoded, job);
    return sum;
  }
  double end_of(const DecodedSchedule& decoded, int job) const {
    return decoded.starts[job] + choices_[job][decoded.choice_numbers[job]].time;
  }

  // The value that annealing minimises: the criterion with its plateau terms (ActiveSearchParams).
  double energy_of(const DecodedSchedule& decoded) const;

  // Changes the count of a job, its place in the order, or both.
  DecodedSchedule draw_neighbour(const DecodedSchedule& from, Rng& rng);

  // Any job, or every other time one that ends late.
  int draw_job(const DecodedSchedule& from, Rng& rng) const;

  void change_count(DecodedSchedule& neighbour, int job, Rng& rng);

  // Moves a job to a place between its last predecessor and its first successor.
  void change_place(DecodedSchedule& neighbour, int job, Rng& rng);

  void keep_if_better(DecodedSchedule decoded) {
    const double value = value_of(decoded);
    if (!best_schedule_.order.empty() && !(value < best_value_)) return;
    best_value_ = value;
    best_schedule_ = std::move(decoded);
  }

  graph::ChoiceNumbers choice_numbers_of(const Placement& placement) const;

  const Instance& instance_;
  bool minimizes_makespan_;
  ActiveSearchParams params_;
  const graph::JobChoices choices_;
  GraphDecoder decoder_;
  double total_weight_ = 0;
  DecodedSchedule best_schedule_;
  double best_value_ = kInfinity;
  Placement best_offered_;  // the best placement that was offered, as it was
  double offered_value_ = kInfinity;
  std::vector<int> order_places_;  // scratch: the place of each job in an order
};

}  // namespace cosched::moldable::search
