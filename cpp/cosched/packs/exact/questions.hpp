// Branching of branch and price: what a fractional partition leaves open, as restrictions that
// the pricing keeps for free.
#pragma once

#include "cosched/packs/columns/fractional.hpp"

namespace cosched::packs::exact {

/// The children of a node: each gets one of these sets of restrictions; together they lose no
/// co-schedule.
using Alternatives = std::vector<columns::Restrictions>;

/// The question that `packs` leave most open, about the number of packs of length >= D or about
/// the length of one task's pack; none when all such sums are whole up to a tolerance.
std::optional<Alternatives> most_open_question(const columns::Restrictions& restrictions,
                                               const std::vector<columns::FractionalPack>& packs);

/// For a fractional partition without an open question: the lengths, decreasing, each with its
/// number of packs and its tasks.
struct Level {
  double length;
  int packs;
  std::vector<int> tasks;
};
std::vector<Level> levels(const std::vector<columns::FractionalPack>& packs, int tasks);

/// A question that pins a task of `level` to exactly its length, or the number of packs that are
/// as long; none when all is pinned.
std::optional<Alternatives> pinning_question(const columns::Restrictions& restrictions,
                                             const std::vector<Level>& all, const Level& level);

// Can these tasks be put into so many equal packs?  (Bin packing with a limit on the items.)

struct Filling {
  enum class Answer { yes, no, unknown } answer = Answer::unknown;
  std::vector<std::vector<int>> packs;  // indices into `needs`, when yes
};

/// Depth first: tasks by decreasing need, each into every pack with a different rest; at most
/// `most_steps` placements, then the answer is unknown.  Exponential at worst.
/// Requires 1 <= needs[i] <= procs.
Filling fill_packs(const std::vector<int>& needs, int packs, int procs, int max_tasks,
                   std::int64_t most_steps = 2'000'000);

}  // namespace cosched::packs::exact
