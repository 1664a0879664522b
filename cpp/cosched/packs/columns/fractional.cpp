#include "cosched/packs/columns/fractional.hpp"

#include <algorithm>

namespace cosched::packs::columns {
namespace {

bool holds(const Column& pack, int task) {
  return std::binary_search(pack.tasks.begin(), pack.tasks.end(), task);
}

Column without(Column pack, int task) {
  pack.tasks.erase(std::lower_bound(pack.tasks.begin(), pack.tasks.end(), task));
  return pack;
}

Column with(Column pack, int task) {
  pack.tasks.insert(std::lower_bound(pack.tasks.begin(), pack.tasks.end(), task), task);
  return pack;
}

// Replaces up to `amount` of packs[c] by `changed`; what is left stays.  Returns what was replaced.
double replace(std::vector<FractionalPack>& packs, std::size_t c, double amount, Column changed) {
  const double part = std::min(amount, packs[c].value);
  if (packs[c].value - part <= kNegligible) {
    packs[c].pack = std::move(changed);
  } else {
    packs[c].value -= part;
    packs.push_back({std::move(changed), part});
  }
  return part;
}

// Cover that a task has to give, by the task whose packs it comes from.
struct Supply {
  int source;
  double value;
};

// Takes up to `value` out of `supplies` as exchanges for `task`.
std::vector<Exchange> take(std::vector<Supply>& supplies, double value, int task) {
  std::vector<Exchange> taken;
  while (!supplies.empty() && value > kNegligible) {
    Supply& last = supplies.back();
    const double part = std::min(value, last.value);
    taken.push_back({task, last.source, part});
    value -= part;
    last.value -= part;
    if (last.value <= kNegligible) supplies.pop_back();
  }
  return taken;
}

}  // namespace

std::vector<double> cover(const std::vector<FractionalPack>& packs, int tasks) {
  std::vector<double> total(tasks, 0.0);
  for (const FractionalPack& f : packs)
    for (const int i : f.pack.tasks) total[i] += f.value;
  return total;
}

std::vector<Exchange> end_to_end(const std::vector<Exchange>& exchanges,
                                 const std::vector<double>& cover) {
  std::vector<std::vector<Supply>> supplies(cover.size());
  std::vector<char> served(cover.size(), 0);
  std::vector<Exchange> result;
  // All that feeds `task` has arrived: it keeps what it lacks.
  const auto serve = [&](int task) {
    if (served[task]++) return;
    const double surplus = cover[task] - 1;
    if (surplus > kNegligible) supplies[task].push_back({task, surplus});
    const std::vector<Exchange> kept = take(supplies[task], -surplus, task);
    result.insert(result.end(), kept.begin(), kept.end());
  };
  for (const Exchange& exchange : exchanges) {
    serve(exchange.task);
    for (const Exchange& part : take(supplies[exchange.task], exchange.value, exchange.for_task))
      supplies[exchange.for_task].push_back({part.task, part.value});
  }
  for (std::size_t i = 0; i < cover.size(); ++i) serve(static_cast<int>(i));
  return result;
}

std::vector<FractionalPack> carry_out(std::vector<FractionalPack> packs,
                                      const std::vector<Exchange>& exchanges) {
  for (const Exchange& exchange : exchanges) {
    double left = exchange.value;
    for (std::size_t c = 0, count = packs.size(); c < count && left > kNegligible; ++c)
      if (holds(packs[c].pack, exchange.task) && !holds(packs[c].pack, exchange.for_task))
        left -=
            replace(packs, c, left, with(without(packs[c].pack, exchange.task), exchange.for_task));
  }
  return packs;
}

std::vector<FractionalPack> cover_once(std::vector<FractionalPack> packs, int tasks) {
  for (int i = 0; i < tasks; ++i) {
    std::vector<std::size_t> holders;
    double excess = -1;
    for (std::size_t c = 0; c < packs.size(); ++c)
      if (holds(packs[c].pack, i)) {
        holders.push_back(c);
        excess += packs[c].value;
      }
    std::stable_sort(holders.begin(), holders.end(), [&](std::size_t a, std::size_t b) {
      return packs[a].pack.length > packs[b].pack.length;
    });
    for (const std::size_t c : holders) {
      if (excess <= kNegligible) break;
      excess -= replace(packs, c, excess, without(packs[c].pack, i));
    }
  }
  return packs;
}

}  // namespace cosched::packs::columns
