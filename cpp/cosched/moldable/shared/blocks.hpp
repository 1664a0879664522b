// Schedules by annealing over blocks of jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/shared/decoder.hpp"

namespace cosched::moldable::shared {

/// A schedule as blocks, one after the other.  In a block job k starts after the one before it, when `ended[k]` of its
/// jobs have ended (or none runs) and it fits; so one block can be any schedule whose jobs start at ends.
///
/// Without packs one changed job changes all that comes after it, and annealing finds no way.  What a block takes
/// depends on its own jobs alone: annealing starts with blocks of few jobs, which sum up, and then lets them merge.
///
/// Requires an instance without releases; counts on which each job fits.
class BlockSearch {
 public:
  /// What is given must outlive it, and the instance share something.
  BlockSearch(const Instance& instance, const Decoder& decoder, Rng& rng);

  /// From single jobs, in blocks of kFew and then of kMany.  May end as check_interrupt(): best() stays.
  void anneal(std::int64_t operations);
  /// From a schedule, at low temperatures.
  void polish(const Placement& placement, std::int64_t operations);

  /// The shortest of the last call, decoded anew; empty before any.
  Placement best();

 private:
  struct Block {
    std::vector<int> jobs, ended;
    double value = 0;
    int size() const { return static_cast<int>(jobs.size()); }
  };
  struct Member {
    int job;
    double alone, left, pairs, factor;
    int procs;
  };
  struct Count {
    int procs;
    double time, load;
  };

  void begin(std::vector<Block> blocks);
  void cool(int most, double hot, std::int64_t operations);
  bool propose(double temperature, int most);
  bool change(int kind, int job, int most);
  void accept(double gain);
  void swap_with_any(int job);
  bool move_to_any(int job, int most);
  void change_ended(int place);
  bool merge_with_any(int most);
  void split(int place);

  double length(const Block& block, double longest);
  void start(int job, std::vector<Member>& running);
  void end(std::vector<Member>& running, double step);
  double paired(double factor, double excess) const;
  bool fits(int job) const;
  double need(int job, int count, int r) const;

  int stepped(int job, int by) const;
  int drawn_count(int job);
  void set_count(int job, int count);
  static void repair(Block& block);
  static void remove(Block& block, int place);
  static void insert(Block& block, int place, int job);
  void restore();
  int operations_of(const Block& block) const;

  const Instance& instance_;
  const Sharing& sharing_;
  Rng& rng_;
  int jobs_;
  SlowdownRule rule_;
  bool slows_by_pairs_;
  std::vector<std::vector<Count>> counts_;
  std::vector<std::vector<double>> needs_;     // of a job, by count and resource
  std::vector<double> excess_, stall_, room_;  // room: capacities, and a tolerance

  std::vector<Block> blocks_, best_;
  std::vector<int> count_, best_count_;  // of each job
  std::vector<int> block_of_;
  double total_ = 0, best_total_ = 0;
  // A proposal: two blocks anew (second_ -1: none, blocks_.size(): a new one), and counts to take back.
  int first_ = 0, second_ = -1;
  Block new_first_, new_second_;
  std::vector<std::pair<int, int>> undo_;

  std::vector<Member> running_;
  std::vector<double> used_;
  double load_ = 0;
  int free_ = 0, ended_ = 0;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::shared
