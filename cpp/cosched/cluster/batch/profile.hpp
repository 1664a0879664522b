// Free nodes over time, as planned: running jobs until their expected ends, and promises.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {

/// How many nodes of each cell a job gets.
using NodesPerCell = std::vector<int>;

/// A step function of time for each cell; the last step never ends.
class Profile {
 public:
  explicit Profile(std::vector<int> free)
      : cells_(free.size()), all_(std::move(free)), time_{0}, free_(all_) {}

  struct Busy {
    double end;
    const NodesPerCell* share;
  };

  /// All free from `now` on but for these shares until their ends.  O(busy log busy).
  void reset(double now, std::vector<Busy> busy) {
    time_.assign(1, now);
    free_ = all_;
    most_.clear();
    std::sort(busy.begin(), busy.end(), [](const Busy& a, const Busy& b) { return a.end < b.end; });
    for (const Busy& one : busy) {
      if (one.end <= now) continue;
      for (std::size_t c = 0; c < cells_; ++c) free_[c] -= (*one.share)[c];
    }
    for (const Busy& one : busy) {
      if (one.end <= now) continue;
      if (one.end > time_.back()) {
        time_.push_back(one.end);
        repeat(time_.size() - 2);
      }
      const std::size_t last = (time_.size() - 1) * cells_;
      for (std::size_t c = 0; c < cells_; ++c) free_[last + c] += (*one.share)[c];
    }
  }

  /// Forgets what was before `now`.
  void advance(double now) {
    const std::size_t gone = step_at(now);
    if (gone == 0) return;
    most_.clear();
    time_.erase(time_.begin(), time_.begin() + static_cast<std::ptrdiff_t>(gone));
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(gone * cells_));
  }

  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps).
  void change(double begin, double end, const NodesPerCell& share, int sign) {
    begin = std::max(begin, time_.front());
    if (!(begin < end)) return;
    const std::size_t first = border_at(begin);
    const std::size_t last = border_at(end);
    if (cells_ == 1)
      for (std::size_t k = first; k < last; ++k) free_[k] += sign * share[0];
    else
      for (std::size_t k = first; k < last; ++k)
        for (std::size_t c = 0; c < cells_; ++c) free_[k * cells_ + c] += sign * share[c];
    merge(last);
    merge(first);
    most_.resize(std::min(most_.size(), first));
  }

  /// Whether `tasks` nodes, of whatever cells, are free at some time before that one: else no
  /// start can be earlier.  O(log steps) as long as nothing changes.
  bool room(int tasks, double before) {
    const std::size_t step = first_with_room(tasks, before);
    return step < time_.size() && time_[step] < before;
  }

  /// One cell only, for a job that is promised `length` seconds from `start` > now on: the first
  /// earlier start that it could have if it gave its slot back; `start` if there is none.
  /// O(steps before `start`), O(log steps) where no step has room.
  double sooner(double now, int tasks, double length, double start) {
    double begin = start;  // of the room that goes on, if any
    for (std::size_t k = first_with_room(tasks, start); k < time_.size() && time_[k] < start; ++k) {
      if (begin < start && begin + length <= time_[k]) return begin;
      if (free_[k] < tasks)
        begin = start;
      else if (begin == start)
        begin = std::max(now, time_[k]);
    }
    return begin;  // from `start` on the job's own nodes are there
  }

  struct Slot {
    double start;
    NodesPerCell share;
  };

  /// The earliest start >= now (and a step's begin, or `now`) from which `tasks` nodes of the
  /// allowed cells are free for `length` seconds: from the lowest cells on.  One cell: O(steps).
  Slot earliest(double now, int tasks, double length, std::uint64_t allowed) {
    if (cells_ == 1) return {sooner(now, tasks, length, kInfinity), {tasks}};
    NodesPerCell least(cells_);
    for (std::size_t step = step_at(now);; ++step) {
      const double start = std::max(now, time_[step]);
      if (stays_free(step, start + length, tasks, allowed, least))
        return {start, taken_from(std::move(least), tasks)};
    }
  }

 private:
  // So many nodes of those that are free, from the lowest cells on.
  static NodesPerCell taken_from(NodesPerCell free, int tasks) {
    for (int& of_cell : free) {
      of_cell = std::min(std::max(of_cell, 0), tasks);
      tasks -= of_cell;
    }
    return free;
  }

  // The first step with so many nodes free, else one that does not begin before that time.
  std::size_t first_with_room(int tasks, double before) {
    for (std::size_t k = most_.size(); k < time_.size() && time_[k] < before; ++k) {
      if (k > 0 && most_.back() >= tasks) break;
      int sum = 0;
      for (std::size_t c = 0; c < cells_; ++c) sum += free_[k * cells_ + c];
      most_.push_back(k > 0 ? std::max(most_.back(), sum) : sum);
    }
    return static_cast<std::size_t>(std::lower_bound(most_.begin(), most_.end(), tasks) -
                                    most_.begin());
  }

  // Whether so many nodes of the allowed cells stay free from the step on until `end`; `least` of
  // each cell do so, as far as it has looked.
  bool stays_free(std::size_t step, double end, int tasks, std::uint64_t allowed,
                  NodesPerCell& least) const {
    const auto free = [&](std::size_t k, std::size_t cell) {
      return allowed >> cell & 1 ? free_[k * cells_ + cell] : 0;
    };
    for (std::size_t c = 0; c < cells_; ++c) least[c] = free(step, c);
    for (;;) {
      int sum = 0;
      for (const int of_cell : least) sum += std::max(of_cell, 0);
      if (sum < tasks) return false;
      if (++step == time_.size() || time_[step] >= end) return true;
      for (std::size_t c = 0; c < cells_; ++c) least[c] = std::min(least[c], free(step, c));
    }
  }

  // the step that contains the time
  std::size_t step_at(double time) const {
    const auto after = std::upper_bound(time_.begin(), time_.end(), time);
    return after == time_.begin() ? 0 : static_cast<std::size_t>(after - time_.begin()) - 1;
  }

  // a step that begins at the time, made if need be
  std::size_t border_at(double time) {
    const std::size_t step = step_at(time);
    if (time_[step] >= time) return step;
    time_.insert(time_.begin() + static_cast<std::ptrdiff_t>(step + 1), time);
    repeat(step);
    return step + 1;
  }

  // Inserts a copy of the step's numbers after them.
  void repeat(std::size_t step) {
    const auto next = free_.begin() + static_cast<std::ptrdiff_t>((step + 1) * cells_);
    const auto made = free_.insert(next, cells_, 0);
    std::copy(made - static_cast<std::ptrdiff_t>(cells_), made, made);
  }

  void merge(std::size_t step) {
    if (step == 0 || step >= time_.size()) return;
    for (std::size_t k = step * cells_; k < (step + 1) * cells_; ++k)
      if (free_[k] != free_[k - cells_]) return;
    time_.erase(time_.begin() + static_cast<std::ptrdiff_t>(step));
    const auto here = free_.begin() + static_cast<std::ptrdiff_t>(step * cells_);
    free_.erase(here, here + static_cast<std::ptrdiff_t>(cells_));
  }

  std::size_t cells_;
  std::vector<int> all_;
  std::vector<double> time_;  // begin of each step
  std::vector<int> free_;     // cells_ numbers a step
  std::vector<int> most_;     // most nodes free up to each step, as far as it is known
};

}  // namespace cosched::cluster::batch
