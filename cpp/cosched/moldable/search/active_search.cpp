#include "cosched/moldable/search/active_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {
namespace {

// Where between two counts a time of the programme is rounded up: early, in the middle, late.
constexpr double kRoundingThetas[] = {0.2, 0.5, 0.8};
// Around the mu with the best guarantee of allot_locally() for each of its models of speed-up: the
// best one of an instance is mostly near one of them.
constexpr double kLocalMus[] = {0.211, 0.271, 0.324, 0.381};

}  // namespace

ActiveSearch::ActiveSearch(const Instance& instance, Objective objective,
                           const ActiveSearchParams& params)
    : instance_(instance),
      minimizes_makespan_(objective == Objective::makespan),
      params_(params),
      choices_(instance),
      decoder_(instance, choices_) {
  for (const double weight : instance.weights()) total_weight_ += weight;
  COSCHED_ASSERT(instance.sharing() == nullptr || !instance.sharing()->slows());
}

void ActiveSearch::offer_placement(const Placement& placement) {
  const double value = value_of(placement);
  if (best_offered_.jobs() == 0 || value < offered_value_) {
    best_offered_ = placement;
    offered_value_ = value;
  }
  DecodedSchedule decoded{GraphDecoder::order_by_start(decoder_.graph(), placement.start),
                          choice_numbers_of(placement),
                          {},
                          0};
  decoder_.decode(decoded);
  keep_if_better(std::move(decoded));
}

void ActiveSearch::offer_list(const graph::ChoiceNumbers& chosen) {
  offer_placement(graph::list_schedule(instance_, choices_, chosen));
  if (minimizes_makespan_) return;
  std::vector<double> urgency;
  for (int job = 0; job < instance_.jobs(); ++job)
    urgency.push_back(instance_.weight(job) / choices_[job][chosen[job]].time);
  offer_placement(graph::list_schedule(instance_, choices_, chosen, urgency));
}

void ActiveSearch::offer_simple_schedules() {
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

void ActiveSearch::offer_family_schedules(const graph::WorkPath& programme) {
  if (!programme.durations.empty()) {
    offer_list(graph::round_work_path(instance_, choices_, programme).choice_numbers);
    for (const double theta : kRoundingThetas)
      offer_list(
          graph::round_durations(choices_, programme.durations, theta, instance_.machines()));
  }
  for (const double mu : kLocalMus)
    offer_list(graph::allot_locally(instance_, choices_, mu).choice_numbers);
  for (const std::vector<double>& duration : programme.trade_off_durations)
    offer_list(graph::round_durations(choices_, duration, 0.5, instance_.machines()));
  if (!minimizes_makespan_) return;
  decoder_.justify(best_schedule_);
  best_value_ = best_schedule_.makespan;
}

void ActiveSearch::anneal(std::int64_t work, std::uint64_t seed, int number, double target_value) {
  Rng rng(seed);
  DecodedSchedule current = best_schedule_;
  double energy = energy_of(current);
  const std::int64_t first_operation = decoder_.operations();
  const auto spent = [&] { return decoder_.operations() - first_operation; };
  const double steps = params_.decoder_operations * static_cast<double>(work);
  const double hottest = first_temperature(number);
  cosched::anneal(params_.last_temperature / hottest, steps, spent, [&](double warmth) {
    if (best_value_ <= target_value) return false;
    const double temperature = value_of(current) * hottest * warmth;
    DecodedSchedule neighbour = draw_neighbour(current, rng);
    decoder_.decode(neighbour);
    const double neighbour_energy = energy_of(neighbour);
    if (neighbour_energy > energy - temperature * std::log(1 - rng.uniform())) return true;
    if (value_of(neighbour) < best_value_) {
      if (minimizes_makespan_) decoder_.justify(neighbour);
      keep_if_better(neighbour);
    }
    energy = energy_of(neighbour);
    current = std::move(neighbour);
    return true;
  });
}

double ActiveSearch::energy_of(const DecodedSchedule& decoded) const {
  double work = 0, ends = 0;
  for (int job = 0; job < choices_.jobs(); ++job) {
    const graph::JobChoice& choice = choices_[job][decoded.choice_numbers[job]];
    work += choice.share[0] * choice.time;
    ends += decoded.starts[job] + choice.time;
  }
  if (minimizes_makespan_)
    return decoded.makespan + params_.makespan_plateau * work +
           params_.makespan_plateau * ends / choices_.jobs();
  return value_of(decoded) + params_.minsum_plateau * total_weight_ * (work + decoded.makespan);
}

DecodedSchedule ActiveSearch::draw_neighbour(const DecodedSchedule& from, Rng& rng) {
  DecodedSchedule neighbour{from.order, from.choice_numbers, {}, 0};
  const std::uint64_t kind = rng.below(100);
  const int job = draw_job(from, rng);
  if (kind < 55) change_count(neighbour, job, rng);
  if (kind >= 45) change_place(neighbour, job, rng);
  return neighbour;
}

int ActiveSearch::draw_job(const DecodedSchedule& from, Rng& rng) const {
  const int jobs = instance_.jobs();
  int chosen = static_cast<int>(rng.below(jobs));
  if (rng.below(2)) return chosen;
  for (int draw = 0; draw < 3; ++draw) {
    const int other = static_cast<int>(rng.below(jobs));
    if (end_of(from, other) > end_of(from, chosen)) chosen = other;
  }
  return chosen;
}

void ActiveSearch::change_count(DecodedSchedule& neighbour, int job, Rng& rng) {
  const int counts = static_cast<int>(choices_[job].size());
  if (counts < 2) return change_place(neighbour, job, rng);
  int& chosen = neighbour.choice_numbers[job];
  const bool is_near = rng.below(3) > 0;
  int other = is_near ? chosen + (rng.below(2) ? 1 : -1) : static_cast<int>(rng.below(counts));
  if (other < 0 || other >= counts) other = chosen == 0 ? 1 : chosen - 1;
  chosen = other;
}

void ActiveSearch::change_place(DecodedSchedule& neighbour, int job, Rng& rng) {
  const TaskGraph& graph = decoder_.graph();
  order_places_.resize(instance_.jobs());
  for (int k = 0; k < instance_.jobs(); ++k) order_places_[neighbour.order[k]] = k;
  int low = 0, high = instance_.jobs() - 1;
  for (const int predecessor : graph.predecessors(job))
    low = std::max(low, order_places_[predecessor] + 1);
  for (const int successor : graph.successors(job))
    high = std::min(high, order_places_[successor] - 1);
  move_entry(neighbour.order, order_places_[job], static_cast<int>(rng.between(low, high)));
}

graph::ChoiceNumbers ActiveSearch::choice_numbers_of(const Placement& placement) const {
  graph::ChoiceNumbers choice_numbers;
  for (int job = 0; job < instance_.jobs(); ++job) {
    int choice_number = choices_.fastest_within(job, placement.procs[job]);
    for (int number = 0; number < static_cast<int>(choices_[job].size()); ++number)
      if (choices_[job][number].procs == placement.procs[job]) choice_number = number;
    choice_numbers.push_back(choice_number);
  }
  return choice_numbers;
}

}  // namespace cosched::moldable::search
