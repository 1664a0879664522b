#include "cosched/cluster/by_decreasing.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cosched::cluster {
namespace {

constexpr std::size_t kFew = 16;  // distinct values that counting looks through

std::vector<int> by_decreasing_sorted(const std::vector<double>& values) {
  std::vector<std::pair<double, int>> order;
  order.reserve(values.size());
  for (int i = 0; i < static_cast<int>(values.size()); ++i) order.emplace_back(-values[i], i);
  std::sort(order.begin(), order.end());
  std::vector<int> items;
  items.reserve(values.size());
  for (const auto& [value, item] : order) items.push_back(item);
  return items;
}

}  // namespace

// Needs of jobs take few distinct values as a rule: then items are counted, not compared.
std::vector<int> by_decreasing(const std::vector<double>& values) {
  struct Kind {
    double value;
    int count, number;
  };
  std::vector<Kind> kinds;
  std::vector<int> kind_of;
  kind_of.reserve(values.size());
  for (const double value : values) {
    std::size_t k = 0;
    while (k < kinds.size() && kinds[k].value != value) ++k;
    if (k == kFew) return by_decreasing_sorted(values);
    if (k == kinds.size()) kinds.push_back({value, 0, static_cast<int>(k)});
    ++kinds[k].count;
    kind_of.push_back(static_cast<int>(k));
  }
  std::sort(kinds.begin(), kinds.end(),
            [](const Kind& a, const Kind& b) { return a.value > b.value; });
  std::vector<int> next(kinds.size());  // place of the next item of a kind
  int begin = 0;
  for (const Kind& kind : kinds) {
    next[kind.number] = begin;
    begin += kind.count;
  }
  std::vector<int> items(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) items[next[kind_of[i]]++] = static_cast<int>(i);
  return items;
}

}  // namespace cosched::cluster
