#include "cosched/packs/columns/fractional.hpp"

namespace cosched::packs::columns {
namespace {

bool has_task(const PackColumn& pack, int task) {
  return std::binary_search(pack.tasks.begin(), pack.tasks.end(), task);
}

PackColumn remove_task(PackColumn pack, int task) {
  pack.tasks.erase(std::lower_bound(pack.tasks.begin(), pack.tasks.end(), task));
  return pack;
}

PackColumn insert_task(PackColumn pack, int task) {
  pack.tasks.insert(std::lower_bound(pack.tasks.begin(), pack.tasks.end(), task), task);
  return pack;
}

// Gives up to `amount` of the value of packs[c] to `replacement`; the remaining value stays with
// packs[c].  Returns the value that has moved.
double replace_part(std::vector<FractionalPack>& packs, std::size_t c, double amount,
                    PackColumn replacement) {
  const double part = std::min(amount, packs[c].value);
  if (packs[c].value - part <= kNegligibleValue) {
    packs[c].pack = std::move(replacement);
  } else {
    packs[c].value -= part;
    packs.push_back({std::move(replacement), part});
  }
  return part;
}

// Cover that a task can pass on, and the task whose packs it comes from.
struct CoverSupply {
  int source;
  double value;
};

// Takes cover of up to `value` out of `supplies`, the last first, as exchanges with target `task`.
std::vector<CoverExchange> take_supply(std::vector<CoverSupply>& supplies, double value, int task) {
  std::vector<CoverExchange> exchanges;
  while (!supplies.empty() && value > kNegligibleValue) {
    CoverSupply& last = supplies.back();
    const double part = std::min(value, last.value);
    exchanges.push_back({task, last.source, part});
    value -= part;
    last.value -= part;
    if (last.value <= kNegligibleValue) supplies.pop_back();
  }
  return exchanges;
}

}  // namespace

std::vector<double> total_cover(const std::vector<FractionalPack>& packs, int tasks) {
  std::vector<double> total(tasks, 0.0);
  for (const FractionalPack& fraction : packs)
    for (const int i : fraction.pack.tasks) total[i] += fraction.value;
  return total;
}

std::vector<CoverExchange> compose_exchanges(const std::vector<CoverExchange>& exchanges,
                                             const std::vector<double>& cover) {
  std::vector<std::vector<CoverSupply>> supplies(cover.size());
  std::vector<char> is_served(cover.size(), 0);
  std::vector<CoverExchange> result;
  // Called when all exchanges with target `task` are composed: the task keeps what its own cover is
  // short of 1, or adds its surplus to the supplies.
  const auto serve = [&](int task) {
    if (is_served[task]) return;
    is_served[task] = 1;
    const double surplus = cover[task] - 1;
    if (surplus > kNegligibleValue) supplies[task].push_back({task, surplus});
    const std::vector<CoverExchange> own_exchanges = take_supply(supplies[task], -surplus, task);
    result.insert(result.end(), own_exchanges.begin(), own_exchanges.end());
  };
  for (const CoverExchange& exchange : exchanges) {
    serve(exchange.source_task);
    for (const CoverExchange& part :
         take_supply(supplies[exchange.source_task], exchange.value, exchange.target_task))
      supplies[exchange.target_task].push_back({part.source_task, part.value});
  }
  for (std::size_t i = 0; i < cover.size(); ++i) serve(static_cast<int>(i));
  return result;
}

std::vector<FractionalPack> apply_exchanges(std::vector<FractionalPack> packs,
                                            const std::vector<CoverExchange>& exchanges) {
  for (const CoverExchange& exchange : exchanges) {
    double remaining_value = exchange.value;
    for (std::size_t c = 0, count = packs.size(); c < count && remaining_value > kNegligibleValue;
         ++c)
      if (has_task(packs[c].pack, exchange.source_task) &&
          !has_task(packs[c].pack, exchange.target_task))
        remaining_value -= replace_part(
            packs, c, remaining_value,
            insert_task(remove_task(packs[c].pack, exchange.source_task), exchange.target_task));
  }
  return packs;
}

std::vector<FractionalPack> cover_once(std::vector<FractionalPack> packs, int tasks) {
  for (int i = 0; i < tasks; ++i) {
    std::vector<std::size_t> holders;
    double excess = -1;
    for (std::size_t c = 0; c < packs.size(); ++c)
      if (has_task(packs[c].pack, i)) {
        holders.push_back(c);
        excess += packs[c].value;
      }
    std::stable_sort(holders.begin(), holders.end(), [&](std::size_t a, std::size_t b) {
      return packs[a].pack.length > packs[b].pack.length;
    });
    for (const std::size_t c : holders) {
      if (excess <= kNegligibleValue) break;
      excess -= replace_part(packs, c, excess, remove_task(packs[c].pack, i));
    }
  }
  return packs;
}

}  // namespace cosched::packs::columns
