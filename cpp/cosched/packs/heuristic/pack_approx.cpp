#include "cosched/packs/heuristic/pack_approx.hpp"

#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"

namespace cosched::packs::heuristic {
namespace {

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
    const Packs& packs = first_fit.pack_tasks(order, sigma);
    const double candidate =
        reoptimise ? costs.optimal_cost(packs) : costs.cost_at_most(packs, sigma);
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
