#include "cosched/cluster/batch/node_cells.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster::batch {
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

NodeCells::NodeCells(const Site& site, const std::vector<BatchJob>& jobs)
    : site_(site),
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
  running_.push_back({rank, now});
}

void NodeCells::give(int rank, double) {
  add(free_, held_[rank]);
  count(held_[rank], +1);
  running_.erase(std::find_if(running_.begin(), running_.end(),
                              [&](const Run& run) { return run.rank == rank; }));
  ++gifts_;
}

NodeCells::Reservation NodeCells::reserve(int rank, double now) const {
  std::vector<std::pair<double, int>> back;  // (expected end, rank)
  for (const Run& run : running_)
    back.emplace_back(std::max(now, run.start + jobs_[run.rank].expected), run.rank);
  std::sort(back.begin(), back.end());
  const auto after = [&](std::size_t ends) {
    Free then = free_;
    for (std::size_t k = 0; k < ends; ++k) add(then, held_[back[k].second]);
    return then;
  };
  // The fewest ends after which the job fits: more free nodes never take that back.
  std::size_t few = 0, enough = back.size();
  while (few < enough) {
    const std::size_t middle = (few + enough) / 2;
    if (site_.holds(need(rank), after(middle)))
      enough = middle;
    else
      few = middle + 1;
  }
  const double shadow = enough == 0 ? now : back[enough - 1].first;
  while (enough < back.size() && back[enough].first <= shadow) ++enough;
  Free then = after(enough);
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
