#include "cosched/packs/columns/dominance.hpp"

#include <numeric>

#include "cosched/core/interrupt.hpp"

namespace cosched::packs::columns {
namespace {

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

// Whether task j may be in every pack that task i may be in.
bool is_as_free(const Restrictions& restrictions, int j, int i) {
  return restrictions.least_length.empty() ||
         (restrictions.least_length[j] <= restrictions.least_length[i] &&
          restrictions.below_length[j] >= restrictions.below_length[i]);
}

}  // namespace

Dominance compute_dominance(const Times& times) {
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

// Visits the tasks i that j may dominate from the fastest on: what a task i dominates, j reaches by
// an exchange with i, so that it needs no exchange of its own.
std::vector<CoverExchange> list_direct_exchanges(const Times& times, const Dominance& dominates,
                                                 const Restrictions& restrictions) {
  const std::vector<int> order = slowest_first(times);
  std::vector<int> rank(order.size());
  std::vector<std::vector<int>> slower_tasks(order.size());
  std::vector<char> is_indirect(order.size());
  std::vector<CoverExchange> exchanges;
  Poll poll;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const int j = order[place];
    rank[j] = static_cast<int>(place);
    std::fill(is_indirect.begin(), is_indirect.end(), 0);
    for (std::size_t k = place; k-- > 0;) {
      const int i = order[k];
      poll.count(1);  // a look at a flag, a nanosecond
      if (!dominates[j][i] || !is_as_free(restrictions, j, i)) continue;
      slower_tasks[j].push_back(i);
      if (is_indirect[i]) continue;
      exchanges.push_back({j, i, 0});
      for (const int other : slower_tasks[i]) is_indirect[other] = 1;
      poll.count(static_cast<std::int64_t>(slower_tasks[i].size()));
    }
  }
  std::sort(exchanges.begin(), exchanges.end(),
            [&](const CoverExchange& a, const CoverExchange& b) {
              return a.source_task != b.source_task ? rank[a.source_task] < rank[b.source_task]
                                                    : a.target_task < b.target_task;
            });
  return exchanges;
}

}  // namespace cosched::packs::columns
