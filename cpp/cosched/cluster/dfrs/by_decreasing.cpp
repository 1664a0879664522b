#include "cosched/cluster/dfrs/by_decreasing.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cosched::cluster::dfrs {
namespace {

constexpr std::size_t kFew = 16;  // distinct values that counting looks through

std::vector<std::pair<double, int>> sorted_pairs(const std::vector<double>& values) {
  std::vector<std::pair<double, int>> order;
  order.reserve(values.size());
  for (int i = 0; i < static_cast<int>(values.size()); ++i) order.emplace_back(-values[i], i);
  std::sort(order.begin(), order.end());
  return order;
}

// Needs of jobs take few distinct values as a rule: then items are counted, not compared.
// Whether there are few; else nothing of use is in `kinds`.
bool count_kinds(const std::vector<double>& values, Kinds& kinds) {
  std::vector<double>& found = kinds.values;  // in order of appearance, first
  found.reserve(kFew);
  kinds.of.reserve(values.size());
  for (const double value : values) {
    std::size_t k = 0;
    while (k < found.size() && found[k] != value) ++k;
    if (k == kFew) return false;
    if (k == found.size()) found.push_back(value);
    kinds.of.push_back(static_cast<int>(k));
  }
  const std::vector<std::pair<double, int>> order = sorted_pairs(found);
  std::vector<int> number(found.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    number[order[k].second] = static_cast<int>(k);
    found[k] = -order[k].first;
  }
  for (int& kind : kinds.of) kind = number[kind];
  return true;
}

}  // namespace

Kinds kinds_of(const std::vector<double>& values) {
  Kinds kinds;
  if (count_kinds(values, kinds)) return kinds;
  kinds.values.clear();
  kinds.of.resize(values.size());
  for (const auto& [negative, item] : sorted_pairs(values)) {
    if (kinds.values.empty() || kinds.values.back() != -negative) kinds.values.push_back(-negative);
    kinds.of[item] = static_cast<int>(kinds.values.size()) - 1;
  }
  return kinds;
}

std::vector<int> by_kind(const std::vector<int>& kind_of, std::size_t count) {
  std::vector<int> next(count + 1, 0);  // place of the next item of a kind
  for (const int kind : kind_of) ++next[kind + 1];
  for (std::size_t k = 1; k < count; ++k) next[k] += next[k - 1];
  std::vector<int> items(kind_of.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[next[kind_of[i]]++] = static_cast<int>(i);
  return items;
}

std::vector<int> by_decreasing(const std::vector<double>& values) {
  Kinds kinds;
  if (count_kinds(values, kinds)) return by_kind(kinds.of, kinds.values.size());
  std::vector<int> items;
  items.reserve(values.size());
  for (const auto& [negative, item] : sorted_pairs(values)) items.push_back(item);
  return items;
}

}  // namespace cosched::cluster::dfrs
