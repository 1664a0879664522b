#include "cosched/packs/heuristic/first_fit.hpp"

#include <algorithm>

#include "cosched/core/order.hpp"

namespace cosched::packs::heuristic {

std::vector<int> by_decreasing(const std::vector<double>& time) {
  return sorted_numbers(time.size(), [&](int i, int j) { return time[i] > time[j]; });
}

std::vector<int> fewest_procs(const Times& times) {
  std::vector<int> fewest(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) fewest[i] = times.fewest(i);
  return fewest;
}

std::vector<int> by_decreasing_time(const Times& times, const std::vector<int>& sigma) {
  std::vector<double> time(sigma.size());
  for (int i = 0; i < times.tasks(); ++i) time[i] = times(i, sigma[i]);
  return by_decreasing(time);
}

FirstFit::FirstFit(int tasks, int procs, int max_tasks)
    : procs_(procs), max_tasks_(max_tasks), leaves_(1) {
  while (leaves_ < tasks) leaves_ *= 2;
  free_.resize(std::size_t{2} * leaves_);
}

const Packs& FirstFit::pack_tasks(const std::vector<int>& order, const std::vector<int>& sigma) {
  // Every pack that may be needed starts empty; first-fit opens them in order.
  std::fill(free_.begin(), free_.end(), procs_);
  for (auto& tasks : packs_) tasks.clear();
  std::size_t pack_count = 0;
  for (const int i : order) {
    const int pack = first_pack_with(sigma[i]);
    pack_count = std::max(pack_count, static_cast<std::size_t>(pack) + 1);
    if (packs_.size() < pack_count) packs_.resize(pack_count);
    packs_[pack].push_back(i);
    const bool is_full = static_cast<int>(packs_[pack].size()) == max_tasks_;
    set_free(pack, is_full ? 0 : free_[leaves_ + pack] - sigma[i]);
  }
  packs_.resize(pack_count);
  return packs_;
}

int FirstFit::first_pack_with(int need) const {
  std::size_t node = 1;
  while (node < static_cast<std::size_t>(leaves_))
    node = free_[2 * node] >= need ? 2 * node : 2 * node + 1;
  return static_cast<int>(node) - leaves_;
}

void FirstFit::set_free(int pack, int free) {
  std::size_t node = static_cast<std::size_t>(leaves_) + pack;
  free_[node] = free;
  for (node /= 2; node >= 1; node /= 2)
    free_[node] = std::max(free_[2 * node], free_[2 * node + 1]);
}

}  // namespace cosched::packs::heuristic
