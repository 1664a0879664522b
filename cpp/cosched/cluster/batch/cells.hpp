// Free nodes as FCFS and EASY count them: of one cell, or of the cells that each job may use.
#pragma once

#include "cosched/cluster/batch/events.hpp"
#include "cosched/cluster/batch/layout.hpp"
#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {

/// Nodes kept for a job that does not fit: at its *shadow* time, the earliest when enough of those
/// it may use are expected to be free, all of these beyond its own are *extra*.
struct Reservation {
  int rank;
  double shadow;
  int extra;
};

/// All nodes alike, open to every job.  Keeps expected ends in order: O(log running) a job.
class OneCell {
 public:
  using Reservation = batch::Reservation;

  /// `plans`: reserve() will be called.
  OneCell(int nodes, bool plans, const std::vector<BatchJob>& jobs)
      : jobs_(jobs.data()), free_(nodes), plans_(plans) {}

  std::uint64_t allowed(int) const { return 1; }
  int free(int) const { return free_; }  // that a job may use
  bool any_free() const { return free_ > 0; }
  bool all_blocked(std::uint64_t) const { return true; }
  /// Whether there are nodes for the job among `open` cells; they become its share, with cells that
  /// are not in `last` first.
  bool choose(int rank, std::uint64_t, std::uint64_t) { return jobs_[rank].tasks <= free_; }
  /// Whether the job with this reservation can do without the share of the job chosen last ...
  bool spared(int rank, const Reservation& other) const { return jobs_[rank].tasks <= other.extra; }
  /// ... which it then does.
  void use_up(int rank, Reservation& other) const { other.extra -= jobs_[rank].tasks; }
  void take(int rank, double now) {
    free_ -= jobs_[rank].tasks;
    if (!plans_) return;
    const Back back{now + jobs_[rank].expected, jobs_[rank].tasks, rank};
    back_.insert(std::lower_bound(back_.begin(), back_.end(), back, later), back);
  }
  void give(int rank, double start) {
    free_ += jobs_[rank].tasks;
    if (!plans_) return;
    const Back back{start + jobs_[rank].expected, jobs_[rank].tasks, rank};
    back_.erase(std::lower_bound(back_.begin(), back_.end(), back, later));
  }

  Reservation reserve(int rank, double now) const {
    int free = free_;
    double shadow = now;
    auto back = back_.rbegin();
    for (; free < jobs_[rank].tasks; ++back) {
      free += back->tasks;
      shadow = std::max(now, back->end);
    }
    for (; back != back_.rend() && back->end <= shadow; ++back) free += back->tasks;
    return {rank, shadow, free - jobs_[rank].tasks};
  }

 private:
  struct Back {  // nodes that a running job is expected to give back
    double end;
    int tasks, rank;
  };
  static bool later(const Back& a, const Back& b) {
    return a.end != b.end ? a.end > b.end : a.rank > b.rank;
  }

  const BatchJob* jobs_;
  int free_;
  bool plans_;
  std::vector<Back> back_;  // latest first, so that the earliest is popped from the end
};

/// Cells of a layout.  O(running log running) a reservation.
class ManyCells {
 public:
  using Reservation = batch::Reservation;

  ManyCells(const Layout& layout, const std::vector<BatchJob>& jobs)
      : layout_(layout), jobs_(jobs), free_(layout.nodes), shares_(jobs.size() * free_.size()) {}

  std::uint64_t allowed(int rank) const { return layout_.allowed[jobs_[rank].job]; }
  int free(int rank) const { return sum(allowed(rank), free_.data()); }
  bool any_free() const { return sum(~std::uint64_t{0}, free_.data()) > 0; }
  bool all_blocked(std::uint64_t blocked) const { return sum(~blocked, free_.data()) == 0; }

  bool choose(int rank, std::uint64_t open, std::uint64_t last) {
    int left = jobs_[rank].tasks;
    int* mine = share(rank);
    if (layout_.holds(jobs_[rank].job)) {
      const std::vector<int> held = layout_.held_of_cells(jobs_[rank].job);
      std::copy(held.begin(), held.end(), mine);
      return true;
    }
    std::fill_n(mine, free_.size(), 0);
    for (const std::uint64_t cells : {open & ~last, open & last})
      for (std::size_t c = 0; c < free_.size(); ++c)
        if (cells >> c & 1) {
          mine[c] = std::min(left, free_[c]);
          left -= mine[c];
        }
    return left == 0;
  }

  bool spared(int rank, const Reservation& other) const { return used(rank, other) <= other.extra; }
  void use_up(int rank, Reservation& other) const { other.extra -= used(rank, other); }

  void take(int rank, double now) {
    for (std::size_t c = 0; c < free_.size(); ++c) free_[c] -= share(rank)[c];
    running_.push_back({rank, now});
  }

  void give(int rank, double) {
    for (std::size_t c = 0; c < free_.size(); ++c) free_[c] += share(rank)[c];
    const auto place = std::find_if(running_.begin(), running_.end(),
                                    [&](const Run& run) { return run.rank == rank; });
    running_.erase(require_found(place, running_.end(), "a running job"));
  }

  Reservation reserve(int rank, double now) const {
    std::vector<std::pair<double, int>> back;  // (expected end, nodes that the job may use)
    for (const Run& run : running_)
      back.emplace_back(std::max(now, run.start + jobs_[run.rank].expected),
                        sum(allowed(rank), share(run.rank)));
    std::sort(back.begin(), back.end());
    int total = free(rank);
    double shadow = now;
    std::size_t k = 0;
    for (; total < jobs_[rank].tasks && k < back.size(); ++k) {
      total += back[k].second;
      shadow = back[k].first;
    }
    for (; k < back.size() && back[k].first <= shadow; ++k) total += back[k].second;
    return {rank, shadow, total - jobs_[rank].tasks};
  }

  /// By job.
  std::vector<int> shares() const {
    const auto cells = static_cast<std::ptrdiff_t>(free_.size());
    std::vector<int> all(shares_.size());
    for (int rank = 0; rank < static_cast<int>(jobs_.size()); ++rank)
      std::copy_n(share(rank), cells, all.begin() + jobs_[rank].job * cells);
    return all;
  }

 private:
  struct Run {
    int rank;
    double start;
  };

  int sum(std::uint64_t cells, const int* nodes) const {
    int total = 0;
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (cells >> c & 1) total += nodes[c];
    return total;
  }

  /// Nodes of its share that a job with this reservation might use.
  int used(int rank, const Reservation& other) const {
    return sum(allowed(other.rank), share(rank));
  }
  int* share(int rank) { return shares_.data() + static_cast<std::size_t>(rank) * free_.size(); }
  const int* share(int rank) const {
    return shares_.data() + static_cast<std::size_t>(rank) * free_.size();
  }

  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  std::vector<int> free_;    // by cell
  std::vector<int> shares_;  // by rank: of each cell
  std::vector<Run> running_;
};

// Free nodes with memory and GPUs, as FCFS and EASY count them.

/// The counterpart of OneCell and ManyCells.  A job that starts spares a reservation if
/// its holder still finds its nodes among those that are expected to be free at the shadow time.
class NodeCells {
 public:
  struct Reservation {
    int rank;
    double shadow;
    int extra;  // cores that the holder may use and does not need, for the log
    Free then;  // expected to be free at the shadow time
  };

  /// `plans`: reserve() will be called.
  NodeCells(const Site& site, bool plans, const std::vector<BatchJob>& jobs)
      : site_(site),
        plans_(plans),
        jobs_(jobs),
        free_(site.all()),
        free_cores_(number_of_cells(site)),
        held_(jobs.size()),
        found_none_(site.shapes()) {
    for (const Node& node : site.nodes()) free_cores_[node.cell] += node.all.cores;
  }

  std::uint64_t allowed(int rank) const { return need(rank).cells; }
  int free(int rank) const { return cores(allowed(rank)); }
  bool any_free() const { return cores(~std::uint64_t{0}) > 0; }
  bool all_blocked(std::uint64_t blocked) const { return cores(~blocked) == 0; }

  /// O(nodes); O(1) for a need that found no room since something was freed.
  bool choose(int rank, std::uint64_t open, std::uint64_t last) {
    const Need& mine = need(rank);
    if (const Placement& held = site_.held(jobs_[rank].job); !held.empty()) {
      chosen_ = held;
      return true;
    }
    if (found_none_[mine.shape] == gifts_ || jobs_[rank].tasks > cores(open)) return false;
    if (site_.place(mine, free_, open, last, &chosen_)) return true;
    if (open == mine.cells) found_none_[mine.shape] = gifts_;
    return false;
  }

  /// Of the job chosen last.
  bool spared(int, Reservation& other) const {
    subtract(other.then, chosen_);
    const bool still = site_.holds(need(other.rank), other.then);
    add(other.then, chosen_);
    return still;
  }

  void use_up(int, Reservation& other) const {
    subtract(other.then, chosen_);
    for (const Piece& piece : chosen_)
      if (allowed(other.rank) >> site_.nodes()[piece.node].cell & 1)
        other.extra -= piece.held.cores;
  }

  void take(int rank, double now) {
    held_[rank] = chosen_;
    subtract(free_, held_[rank]);
    count(held_[rank], -1);
    if (!plans_) return;
    const std::pair<double, int> back{now + jobs_[rank].expected, rank};
    back_.insert(std::lower_bound(back_.begin(), back_.end(), back, std::greater<>()), back);
  }

  void give(int rank, double start) {
    add(free_, held_[rank]);
    count(held_[rank], +1);
    ++gifts_;
    if (!plans_) return;
    const std::pair<double, int> back{start + jobs_[rank].expected, rank};
    back_.erase(std::lower_bound(back_.begin(), back_.end(), back, std::greater<>()));
  }

  /// O(nodes + pieces that come back).
  Reservation reserve(int rank, double now) const {
    const Need& mine = need(rank);
    Free then = free_;
    Tally tally(site_, mine, then);
    double shadow = now;
    for (auto back = back_.rbegin(); back != back_.rend(); ++back) {
      if (back->first > shadow && tally.holds()) break;
      shadow = std::max(shadow, back->first);
      for (const Piece& piece : held_[back->second]) {
        const Amounts before = then[piece.node];
        tally.change(piece.node, before, then[piece.node] += piece.held);
      }
    }
    int extra = -jobs_[rank].tasks;
    for (std::size_t k = 0; k < then.size(); ++k)
      if (allowed(rank) >> site_.nodes()[k].cell & 1) extra += then[k].cores;
    return {rank, shadow, extra, std::move(then)};
  }

  /// By job.
  std::vector<Placement> placements() const {
    std::vector<Placement> all(held_.size());
    for (std::size_t rank = 0; rank < held_.size(); ++rank) all[jobs_[rank].job] = held_[rank];
    return all;
  }

 private:
  static int number_of_cells(const Site& site) {
    int cells = 1;
    for (const Node& node : site.nodes()) cells = std::max(cells, node.cell + 1);
    return cells;
  }

  static void add(Free& free, const Placement& pieces) {
    for (const Piece& piece : pieces) free[piece.node] += piece.held;
  }

  static void subtract(Free& free, const Placement& pieces) {
    for (const Piece& piece : pieces) free[piece.node] -= piece.held;
  }

  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }

  int cores(std::uint64_t cells) const {
    int total = 0;
    for (std::size_t c = 0; c < free_cores_.size(); ++c)
      if (cells >> c & 1) total += free_cores_[c];
    return total;
  }

  void count(const Placement& pieces, int sign) {
    for (const Piece& piece : pieces)
      free_cores_[site_.nodes()[piece.node].cell] += sign * piece.held.cores;
  }

  const Site& site_;
  const bool plans_;
  const std::vector<BatchJob>& jobs_;
  Free free_;
  std::vector<int> free_cores_;  // by cell
  std::vector<Placement> held_;  // by rank
  Placement chosen_;
  // (expected end, rank) of those that run, latest first.
  std::vector<std::pair<double, int>> back_;
  std::vector<std::int64_t> found_none_;  // by shape: when it last found no room ...
  std::int64_t gifts_ = 1;                // ... counted in jobs that gave theirs back
};

}  // namespace cosched::cluster::batch
