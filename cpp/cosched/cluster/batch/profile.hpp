// Free nodes over time, as planned: running jobs until their expected ends, and promises.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::cluster::batch {

/// How many nodes of each cell a job gets.
using NodesPerCell = std::vector<int>;

/// A step function of time for each cell; the last step never ends.
class Profile {
 public:
  explicit Profile(std::vector<int> free);

  struct Busy {
    double end;
    const NodesPerCell* share;
  };
  /// All free from `now` on but for these shares until their ends.  O(busy log busy).
  void reset(double now, std::vector<Busy> busy);
  /// Forgets what was before `now`.
  void advance(double now);
  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps).
  void change(double begin, double end, const NodesPerCell& share, int sign);

  /// Whether `tasks` nodes, of whatever cells, are free at some time before that one: else no
  /// start can be earlier.  O(log steps) as long as nothing changes.
  bool room(int tasks, double before);

  /// One cell only, for a job that is promised `length` seconds from `start` > now on: the first
  /// earlier start that it could have if it gave its slot back; `start` if there is none.
  /// O(steps before `start`), O(log steps) where no step has room.
  double sooner(double now, int tasks, double length, double start);

  struct Slot {
    double start;
    NodesPerCell share;
  };
  /// The earliest start >= now (and a step's begin, or `now`) from which `tasks` nodes of the
  /// allowed cells are free for `length` seconds: from the lowest cells on.  One cell: O(steps).
  Slot earliest(double now, int tasks, double length, std::uint64_t allowed);

 private:
  std::size_t first_with_room(int tasks, double before);
  bool stays_free(std::size_t step, double end, int tasks, std::uint64_t allowed,
                  NodesPerCell& least) const;
  std::size_t step_at(double time) const;  // the step that contains the time
  std::size_t border_at(double time);      // a step that begins at the time, made if need be
  void repeat(std::size_t step);
  void merge(std::size_t step);

  std::size_t cells_;
  std::vector<int> all_;
  std::vector<double> time_;  // begin of each step
  std::vector<int> free_;     // cells_ numbers a step
  std::vector<int> most_;     // most nodes free up to each step, as far as it is known
};

}  // namespace cosched::cluster::batch
