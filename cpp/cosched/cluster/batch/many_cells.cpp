#include "cosched/cluster/batch/many_cells.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {

ManyCells::ManyCells(const Layout& layout, const std::vector<BatchJob>& jobs)
    : layout_(layout),
      jobs_(jobs),
      free_nodes_(layout.nodes),
      shares_(jobs.size() * free_nodes_.size()) {}

void ManyCells::allocate(int rank, double now) {
  for (std::size_t c = 0; c < free_nodes_.size(); ++c) free_nodes_[c] -= share(rank)[c];
  running_jobs_.push_back({rank, now});
}

void ManyCells::release(int rank, double /*start*/) {
  for (std::size_t c = 0; c < free_nodes_.size(); ++c) free_nodes_[c] += share(rank)[c];
  const auto place = std::find_if(running_jobs_.begin(), running_jobs_.end(),
                                  [&](const StartedJob& job) { return job.rank == rank; });
  running_jobs_.erase(require_found(place, running_jobs_.end(), "a running job"));
}

CellReservation ManyCells::make_reservation(int rank, double now) const {
  std::vector<std::pair<double, int>> releases;  // (expected time, nodes that the job may use)
  for (const StartedJob& job : running_jobs_)
    releases.emplace_back(std::max(now, job.start + jobs_[job.rank].expected_runtime),
                          sum_over(open_cells(rank), share(job.rank)));
  std::sort(releases.begin(), releases.end());
  const int needed_nodes = jobs_[rank].tasks;
  int expected_free_nodes = free_nodes_for(rank);
  double shadow_time = now;
  std::size_t k = 0;
  for (; expected_free_nodes < needed_nodes && k < releases.size(); ++k) {
    expected_free_nodes += releases[k].second;
    shadow_time = releases[k].first;
  }
  for (; k < releases.size() && releases[k].first <= shadow_time; ++k)
    expected_free_nodes += releases[k].second;
  return {rank, shadow_time, expected_free_nodes - needed_nodes};
}

std::vector<int> ManyCells::shares_by_job() const {
  const auto cells = static_cast<std::ptrdiff_t>(free_nodes_.size());
  std::vector<int> by_job(shares_.size());
  for (int rank = 0; rank < static_cast<int>(jobs_.size()); ++rank)
    std::copy_n(share(rank), cells, by_job.begin() + jobs_[rank].job * cells);
  return by_job;
}

}  // namespace cosched::cluster::batch
