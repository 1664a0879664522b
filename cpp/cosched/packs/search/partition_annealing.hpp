// Simulated annealing over partitions into packs.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/packs/search/pack_partition.hpp"

namespace cosched::packs::search {

/// Tuning of PartitionAnnealing, found on Workloads II and III of the paper at equal work.
struct PartitionAnnealingParams {
  double first_temperature = 0.015;         ///< relative to the mean pack cost of the start
  double last_temperature = 0.0001;         ///< relative to the same
  int moves_per_temperature = 1024;         ///< a temperature costs a power, which is not felt then
  std::int64_t move_work = 20;              ///< operations of a move besides those of the partition
  std::int64_t check_interval = 1'000'000;  ///< operations between two calls of check_interrupt()
  int alike_window = 30;     ///< two tasks are alike with at most so many others between them ...
  int compared_divisor = 4;  ///< ... in the order of their times on p / compared_divisor processors
  /// One of so many moves that change no cost is accepted, because each costs a rebuild of curves.
  std::uint64_t neutral_every = 4;
};

/// Moves: a task to another pack or to a new one, two tasks exchanged.
class PartitionAnnealing {
 public:
  PartitionAnnealing(const Instance& instance, const Packs& start, std::uint64_t seed);

  /// Spends `work` operations; ends where the best cost is at most `target_cost`.  May be left by
  /// an exception of check_interrupt().
  void run(std::int64_t work, double target_cost);

  /// The best partition so far.
  Packs best();

 private:
  void check_clock();
  void order_by_time();

  // Maps 32 random bits to a number in [0, n).
  static int scale_bits(std::uint32_t bits, int n) {
    return static_cast<int>((bits * static_cast<std::uint64_t>(n)) >> 32);
  }

  void try_random_move();
  void try_move(int i, int pack, double allowed_increase);
  void try_exchange(int i, int j, double allowed_increase);
  bool accept_change(double change, double allowed_increase) {
    return change == 0 ? rng_.bits() % params_.neutral_every == 0 : change <= allowed_increase;
  }

  void record_best_before(double change);
  void record_best();

  PartitionAnnealingParams params_;
  const Instance& instance_;
  int n_;  // tasks
  PackPartition partition_;
  Rng rng_;
  std::vector<int> by_time_;  // tasks by their time on p / compared_divisor processors
  std::vector<int> rank_;     // of each task in by_time_
  Packs best_;
  double cost_ = 0;         // of partition_
  double best_cost_ = 0;    // of best_
  double scale_ = 0;        // the mean pack cost of the start: temperatures are relative to it
  double temperature_ = 0;  // in units of cost
  std::int64_t moves_ = 0;
  std::int64_t operations_checked_ = 0;  // operations at the last call of check_interrupt()
};

}  // namespace cosched::packs::search
