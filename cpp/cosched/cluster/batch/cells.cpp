#include "cosched/cluster/batch/cells.hpp"

#include <algorithm>
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

}  // namespace cosched::cluster::batch
