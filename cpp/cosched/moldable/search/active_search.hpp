// Search over active schedules of jobs with precedence and resources: orders and counts, each job
// at its earliest fit.
#pragma once

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/search/graph_decoder.hpp"

namespace cosched::moldable::search {

/// Serial schedule generation: every active schedule is some order with some counts, and some
/// active schedule is optimal for both criteria.  Unlike a list, an order may leave processors idle
/// until a job is released, or its predecessors end.
class ActiveSearch {
 public:
  /// `instance` must outlive it; its jobs slow nobody.
  ActiveSearch(const Instance& instance, Objective objective)
      : instance_(instance),
        minimizes_makespan_(objective == Objective::makespan),
        choices_(instance),
        decoder_(instance, choices_) {
    for (const double weight : instance.weights()) total_weight_ += weight;
  }

  const graph::JobChoices& choices() const { return choices_; }

  /// A schedule as it stands, and its order and counts decoded anew.
  void offer_placement(const Placement& placement) {
    const double value = value_of(placement);
    if (best_offered_.jobs() == 0 || value < offered_value_) {
      best_offered_ = placement;
      offered_value_ = value;
    }
    DecodedSchedule same{GraphDecoder::order_by_start(decoder_.graph(), placement.start),
                         choice_numbers_of(placement),
                         {},
                         0};
    decoder_.decode(same);
    keep_if_better(std::move(same));
  }

  /// The jobs in this order on these counts, where they fit.
  Placement decode(const std::vector<int>& order, const Allotment& procs) {
    Placement placement = empty_placement(instance_.jobs());
    placement.procs = procs;
    DecodedSchedule made{order, choice_numbers_of(placement), {}, 0};
    decoder_.decode(made);
    return decoder_.placement(made);
  }

  /// The list schedule of these choices; for the minsum also by Smith's rule.
  void offer_list(const graph::ChoiceNumbers& chosen) {
    offer_placement(graph::list_schedule(instance_, choices_, chosen));
    if (minimizes_makespan_) return;
    std::vector<double> urgency;
    for (int job = 0; job < instance_.jobs(); ++job)
      urgency.push_back(instance_.weight(job) / choices_[job][chosen[job]].time);
    offer_placement(graph::list_schedule(instance_, choices_, chosen, urgency));
  }

  /// Each job on its cheapest count, and each on its fastest one.
  void offer_simple_schedules() {
    graph::ChoiceNumbers cheapest(instance_.jobs(), 0), fastest;
    for (int job = 0; job < instance_.jobs(); ++job) {
      fastest.push_back(choices_.fastest_choice(job));
      const auto work = [&](int number) {
        const graph::JobChoice& choice = choices_[job][number];
        return choice.procs * choice.time;
      };
      for (int number = 0; number < static_cast<int>(choices_[job].size()); ++number)
        if (work(number) < work(cheapest[job])) cheapest[job] = number;
    }
    offer_list(cheapest);
    offer_list(fastest);
  }

  /// The lists of the family, and what the programme asked for.
  void offer_family_schedules(const graph::WorkPath& programme) {
    if (!programme.durations.empty()) {
      offer_list(graph::round_work_path(instance_, choices_, programme).choice_numbers);
      for (const double theta : {0.2, 0.5, 0.8})
        offer_list(
            graph::round_durations(choices_, programme.durations, theta, instance_.machines()));
    }
    for (const double mu : {0.211, 0.271, 0.324, 0.381})
      offer_list(graph::allot_locally(instance_, choices_, mu).choice_numbers);
    for (const std::vector<double>& duration : programme.trade_off_durations)
      offer_list(graph::round_durations(choices_, duration, 0.5, instance_.machines()));
    if (!minimizes_makespan_) return;
    decoder_.justify(best_schedule_);
    best_value_ = best_schedule_.makespan;
  }

  /// From the best so far, in `work` operations; ends at a value of `enough`.  Every other
  /// `number` is hotter where jobs are few.  May be left by an exception of check_interrupt().
  void anneal(std::int64_t work, std::uint64_t seed, int number, double enough) {
    Rng rng(seed);
    DecodedSchedule current = best_schedule_;
    double energy = energy_of(current);
    const std::int64_t begun = decoder_.operations();
    const auto spent = [&] { return decoder_.operations() - begun; };
    const double steps = kDecodingSteps * static_cast<double>(work);
    const double hottest = first_temperature(number);
    cosched::anneal(kLastTemperature / hottest, steps, spent, [&](double warmth) {
      if (best_value_ <= enough) return false;
      const double temperature = value_of(current) * hottest * warmth;
      DecodedSchedule next = draw_neighbour(current, rng);
      decoder_.decode(next);
      const double next_energy = energy_of(next);
      if (next_energy > energy - temperature * std::log(1 - rng.uniform())) return true;
      if (value_of(next) < best_value_) {
        if (minimizes_makespan_) decoder_.justify(next);
        keep_if_better(next);
      }
      energy = energy_of(next);
      current = std::move(next);
      return true;
    });
  }

  /// The best so far.
  Placement placement() const {
    return best_offered_.jobs() > 0 && offered_value_ <= best_value_
               ? best_offered_
               : decoder_.placement(best_schedule_);
  }
  double value() const {
    return best_offered_.jobs() > 0 ? std::min(best_value_, offered_value_) : best_value_;
  }

 private:
  // Temperatures, parts of the value.
  static constexpr double kFirstTemperature = 0.02, kLastTemperature = 2e-4;
  static constexpr double kHotter = 8;  // every other annealing of few jobs
  static constexpr int kFewJobs = 30;
  static constexpr double kMinsumJobs = 4;  // beyond so many jobs each has a smaller part
  static constexpr double kDecodingSteps =
      1.35;                                 // the decoder's steps are smaller than those of `work`
  static constexpr double kPlateau = 0.02;  // of work and of mean ends beside the makespan
  static constexpr double kMinsumPlateau = 1e-3;

  double first_temperature(int number) const {
    const double few = number % 2 == 1 && instance_.jobs() <= kFewJobs ? kHotter : 1;
    const double part = minimizes_makespan_ ? 1 : std::min(1.0, kMinsumJobs / instance_.jobs());
    return kFirstTemperature * few * part;
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

  // Plateaus lead somewhere: a little of the work and of the ends besides the makespan, or of the
  // work and the makespan besides the minsum.
  double energy_of(const DecodedSchedule& decoded) const {
    double work = 0, ends = 0;
    for (int job = 0; job < choices_.jobs(); ++job) {
      const graph::JobChoice& choice = choices_[job][decoded.choice_numbers[job]];
      work += choice.share[0] * choice.time;
      ends += decoded.starts[job] + choice.time;
    }
    if (minimizes_makespan_)
      return decoded.makespan + kPlateau * work + kPlateau * ends / choices_.jobs();
    return value_of(decoded) + kMinsumPlateau * total_weight_ * (work + decoded.makespan);
  }

  // Another count, another place in the order, or both.
  DecodedSchedule draw_neighbour(const DecodedSchedule& from, Rng& rng) {
    DecodedSchedule next{from.order, from.choice_numbers, {}, 0};
    const std::uint64_t kind = rng.below(100);
    const int job = draw_job(from, rng);
    if (kind < 55) change_count(next, job, rng);
    if (kind >= 45) change_place(next, job, rng);
    return next;
  }

  // Half of the time one that ends late.
  int draw_job(const DecodedSchedule& from, Rng& rng) const {
    const int jobs = instance_.jobs();
    int chosen = static_cast<int>(rng.below(jobs));
    if (rng.below(2)) return chosen;
    for (int draw = 0; draw < 3; ++draw) {
      const int other = static_cast<int>(rng.below(jobs));
      if (end_of(from, other) > end_of(from, chosen)) chosen = other;
    }
    return chosen;
  }

  void change_count(DecodedSchedule& next, int job, Rng& rng) {
    const int counts = static_cast<int>(choices_[job].size());
    if (counts < 2) return change_place(next, job, rng);
    int& chosen = next.choice_numbers[job];
    const bool near = rng.below(3) > 0;
    int other = near ? chosen + (rng.below(2) ? 1 : -1) : static_cast<int>(rng.below(counts));
    if (other < 0 || other >= counts) other = chosen == 0 ? 1 : chosen - 1;
    chosen = other;
  }

  // Between the last predecessor and the first successor.
  void change_place(DecodedSchedule& next, int job, Rng& rng) {
    const TaskGraph& graph = decoder_.graph();
    order_places_.resize(instance_.jobs());
    for (int k = 0; k < instance_.jobs(); ++k) order_places_[next.order[k]] = k;
    int low = 0, high = instance_.jobs() - 1;
    for (const int before : graph.predecessors(job)) low = std::max(low, order_places_[before] + 1);
    for (const int after : graph.successors(job)) high = std::min(high, order_places_[after] - 1);
    move_entry(next.order, order_places_[job], static_cast<int>(rng.between(low, high)));
  }

  void keep_if_better(DecodedSchedule decoded) {
    const double value = value_of(decoded);
    if (!best_schedule_.order.empty() && !(value < best_value_)) return;
    best_value_ = value;
    best_schedule_ = std::move(decoded);
  }

  graph::ChoiceNumbers choice_numbers_of(const Placement& placement) const {
    graph::ChoiceNumbers chosen;
    for (int job = 0; job < instance_.jobs(); ++job) {
      int same = choices_.fastest_within(job, placement.procs[job]);
      for (int number = 0; number < static_cast<int>(choices_[job].size()); ++number)
        if (choices_[job][number].procs == placement.procs[job]) same = number;
      chosen.push_back(same);
    }
    return chosen;
  }

  const Instance& instance_;
  bool minimizes_makespan_;
  const graph::JobChoices choices_;
  GraphDecoder decoder_;
  double total_weight_ = 0;
  DecodedSchedule best_schedule_;
  double best_value_ = kInfinity;
  Placement best_offered_;  // the best of those that were offered, as it stood
  double offered_value_ = kInfinity;
  std::vector<int> order_places_;  // of each job in an order
};

}  // namespace cosched::moldable::search
