#include "cosched/packs/search/partition_annealing.hpp"

#include <array>
#include <cmath>

#include "cosched/core/annealing.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"

namespace cosched::packs::search {
namespace {

// Of kMoveKinds moves so many are of each kind.  Constants, because a random number is divided by
// them in every move.
constexpr int kMoveKinds = 256;
constexpr int kNewPackMoves = 4;          // a task to a pack of its own
constexpr int kOtherPackMoves = 60;       // a task to the pack of a random other task
constexpr int kAnyExchangeMoves = 64;     // two random tasks are exchanged
constexpr int kAlikeExchangeMoves = 128;  // a task is exchanged with one that is alike
static_assert(kNewPackMoves + kOtherPackMoves + kAnyExchangeMoves + kAlikeExchangeMoves ==
              kMoveKinds);

// -ln(u) for u in the middle of each of kAllowances equal parts of (0, 1): by how much, in
// temperatures, a move may raise the cost so that it is accepted with the probability of
// Metropolis.
constexpr int kAllowances = 4096;
using Allowances = std::array<double, kAllowances>;

const Allowances& allowances() {
  static const Allowances table = [] {
    Allowances values{};
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = -std::log((static_cast<double>(k) + 0.5) / static_cast<double>(values.size()));
    return values;
  }();
  return table;
}

}  // namespace

PartitionAnnealing::PartitionAnnealing(const Instance& instance, const Packs& start,
                                       std::uint64_t seed)
    : instance_(instance),
      n_(instance.tasks()),
      partition_(instance.times(), start),
      rng_(seed),
      best_(start) {
  double sum = 0;
  for (std::size_t pack = 0; pack < start.size(); ++pack)
    sum += partition_.cost(static_cast<int>(pack));
  cost_ = sum;
  best_cost_ = sum;
  scale_ = sum / static_cast<double>(start.size());
  order_by_time();
}

void PartitionAnnealing::run(std::int64_t work, double target_cost) {
  const auto spent = [&] { return moves_ * params_.move_work + partition_.operations(); };
  const double coldest = params_.last_temperature / params_.first_temperature;
  anneal(coldest, static_cast<double>(work), spent, [&](double warmth) {
    if (!(best_cost_ > target_cost)) return false;
    temperature_ = scale_ * params_.first_temperature * warmth;
    for (int k = 0; k < params_.moves_per_temperature; ++k) {
      try_random_move();
      if (partition_.operations() - operations_checked_ > params_.check_interval) check_clock();
    }
    return true;
  });
}

Packs PartitionAnnealing::best() {
  record_best();
  return best_;
}

void PartitionAnnealing::check_clock() {
  operations_checked_ = partition_.operations();
  check_interrupt();
}

void PartitionAnnealing::order_by_time() {
  const Times& times = instance_.times();
  const int compared_procs =
      (instance_.procs() + params_.compared_divisor - 1) / params_.compared_divisor;
  by_time_ = sorted_numbers(
      n_, [&](int i, int j) { return times(i, compared_procs) > times(j, compared_procs); });
  rank_.resize(n_);
  for (int r = 0; r < n_; ++r) rank_[by_time_[r]] = r;
}

// Tries one random move, and accepts it where it raises the cost by no more than the allowance.
void PartitionAnnealing::try_random_move() {
  ++moves_;
  const std::uint64_t tasks = rng_.bits(), choice = rng_.bits();
  const auto low = static_cast<std::uint32_t>(tasks);
  const auto high = static_cast<std::uint32_t>(tasks >> 32);
  const int i = scale_bits(low, n_);
  const double allowed_increase = temperature_ * allowances()[choice % kAllowances];
  const auto kind = static_cast<int>(choice / kAllowances % kMoveKinds);
  if (kind < kNewPackMoves) {
    try_move(i, partition_.empty_place(), allowed_increase);
  } else if (kind < kNewPackMoves + kOtherPackMoves) {
    try_move(i, partition_.pack_of(scale_bits(high, n_)), allowed_increase);
  } else if (kind < kNewPackMoves + kOtherPackMoves + kAnyExchangeMoves) {
    try_exchange(i, scale_bits(high, n_), allowed_increase);
  } else {
    const int r = rank_[i] - params_.alike_window + scale_bits(high, 2 * params_.alike_window + 1);
    if (r >= 0 && r < n_) try_exchange(i, by_time_[r], allowed_increase);
  }
}

// Moves a task to a pack, which may be empty.
void PartitionAnnealing::try_move(int i, int pack, double allowed_increase) {
  const int from = partition_.pack_of(i), size = partition_.size(pack);
  if (pack == from || size >= instance_.max_tasks()) return;
  const bool changes_nothing = size == 0 && partition_.size(from) == 1;
  if (changes_nothing) return;
  const double saved = partition_.cost(from) - partition_.cost_without(i) + partition_.cost(pack);
  if (partition_.least_cost_with(i, size) > saved + allowed_increase) return;
  const double change = partition_.cost_with(pack, i) - saved;
  if (!accept_change(change, allowed_increase)) return;
  record_best_before(change);
  partition_.move_task(i, pack);
}

// Exchanges two tasks of different packs.
void PartitionAnnealing::try_exchange(int i, int j, double allowed_increase) {
  const int pack_i = partition_.pack_of(i), pack_j = partition_.pack_of(j);
  if (pack_i == pack_j) return;
  // Most exchanges are of tasks too different, which one time of each task tells.
  const double saved = partition_.cost(pack_i) + partition_.cost(pack_j);
  const double least = partition_.least_cost_with(j, partition_.size(pack_i) - 1) +
                       partition_.least_cost_with(i, partition_.size(pack_j) - 1);
  if (least > saved + allowed_increase) return;
  const double change = partition_.cost_replacing(i, j) + partition_.cost_replacing(j, i) - saved;
  if (!accept_change(change, allowed_increase)) return;
  record_best_before(change);
  partition_.exchange_tasks(i, j);
}

// Notes that the cost is about to change.  The partition is copied only before the cost rises, and
// at the end: a descent of many moves costs one copy.
void PartitionAnnealing::record_best_before(double change) {
  if (change > 0) record_best();
  cost_ += change;
}

void PartitionAnnealing::record_best() {
  if (cost_ >= best_cost_) return;
  best_cost_ = cost_;
  best_ = partition_.packs();
}

}  // namespace cosched::packs::search
