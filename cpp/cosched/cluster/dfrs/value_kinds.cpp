#include "cosched/cluster/dfrs/value_kinds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::dfrs {
namespace {

// As long as there are no more distinct values than this, items are counted instead of compared:
// each is compared with all distinct values.
constexpr std::size_t kMaxCountedKinds = 16;

// Pairs (-value, item), increasing.
std::vector<std::pair<double, int>> sort_negated(const std::vector<double>& values) {
  std::vector<std::pair<double, int>> pairs;
  pairs.reserve(values.size());
  for (int i = 0; i < static_cast<int>(values.size()); ++i) pairs.emplace_back(-values[i], i);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// Nothing where there are too many distinct values.
std::optional<ValueKinds> count_kinds(const std::vector<double>& values) {
  ValueKinds kinds;
  std::vector<double>& distinct_values = kinds.values;  // at first in order of appearance
  distinct_values.reserve(kMaxCountedKinds);
  kinds.kind_of.reserve(values.size());
  for (const double value : values) {
    std::size_t k = 0;
    while (k < distinct_values.size() && distinct_values[k] != value) ++k;
    if (k == kMaxCountedKinds) return std::nullopt;
    if (k == distinct_values.size()) distinct_values.push_back(value);
    kinds.kind_of.push_back(static_cast<int>(k));
  }
  const std::vector<std::pair<double, int>> pairs = sort_negated(distinct_values);
  std::vector<int> sorted_position(distinct_values.size());  // by order of appearance
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    sorted_position[pairs[k].second] = static_cast<int>(k);
    distinct_values[k] = -pairs[k].first;
  }
  for (int& kind : kinds.kind_of) kind = sorted_position[kind];
  return kinds;
}

}  // namespace

ValueKinds find_value_kinds(const std::vector<double>& values) {
  std::optional<ValueKinds> counted_kinds = count_kinds(values);
  if (counted_kinds) return std::move(*counted_kinds);
  ValueKinds kinds;
  kinds.kind_of.resize(values.size());
  for (const auto& [negated_value, item] : sort_negated(values)) {
    if (kinds.values.empty() || kinds.values.back() != -negated_value)
      kinds.values.push_back(-negated_value);
    kinds.kind_of[item] = static_cast<int>(kinds.values.size()) - 1;
  }
  return kinds;
}

std::vector<int> sort_by_kind(const std::vector<int>& kind_of, std::size_t kind_count) {
  COSCHED_ASSERT(std::all_of(kind_of.begin(), kind_of.end(), [&](int kind) {
    return kind >= 0 && static_cast<std::size_t>(kind) < kind_count;
  }));
  std::vector<int> next_place(kind_count + 1, 0);  // by kind: of its next item
  for (const int kind : kind_of) ++next_place[kind + 1];
  for (std::size_t k = 1; k < kind_count; ++k) next_place[k] += next_place[k - 1];
  std::vector<int> items(kind_of.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    int& place = next_place[kind_of[i]];
    items[place] = static_cast<int>(i);
    ++place;
  }
  return items;
}

std::vector<int> sort_by_decreasing_value(const std::vector<double>& values) {
  const std::optional<ValueKinds> kinds = count_kinds(values);
  if (kinds) return sort_by_kind(kinds->kind_of, kinds->values.size());
  std::vector<int> items;
  items.reserve(values.size());
  for (const auto& [negated_value, item] : sort_negated(values)) items.push_back(item);
  return items;
}

}  // namespace cosched::cluster::dfrs
