#include "cosched/moldable/batches/demt.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/job_orders.hpp"
#include "cosched/moldable/list/list_scheduler.hpp"
#include "cosched/moldable/model/incumbent.hpp"
#include "cosched/opt/knapsack.hpp"

namespace cosched::moldable::batches {
namespace {

// --- selection ------------------------------------------------------------------------------

// Greatest first; ties to the lowest job.
std::vector<int> order_by_decreasing_weight(const Instance& instance) {
  return sorted_numbers(instance.jobs(),
                        [&](int a, int b) { return instance.weight(a) > instance.weight(b); });
}

// The candidates of a batch: jobs and stacks, none longer than `length`.
std::vector<Item> make_candidates(const Instance& instance, const std::vector<int>& remaining,
                                  double length) {
  std::vector<Item> items;
  Item stack{1, {}};
  double height = 0;
  constexpr std::int64_t kPollStepsPerJob = 50;  // a nanosecond each
  Poll poll;
  for (const int i : remaining) {
    poll.count(kPollStepsPerJob);
    const int q = instance.gamma(i, length);
    if (q == 0) continue;
    const double alone = instance.time(i, 1);
    if (q > 1 || alone > length / 2) {
      items.push_back({q, {i}});
      continue;
    }
    if (height + alone > length) {
      items.push_back(std::move(stack));
      stack = {1, {}};
      height = 0;
    }
    stack.jobs.push_back(i);
    height += alone;
  }
  if (!stack.jobs.empty()) items.push_back(std::move(stack));
  return items;
}

// Numbers of the items that run: the knapsack's, then weightless ones in what is left.
std::vector<int> select_items(const Instance& instance, const std::vector<Item>& items) {
  std::vector<double> weight;
  std::vector<int> procs;
  for (const Item& item : items) {
    double sum = 0;
    for (const int i : item.jobs) sum += instance.weight(i);
    weight.push_back(sum);
    procs.push_back(item.procs);
  }
  std::vector<int> chosen = opt::knapsack(weight, procs, instance.machines());
  int idle_procs = instance.machines();
  for (const int k : chosen) idle_procs -= procs[k];
  for (std::size_t k = 0; k < items.size() && idle_procs > 0; ++k)
    if (weight[k] == 0 && procs[k] <= idle_procs) {
      chosen.push_back(static_cast<int>(k));
      idle_procs -= procs[k];
    }
  return chosen;
}

// --- orders ---------------------------------------------------------------------------------

double item_length(const Instance& instance, const Item& item) {
  double sum = 0;
  for (const int i : item.jobs) sum += instance.time(i, item.procs);
  return sum;
}

// Least first.
double local_order_key(LocalOrder order, double weight, double time, int procs) {
  switch (order) {
    case LocalOrder::smith:
      return -weight / time;
    case LocalOrder::density:
      return -weight / (procs * time);
    case LocalOrder::weight:
      return -weight;
    default:
      return procs * time;
  }
}

// --- compaction -----------------------------------------------------------------------------

// Jobs and processor counts in list order, with the batches in the order `sequence`.
struct BatchList {
  std::vector<int> job, procs;
  std::vector<double> length;
};

// One list a batch, in local order.
std::vector<BatchList> local_lists(const Instance& instance, const std::vector<Batch>& batches,
                                   LocalOrder order) {
  std::vector<BatchList> lists;
  for (const Batch& batch : batches) {
    std::vector<std::pair<double, std::pair<int, int>>> keyed;  // (key, (job, procs))
    for (const Item& item : batch.items)
      for (const int i : item.jobs)
        keyed.push_back(
            {local_order_key(order, instance.weight(i), instance.time(i, item.procs), item.procs),
             {i, item.procs}});
    std::sort(keyed.begin(), keyed.end());
    BatchList list;
    for (const auto& [value, entry] : keyed) {
      list.job.push_back(entry.first);
      list.procs.push_back(entry.second);
      list.length.push_back(instance.time(entry.first, entry.second));
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

Placement list_in_sequence(const Instance& instance, const std::vector<BatchList>& lists,
                           const std::vector<int>& sequence, list::ListScheduler& scheduler) {
  BatchList entries;
  for (const int b : sequence) {
    const BatchList& list = lists[b];
    entries.job.insert(entries.job.end(), list.job.begin(), list.job.end());
    entries.procs.insert(entries.procs.end(), list.procs.begin(), list.procs.end());
    entries.length.insert(entries.length.end(), list.length.begin(), list.length.end());
  }
  std::vector<double> start;
  scheduler.schedule(list::ListRule::list, entries.procs, entries.length, start);
  Placement placement = empty_placement(instance.jobs());
  for (std::size_t k = 0; k < start.size(); ++k)
    place(instance, placement, entries.job[k], entries.procs[k], start[k]);
  return placement;
}

std::vector<int> identity_order(std::size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

std::vector<Batch> make_batches(const Instance& instance, double horizon) {
  if (!(horizon > 0) || horizon == kInfinity)
    throw InvalidInstance("horizon = " + to_text(horizon) +
                          ": expected a positive finite number of seconds");
  instance.require_no_releases("DEMT");
  double shortest_time = kInfinity;
  for (int i = 0; i < instance.jobs(); ++i)
    shortest_time = std::min(shortest_time, instance.least_time(i));
  const int doublings =
      std::max(0, static_cast<int>(std::floor(std::log2(horizon) - std::log2(shortest_time))));

  std::vector<Batch> batches;
  std::vector<int> remaining = order_by_decreasing_weight(instance);
  std::vector<char> is_placed(instance.jobs(), 0);
  for (int j = -doublings; !remaining.empty(); ++j) {
    check_interrupt();
    const double length = std::ldexp(horizon, j);
    std::vector<Item> items = make_candidates(instance, remaining, length);
    Batch batch{length, {}};
    for (const int k : select_items(instance, items)) batch.items.push_back(std::move(items[k]));
    if (batch.items.empty()) continue;
    for (const Item& item : batch.items)
      for (const int i : item.jobs) is_placed[i] = 1;
    remaining.erase(std::remove_if(remaining.begin(), remaining.end(),
                                   [&](int i) { return is_placed[i] != 0; }),
                    remaining.end());
    batches.push_back(std::move(batch));
  }
  return batches;
}

Placement run_batches(const Instance& instance, const std::vector<Batch>& batches) {
  Placement placement = empty_placement(instance.jobs());
  for (const Batch& batch : batches)
    for (const Item& item : batch.items) {
      double from = batch.length;
      for (const int i : item.jobs) {
        place(instance, placement, i, item.procs, from);
        from = placement.end[i];
      }
    }
  return placement;
}

Placement start_early(const Instance& instance, const std::vector<Batch>& batches) {
  Placement placement = empty_placement(instance.jobs());
  std::vector<double> idle_from(instance.machines(), 0);
  for (const Batch& batch : batches) {
    // Longest first, so that items of similar length share processors with their successors.
    std::vector<const Item*> items;
    for (const Item& item : batch.items) items.push_back(&item);
    std::stable_sort(items.begin(), items.end(), [&](const Item* a, const Item* b) {
      return item_length(instance, *a) > item_length(instance, *b);
    });
    int first = 0;
    for (const Item* item_pointer : items) {
      const Item& item = *item_pointer;
      const auto begin = idle_from.begin() + first, end = begin + item.procs;
      double from = *std::max_element(begin, end);
      for (const int i : item.jobs) {
        place(instance, placement, i, item.procs, from);
        from = placement.end[i];
      }
      std::fill(begin, end, from);
      first += item.procs;
    }
  }
  return placement;
}

Placement list_batches(const Instance& instance, const std::vector<Batch>& batches,
                       LocalOrder order) {
  list::ListScheduler scheduler(instance.machines());
  return list_in_sequence(instance, local_lists(instance, batches, order),
                          identity_order(batches.size()), scheduler);
}

Placement demt(const Instance& instance, const DemtOptions& options) {
  using Compaction = DemtOptions::Compaction;
  const double horizon = options.horizon ? *options.horizon : dual::default_horizon(instance);
  const std::vector<Batch> batches = make_batches(instance, horizon);
  if (options.compaction == Compaction::none) return run_batches(instance, batches);
  Incumbent best(instance, Objective::minsum);
  best.offer(start_early(instance, batches));
  if (options.compaction == Compaction::early) return best.placement();
  const std::vector<BatchList> lists = local_lists(instance, batches, options.local_order);
  list::ListScheduler scheduler(instance.machines());
  std::vector<int> sequence = identity_order(batches.size());
  best.offer(list_in_sequence(instance, lists, sequence, scheduler));
  if (options.compaction == Compaction::list) return best.placement();
  Rng rng(options.seed);
  Poll poll;
  for (int round = 0; round < options.shuffles; ++round) {
    poll.count(100 + instance.jobs());
    rng.shuffle(sequence);
    best.offer(list_in_sequence(instance, lists, sequence, scheduler));
  }
  return best.placement();
}

}  // namespace cosched::moldable::batches
