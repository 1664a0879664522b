#include "cosched/packs/columns/fractional.hpp"

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

// By decreasing rows, equal ones by decreasing number: a task comes after all that it dominates.
std::vector<int> slowest_first(const Times& times) {
  std::vector<int> order(times.tasks());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto [at_a, at_b] =
        std::mismatch(times.row(a), times.row(a) + times.procs(), times.row(b));
    return at_a != times.row(a) + times.procs() ? *at_a > *at_b : a > b;
  });
  return order;
}

// May task j be in every pack that task i may be in?
bool as_free(const Restrictions& restrictions, int j, int i) {
  return restrictions.least.empty() || (restrictions.least[j] <= restrictions.least[i] &&
                                        restrictions.below[j] >= restrictions.below[i]);
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

Dominance dominance(const Times& times) {
  const int n = times.tasks();
  Dominance dominates(n, std::vector<char>(n, 0));
  const auto never_slower = [&](int j, int i) {
    for (int q = 1; q <= times.procs(); ++q)
      if (times(j, q) > times(i, q)) return false;
    return true;
  };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      dominates[j][i] = i != j && never_slower(j, i) && (j < i || !never_slower(i, j));
    check_interrupt();
  }
  return dominates;
}

// The nearest i is looked at first, and what i dominates j does through i.
std::vector<Exchange> direct_exchanges(const Times& times, const Dominance& dominates,
                                       const Restrictions& restrictions) {
  const std::vector<int> order = slowest_first(times);
  std::vector<int> rank(order.size());
  std::vector<std::vector<int>> slower(order.size());
  std::vector<char> indirect(order.size());
  std::vector<Exchange> exchanges;
  Poll poll;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const int j = order[place];
    rank[j] = static_cast<int>(place);
    std::fill(indirect.begin(), indirect.end(), 0);
    for (std::size_t k = place; k-- > 0;) {
      const int i = order[k];
      poll.count(1);
      if (!dominates[j][i] || !as_free(restrictions, j, i)) continue;
      slower[j].push_back(i);
      if (indirect[i]) continue;
      exchanges.push_back({j, i, 0});
      for (const int other : slower[i]) indirect[other] = 1;
      poll.count(static_cast<std::int64_t>(slower[i].size()));
    }
  }
  std::sort(exchanges.begin(), exchanges.end(), [&](const Exchange& a, const Exchange& b) {
    return a.task != b.task ? rank[a.task] < rank[b.task] : a.for_task < b.for_task;
  });
  return exchanges;
}

}  // namespace cosched::packs::columns
