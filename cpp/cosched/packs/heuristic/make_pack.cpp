#include "cosched/packs/heuristic/make_pack.hpp"

#include "cosched/core/order.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {
namespace {

void require_procs(const Instance& instance, const std::vector<int>& procs) {
  if (procs.size() != static_cast<std::size_t>(instance.tasks()))
    throw InvalidInstance("procs has " + std::to_string(procs.size()) + " entries: expected " +
                          std::to_string(instance.tasks()));
  for (std::size_t i = 0; i < procs.size(); ++i) {
    const std::string entry = "procs[" + std::to_string(i) + "] = " + std::to_string(procs[i]);
    if (procs[i] < 1 || procs[i] > instance.procs())
      throw InvalidInstance(entry + ": expected 1.." + std::to_string(instance.procs()));
    if (instance.times().given(static_cast<int>(i), procs[i]) == kInfinity)
      throw InvalidInstance(entry + ": task " + std::to_string(i) + " cannot run on so many");
  }
}

// Moves the first task of `order`, whose time fell to t_i(sigma_i), back to its place.
void sink_first(const Times& times, const std::vector<int>& sigma, std::vector<int>& order) {
  const int task = order.front();
  const double time = times(task, sigma[task]);
  std::size_t place = 0;
  for (; place + 1 < order.size(); ++place) {
    const int next = order[place + 1];
    const double other = times(next, sigma[next]);
    if (other < time || (other == time && next > task)) break;
    order[place] = next;
  }
  order[place] = task;
}

}  // namespace

Coschedule make_pack(const Instance& instance, const std::vector<int>& procs, bool reoptimise) {
  require_procs(instance, procs);
  const Times& times = instance.times();
  std::vector<double> time(procs.size());
  for (int i = 0; i < instance.tasks(); ++i) time[i] = times.given(i, procs[i]);
  FirstFit first_fit(instance.tasks(), instance.procs(), instance.max_tasks());
  const Packs& packs = first_fit.pack(by_decreasing(time), procs);
  return reoptimise ? with_optimal_procs(times, packs) : with_procs(instance, packs, procs);
}

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

const Packs& FirstFit::pack(const std::vector<int>& order, const std::vector<int>& sigma) {
  // Every pack that may be needed starts empty; first-fit opens them in order.
  std::fill(free_.begin(), free_.end(), procs_);
  for (auto& tasks : packs_) tasks.clear();
  std::size_t used = 0;
  for (const int i : order) {
    const int pack = first_with(sigma[i]);
    used = std::max(used, static_cast<std::size_t>(pack) + 1);
    if (packs_.size() < used) packs_.resize(used);
    packs_[pack].push_back(i);
    const bool full = static_cast<int>(packs_[pack].size()) == max_tasks_;
    set_free(pack, full ? 0 : free_[leaves_ + pack] - sigma[i]);
  }
  packs_.resize(used);
  return packs_;
}

int FirstFit::first_with(int need) const {
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

Coschedule pack_approx(const Instance& instance, bool reoptimise) {
  const Times& times = instance.times();
  const int p = instance.procs();
  std::vector<int> sigma = fewest_procs(times);
  std::vector<int> order = by_decreasing_time(times, sigma);
  double work = 0;
  for (int i = 0; i < instance.tasks(); ++i) work += times.work(i, sigma[i]);
  FirstFit first_fit(instance.tasks(), p, instance.max_tasks());
  CandidateCosts costs(times);
  Packs best_packs;
  std::vector<int> best_sigma;
  double best = kInfinity;
  for (;;) {
    const Packs& packs = first_fit.pack(order, sigma);
    const double candidate = reoptimise ? costs.optimal(packs) : costs.at_most(packs, sigma);
    if (candidate < best) {
      best = candidate;
      best_packs = packs;
      best_sigma = sigma;
    }
    const int longest = order.front();
    if (work / p > times(longest, sigma[longest]) || sigma[longest] == p) break;
    work += times.work(longest, sigma[longest] + 1) - times.work(longest, sigma[longest]);
    ++sigma[longest];
    sink_first(times, sigma, order);
    check_interrupt();
  }
  if (reoptimise) return with_optimal_procs(times, best_packs);
  for (int i = 0; i < instance.tasks(); ++i) best_sigma[i] = times.used(i, best_sigma[i]);
  return with_procs(instance, best_packs, best_sigma);
}

}  // namespace cosched::packs::heuristic
