#include "cosched/cluster/batch/cells.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cosched::cluster::batch {

Reservation OneCell::reserve(int rank, double now) const {
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

ManyCells::ManyCells(const Layout& layout, const std::vector<BatchJob>& jobs)
    : layout_(layout), jobs_(jobs), free_(layout.nodes), shares_(jobs.size() * free_.size()) {}

int ManyCells::sum(std::uint64_t cells, const int* nodes) const {
  int total = 0;
  for (std::size_t c = 0; c < free_.size(); ++c)
    if (cells >> c & 1) total += nodes[c];
  return total;
}

bool ManyCells::choose(int rank, std::uint64_t open, std::uint64_t last) {
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

void ManyCells::take(int rank, double now) {
  for (std::size_t c = 0; c < free_.size(); ++c) free_[c] -= share(rank)[c];
  running_.push_back({rank, now});
}

void ManyCells::give(int rank, double) {
  for (std::size_t c = 0; c < free_.size(); ++c) free_[c] += share(rank)[c];
  running_.erase(std::find_if(running_.begin(), running_.end(),
                              [&](const Run& run) { return run.rank == rank; }));
}

Reservation ManyCells::reserve(int rank, double now) const {
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

std::vector<int> ManyCells::shares() const {
  const auto cells = static_cast<std::ptrdiff_t>(free_.size());
  std::vector<int> all(shares_.size());
  for (int rank = 0; rank < static_cast<int>(jobs_.size()); ++rank)
    std::copy_n(share(rank), cells, all.begin() + jobs_[rank].job * cells);
  return all;
}

namespace {

int number_of_cells(const Site& site) {
  int cells = 1;
  for (const Node& node : site.nodes()) cells = std::max(cells, node.cell + 1);
  return cells;
}

void add(Free& free, const Placement& pieces) {
  for (const Piece& piece : pieces) free[piece.node] += piece.held;
}

void subtract(Free& free, const Placement& pieces) {
  for (const Piece& piece : pieces) free[piece.node] -= piece.held;
}

}  // namespace

NodeCells::NodeCells(const Site& site, bool plans, const std::vector<BatchJob>& jobs)
    : site_(site),
      plans_(plans),
      jobs_(jobs),
      free_(site.all()),
      free_cores_(number_of_cells(site)),
      held_(jobs.size()),
      found_none_(site.shapes()) {
  for (const Node& node : site.nodes()) free_cores_[node.cell] += node.all.cores;
}

int NodeCells::cores(std::uint64_t cells) const {
  int total = 0;
  for (std::size_t c = 0; c < free_cores_.size(); ++c)
    if (cells >> c & 1) total += free_cores_[c];
  return total;
}

bool NodeCells::choose(int rank, std::uint64_t open, std::uint64_t last) {
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

bool NodeCells::spared(int, Reservation& other) const {
  subtract(other.then, chosen_);
  const bool still = site_.holds(need(other.rank), other.then);
  add(other.then, chosen_);
  return still;
}

void NodeCells::use_up(int, Reservation& other) const {
  subtract(other.then, chosen_);
  for (const Piece& piece : chosen_)
    if (allowed(other.rank) >> site_.nodes()[piece.node].cell & 1) other.extra -= piece.held.cores;
}

void NodeCells::count(const Placement& pieces, int sign) {
  for (const Piece& piece : pieces)
    free_cores_[site_.nodes()[piece.node].cell] += sign * piece.held.cores;
}

void NodeCells::take(int rank, double now) {
  held_[rank] = chosen_;
  subtract(free_, held_[rank]);
  count(held_[rank], -1);
  if (!plans_) return;
  const std::pair<double, int> back{now + jobs_[rank].expected, rank};
  back_.insert(std::lower_bound(back_.begin(), back_.end(), back, std::greater<>()), back);
}

void NodeCells::give(int rank, double start) {
  add(free_, held_[rank]);
  count(held_[rank], +1);
  ++gifts_;
  if (!plans_) return;
  const std::pair<double, int> back{start + jobs_[rank].expected, rank};
  back_.erase(std::lower_bound(back_.begin(), back_.end(), back, std::greater<>()));
}

NodeCells::Reservation NodeCells::reserve(int rank, double now) const {
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

std::vector<Placement> NodeCells::placements() const {
  std::vector<Placement> all(held_.size());
  for (std::size_t rank = 0; rank < held_.size(); ++rank) all[jobs_[rank].job] = held_[rank];
  return all;
}

}  // namespace cosched::cluster::batch
