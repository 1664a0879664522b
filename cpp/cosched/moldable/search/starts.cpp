#include "cosched/moldable/search/starts.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/batches/online.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/mutable_schedule.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kDeadlines = 24;  // of canonical allotments

// Offers the schedule of an off-line algorithm, by batches where jobs have release dates.
template <class Algorithm>
void offer_offline(const Instance& instance, const Offer& offer, const Algorithm& algorithm) {
  check_interrupt();
  if (!instance.has_releases()) return offer(algorithm(instance));
  offer(batches::schedule_by_batches(
      instance, [&](const std::vector<int>& jobs) { return algorithm(instance.select(jobs)); }));
}

// The list by Graham's rule, or where jobs have release dates each job at its earliest fit.
Placement make_list_schedule(const Instance& instance, const std::vector<int>& order,
                             const Allotment& procs) {
  if (!instance.has_releases()) return list::list_schedule(instance, procs, order);
  MutableSchedule state(instance, Objective::makespan);
  state.decode(order, procs);
  return state.placement();
}

// Orders of a list: by decreasing time or work, or by increasing time or work per weight; release
// dates are added to all keys but work.
std::vector<std::vector<int>> list_orders(const Instance& instance, const Allotment& procs) {
  const int n = instance.jobs();
  std::vector<std::vector<double>> keys(4, std::vector<double>(n));
  for (int i = 0; i < n; ++i) {
    const double t = instance.time(i, procs[i]), r = instance.release(i);
    constexpr double kLeastWeight = 1e-12;  // a job without a weight comes last
    const double w = std::max(instance.weight(i), kLeastWeight);
    keys[0][i] = r - t;
    keys[1][i] = -t * procs[i];
    keys[2][i] = r + t / w;
    keys[3][i] = r + t * procs[i] / w;
  }
  std::vector<std::vector<int>> result;
  for (const auto& key : keys)
    result.push_back(list::order_jobs_by(n, [&](int i) { return key[i]; }));
  return result;
}

}  // namespace

void offer_simple_schedules(const Instance& instance, const Offer& offer) {
  offer_offline(instance, offer, [](const Instance& part) { return list::gang(part); });
  offer_offline(instance, offer, [](const Instance& part) { return list::sequential(part); });
}

void offer_family_schedules(const Instance& instance, std::uint64_t seed, const Offer& offer) {
  for (const dual::ListOrder order :
       {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
    offer_offline(instance, offer,
                  [&](const Instance& part) { return dual::list_graham(part, order); });
  offer_offline(instance, offer, [](const Instance& part) {
    return dual::dual_approximation(part).schedule.placement;
  });
  offer_offline(instance, offer, [&](const Instance& part) {
    batches::DemtOptions options;
    options.seed = seed;
    return batches::demt(part, options);
  });
  for (const double factor : {0.7, 1.0, 1.4, 2.0, 4.0})
    for (const bool density : {true, false})
      offer_offline(instance, offer, [&](const Instance& part) {
        return list::marginal_cost_schedule(
            part, density ? list::order_by_density(part) : list::order_by_least_work(part), factor);
      });
}

void offer_canonical_lists(const Instance& instance, double bound, const Offer& offer) {
  Allotment procs(instance.jobs());
  for (int k = 0; k < kDeadlines; ++k) {
    // Shorter deadlines than the bound make wide jobs: for the minsum.
    constexpr double kFirstPower = -3, kPowers = 4;  // of two: from an eighth to twice the bound
    const double d = bound * std::exp2(kFirstPower + kPowers * k / (kDeadlines - 1));
    for (int i = 0; i < instance.jobs(); ++i) {
      const int q = instance.cheapest_procs(i, d);
      procs[i] = q > 0 ? q : instance.gamma(i, instance.least_time(i));
    }
    for (const auto& order : list_orders(instance, procs)) {
      check_interrupt();
      offer(make_list_schedule(instance, order, procs));
    }
  }
}

}  // namespace cosched::moldable::search
