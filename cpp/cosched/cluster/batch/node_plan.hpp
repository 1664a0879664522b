// Free cores, memory and GPUs of each node over time, as planned.
#pragma once

#include <map>

#include "cosched/cluster/batch/events.hpp"
#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {

/// The counterpart of Profile: a step function of time for each node; the last step never ends.
class NodePlan {
 public:
  using Share = Placement;

  explicit NodePlan(const Site& site) : site_(site) {
    for (int job = 0; job < site.jobs(); ++job) {
      const Need& need = site.need(job);
      const bool known = std::any_of(pools_.begin(), pools_.end(), [&](const Pool& pool) {
        return pool.cells == need.cells && pool.gpu_types == need.gpu_types;
      });
      if (need.parts == 0 && !known) pools_.push_back({need.cells, need.gpu_types, {}, 0});
    }
    reset(0, {});
  }

  struct Busy {
    double end;
    const Share* share;
  };

  /// All free from `now` on but for these shares until their ends.
  void reset(double now, const std::vector<Busy>& busy) {
    lines_.clear();
    for (Pool& pool : pools_) pool.sum.clear();
    for (const Node& node : site_.nodes()) lines_.push_back({{now, node.all}});
    for (const Busy& one : busy) change(now, one.end, *one.share, -1);
    for (Pool& pool : pools_) count(pool);
  }

  /// Forgets what was before `now`.
  void advance(double now) {
    const auto forget = [&](Line& line) {
      if (line.size() > 1 && line[1].time <= now)
        line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(step_at(line, now)));
    };
    for (Line& line : lines_) forget(line);
    for (Pool& pool : pools_) forget(pool.sum);
  }

  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps of its nodes).
  void change(double begin, double end, const Share& share, int sign) {
    for (const Piece& piece : share) {
      Line& line = lines_[piece.node];
      const auto [first, last] = change_line(line, begin, end, piece.held, sign);
      merge(line, last);
      merge(line, first);
    }
    for (Pool& pool : pools_) {
      if (pool.sum.empty()) continue;
      Amounts sum;
      for (const Piece& piece : share) sum += counted(pool, piece.node, piece.held);
      change_line(pool.sum, begin, end, sum, sign);
      if (pool.sum.size() > 2 * pool.useful + 100) count(pool);
    }
  }

  struct Slot {
    double start;
    Share share;
  };

  /// The earliest start in [now, before) (`now` or a step's begin) from which the need finds its
  /// amounts on the same nodes for `length` seconds; else `before`, without nodes.
  /// O(steps of all nodes), of a need in several parts x their logarithm.
  Slot earliest(double now, const Need& need, double length, double before) const {
    if (need.parts == 0) return earliest_anywhere(now, need, length, before);
    return need.parts == 1 ? earliest_part(now, need, length, before)
                           : earliest_parts(now, need, length, before);
  }

  /// The same of one part of the need on that node; `before` if there is none.
  double earliest_on(int node, double now, const Need& need, double length, double before) const {
    if (!site_.open_to(need, node)) return before;
    const Line& line = lines_[node];
    for (std::size_t k = step_at(line, now); k < line.size() && line[k].time < before; ++k) {
      if (!line[k].free.holds(need.each)) continue;
      const double start = std::max(now, line[k].time);
      while (end_of(line, k) < start + length && line[k + 1].free.holds(need.each)) ++k;
      if (start + length <= end_of(line, k)) return std::min(start, before);
    }
    return before;
  }

  /// Whether a part of the need finds its amounts on that node just before the time.
  bool holds_before(int node, double time, const Need& need) const {
    const Line& line = lines_[node];
    std::size_t step = step_at(line, time);
    if (step > 0 && line[step].time >= time) --step;
    return line[step].time < time && line[step].free.holds(need.each);
  }

 private:
  // The step that contains the time, or the first one.
  template <class Line>
  static std::size_t step_at(const Line& line, double time) {
    const auto after =
        std::upper_bound(line.begin(), line.end(), time,
                         [](double value, const auto& step) { return value < step.time; });
    return after == line.begin() ? 0 : static_cast<std::size_t>(after - line.begin()) - 1;
  }

  // A step that begins at the time, made if need be.
  template <class Line>
  static std::size_t border_at(Line& line, double time) {
    const std::size_t step = step_at(line, time);
    if (line[step].time >= time) return step;
    line.insert(line.begin() + static_cast<std::ptrdiff_t>(step + 1), {time, line[step].free});
    return step + 1;
  }

  // The first and the step behind the last that changed.
  template <class Line>
  static std::pair<std::size_t, std::size_t> change_line(Line& line, double begin, double end,
                                                         const Amounts& amounts, int sign) {
    begin = std::max(begin, line.front().time);
    if (!(begin < end)) return {0, 0};
    const std::size_t first = border_at(line, begin), last = border_at(line, end);
    for (std::size_t k = first; k < last; ++k)
      sign > 0 ? line[k].free += amounts : line[k].free -= amounts;
    return {first, last};
  }

  // With the step before, if they are alike.
  template <class Line>
  static void merge(Line& line, std::size_t step) {
    if (step > 0 && step < line.size() && line[step].free == line[step - 1].free)
      line.erase(line.begin() + static_cast<std::ptrdiff_t>(step));
  }

  template <class Line>
  static double end_of(const Line& line, std::size_t step) {
    return step + 1 < line.size() ? line[step + 1].time : kInfinity;
  }

  // Starts from `begin` on whose run ends by `end`.
  struct Window {
    double begin, end;
    bool large;  // for a larger part
  };

  template <class Line>
  static void add_windows(const Line& line, double now, const Amounts& part, double length,
                          double before, bool large, std::vector<Window>& windows) {
    for (std::size_t k = step_at(line, now); k < line.size() && line[k].time < before; ++k) {
      if (!line[k].free.holds(part)) continue;
      const double begin = std::max(now, line[k].time);
      while (k + 1 < line.size() && line[k + 1].free.holds(part)) ++k;
      const double end = end_of(line, k);
      if (begin < before && begin + length <= end) windows.push_back({begin, end, large});
    }
  }

  // The first start that lies in so many windows, else `before`.
  static double first_start(std::vector<Window>& windows, const Need& need, double length,
                            double before) {
    std::sort(windows.begin(), windows.end(),
              [](const Window& a, const Window& b) { return a.begin < b.begin; });
    std::priority_queue<double, std::vector<double>, std::greater<>> open[2];  // their ends
    for (const Window& window : windows) {
      open[window.large].push(window.end);
      for (auto& ends : open)
        while (!ends.empty() && ends.top() < window.begin + length) ends.pop();
      if (open[0].size() >= static_cast<std::size_t>(need.parts) &&
          open[1].size() >= static_cast<std::size_t>(need.larger))
        return window.begin;
    }
    return before;
  }

  struct Step {
    double time;  // its begin
    Amounts free;
  };
  using Line = std::vector<Step>;
  // The sum over all nodes that a need in no parts may use: it rejects most of its starts.
  // It has a step wherever one of these nodes has one, and some that are of no use any more.
  struct Pool {
    std::uint64_t cells, gpu_types;
    Line sum;
    std::size_t useful;  // steps, when they were counted last
  };

  Slot earliest_part(double now, const Need& need, double length, double before) const {
    Slot slot{before, {}};
    for (std::size_t k = 0; k < lines_.size() && slot.start > now; ++k) {
      const int node = static_cast<int>(k);
      const double start = earliest_on(node, now, need, length, slot.start);
      if (start < slot.start) slot = {start, {{node, need.each}}};
    }
    return slot;
  }

  Slot earliest_parts(double now, const Need& need, double length, double before) const {
    Amounts larger = need.each;
    ++larger.cores;
    std::vector<Window> windows;
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      if (!site_.open_to(need, static_cast<int>(k))) continue;
      add_windows(lines_[k], now, need.each, length, before, false, windows);
      if (need.larger > 0) add_windows(lines_[k], now, larger, length, before, true, windows);
    }
    Slot slot{first_start(windows, need, length, before), {}};
    if (slot.start < before)
      site_.place(need, least_between(slot.start, slot.start + length), need.cells, 0, &slot.share);
    return slot;
  }

  Slot earliest_anywhere(double now, const Need& need, double length, double before) const {
    const Line& sum = pool_of(need).sum;
    Slot slot{before, {}};
    for (std::size_t k = step_at(sum, now); k < sum.size(); ++k) {
      const double start = std::max(now, sum[k].time);
      if (!(start < before)) break;
      std::size_t in_run = k;  // no start whose run holds a step without room
      while (in_run < sum.size() && sum[in_run].time < start + length &&
             sum[in_run].free.holds(need.each))
        ++in_run;
      if (in_run < sum.size() && sum[in_run].time < start + length) {
        k = in_run;
      } else if (site_.place(need, least_between(start, start + length), need.cells, 0,
                             &slot.share)) {
        slot.start = start;
        return slot;
      }
    }
    slot.share.clear();
    return slot;
  }

  // The smallest amounts that are free at some time, by node.
  Free least_between(double begin, double end) const {
    Free free;
    for (const Line& line : lines_) {
      std::size_t k = step_at(line, begin);
      Amounts smallest = line[k].free;
      while (++k < line.size() && line[k].time < end) smallest = least(smallest, line[k].free);
      free.push_back(smallest);
    }
    return free;
  }

  const Pool& pool_of(const Need& need) const {
    const auto pool = std::find_if(pools_.begin(), pools_.end(), [&](const Pool& candidate) {
      return candidate.cells == need.cells && candidate.gpu_types == need.gpu_types;
    });
    return *require_found(pool, pools_.end(), "the pool of a need");
  }

  Amounts counted(const Pool& pool, int node, const Amounts& amounts) const {
    const Node& its = site_.nodes()[node];
    if (!(pool.cells >> its.cell & 1)) return {};
    return {amounts.memory, amounts.cores, pool.gpu_types >> its.gpu_type & 1 ? amounts.gpus : 0};
  }

  void count(Pool& pool) const {
    Line changes;  // how much more or less there is than before
    for (std::size_t node = 0; node < lines_.size(); ++node) {
      Amounts before;
      for (const Step& step : lines_[node]) {
        Amounts change = counted(pool, static_cast<int>(node), step.free);
        change -= std::exchange(before, change);
        changes.push_back({step.time, change});
      }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Step& a, const Step& b) { return a.time < b.time; });
    pool.sum.clear();
    Amounts sum;
    for (const Step& step : changes) {
      sum += step.free;
      if (pool.sum.empty() || pool.sum.back().time < step.time) pool.sum.push_back(step);
      pool.sum.back().free = sum;
    }
    pool.useful = pool.sum.size();
  }

  const Site& site_;
  std::vector<Line> lines_;  // by node
  std::vector<Pool> pools_;
};

// What conservative backfilling knows of nodes with memory and GPUs: the plan, what is free now,
// and which jobs cannot start sooner.
//
// A job that found no sooner start finds one only where something was given since: on one of these
// nodes, or on its own ones just before its start (it would have them to itself).  Jobs of one need
// and one expected run time share what they found, so that thousands that wait cost little as long
// as none of them moves.

class NodeBook {
 public:
  using Plan = NodePlan;
  using Share = Placement;

  NodeBook(const Site& site, const std::vector<BatchJob>& jobs)
      : plan(site),
        site_(site),
        jobs_(jobs),
        free_(site.all()),
        seen_(jobs.size(), 0),
        recent_(site.nodes().size(), 0) {
    std::map<std::tuple<int, double, int>, int> kinds;
    for (const BatchJob& job : jobs) {
      // Jobs without a limit are planned differently long, so that each is of a kind of its own.
      const int own = job.expected < kNoEnd ? -1 : job.job;
      const std::tuple kind(site.need(job.job).shape, job.expected, own);
      kind_.push_back(kinds.emplace(kind, static_cast<int>(kinds.size())).first->second);
    }
    prospects_.assign(kinds.size(), {-kInfinity, 0});
  }

  Share nothing() const { return {}; }

  /// The earliest slot; where the job holds nodes from the begin on, these.
  Plan::Slot earliest(int rank, double now) {
    seen_[rank] = gifts_;
    return sooner(rank, now, kInfinity);
  }

  /// The same if it is before that start, else none.
  Plan::Slot sooner(int rank, double now, double start) {
    const Placement& held = site_.held(jobs_[rank].job);
    if (!held.empty()) return {now, held};
    return plan.earliest(now, need(rank), jobs_[rank].expected, start);
  }

  /// Whether it is sure that the job, which gives its slot back, finds none that starts before it.
  /// O(nodes that were given something since somebody like it asked).
  bool stuck(int rank, double now, const Plan::Slot& own) {
    const std::int64_t seen = std::exchange(seen_[rank], gifts_);
    if (seen == gifts_ || own.start <= now) return true;
    const int parts = need(rank).parts;
    if (parts == 0 || !site_.held(jobs_[rank].job).empty()) return false;
    return parts == 1 ? stuck_part(rank, now, own) : stuck_parts(rank, now, own, seen);
  }

  /// Some share is free for longer in the plan.
  void given(const Share& share) {
    for (const Piece& piece : share) recent_[gifts_++ % nodes()] = piece.node;
  }

  /// The plan was made anew.
  void restarted() { gifts_ += nodes() + 1; }

  bool fits(const Share& share) const {
    return std::all_of(share.begin(), share.end(),
                       [&](const Piece& piece) { return free_[piece.node].holds(piece.held); });
  }

  void give(const Share& share, int sign) {
    for (const Piece& piece : share) {
      Amounts& free = free_[piece.node];
      sign > 0 ? free += piece.held : free -= piece.held;
    }
  }

  Plan plan;

 private:
  // Before this no part of the need finds its amounts, of what was free after so many gifts.
  struct Prospect {
    double start;
    std::int64_t gifts;
  };
  const Need& need(int rank) const { return site_.need(jobs_[rank].job); }
  std::int64_t nodes() const { return static_cast<std::int64_t>(recent_.size()); }
  int given_node(std::int64_t gift) const { return recent_[gift % nodes()]; }

  bool stuck_part(int rank, double now, const Plan::Slot& own) {
    Prospect& known = prospects_[kind_[rank]];
    const double length = jobs_[rank].expected;
    if (gifts_ - known.gifts > nodes()) known.start = -kInfinity;
    for (std::int64_t gift = std::max(known.gifts, gifts_ - nodes()); gift < gifts_; ++gift)
      known.start = plan.earliest_on(given_node(gift), now, need(rank), length, known.start);
    known.gifts = gifts_;
    // Others may have taken what was there.
    if (known.start < own.start)
      known.start = plan.earliest(now, need(rank), length, kInfinity).start;
    return known.start >= own.start && !moves_back(rank, now, own);
  }

  bool stuck_parts(int rank, double now, const Plan::Slot& own, std::int64_t seen) const {
    if (gifts_ - seen > nodes() || moves_back(rank, now, own)) return false;
    for (std::int64_t gift = seen; gift < gifts_; ++gift)
      if (plan.earliest_on(given_node(gift), now, need(rank), jobs_[rank].expected, own.start) <
          own.start)
        return false;
    return true;
  }

  // Whether one of its nodes has room for it just before its start.
  bool moves_back(int rank, double now, const Plan::Slot& own) const {
    return own.start > now &&
           std::any_of(own.share.begin(), own.share.end(), [&](const Piece& piece) {
             return plan.holds_before(piece.node, own.start, need(rank));
           });
  }

  const Site& site_;
  const std::vector<BatchJob>& jobs_;
  Free free_;
  std::vector<int> kind_;            // by rank: equal for equal needs and expected run times
  std::vector<Prospect> prospects_;  // by kind
  std::vector<std::int64_t> seen_;   // by rank: gifts when it looked last
  std::vector<int> recent_;          // the nodes of the last gifts, as many as there are nodes
  std::int64_t gifts_ = 0;
};

}  // namespace cosched::cluster::batch
