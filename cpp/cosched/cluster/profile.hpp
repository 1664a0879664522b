// Free nodes over time, as planned: running jobs until their expected ends, and promises.
#pragma once

#include <cstdint>
#include <vector>

namespace cosched::cluster {

/// How many nodes of each cell a job gets.
using Share = std::vector<int>;

/// A step function of time for each cell; the last step never ends.
class Profile {
 public:
  explicit Profile(std::vector<int> free);

  /// All free from `now` on.
  void reset(double now);
  /// Forgets what was before `now`.
  void advance(double now);
  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps).
  void change(double begin, double end, const Share& share, int sign);

  /// The first time >= now at which `tasks` nodes are free, of whatever cells: no start can be
  /// earlier.  O(log steps) as long as nothing changes.
  double room(double now, int tasks);

  struct Slot {
    double start;
    Share share;
  };
  /// The earliest start >= now (and a step's begin, or `now`) from which `tasks` nodes of the
  /// allowed cells are free for `length` seconds: from the lowest cells on.  One cell: O(steps).
  Slot earliest(double now, int tasks, double length, std::uint64_t allowed) const;

 private:
  std::size_t step_at(double time) const;  // the step that contains the time
  std::size_t border_at(double time);      // a step that begins at the time, made if need be
  bool same_as_before(std::size_t step) const;
  void merge(std::size_t step);

  std::size_t cells_;
  std::vector<int> all_;
  std::vector<double> time_;  // begin of each step
  std::vector<int> free_;     // cells_ numbers a step
  std::vector<int> most_;     // most nodes free up to each step; empty = not known
};

}  // namespace cosched::cluster
