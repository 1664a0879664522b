#include "cosched/cluster/dfrs/by_decreasing.hpp"

#include <algorithm>
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

void FirstFitList::build() {
  const int n = static_cast<int>(items_.size());
  leaves_ = 1;
  while (leaves_ < n) leaves_ *= 2;
  least_.assign(2 * static_cast<std::size_t>(leaves_), kNone);
  std::copy(other_.begin(), other_.end(), least_.begin() + leaves_);
  for (int k = leaves_ - 1; k >= 1; --k) update(k);
  at_ = 0;
}

int FirstFitList::find(double key_load, double other_load, double limit) {
  const int n = static_cast<int>(items_.size());
  if (at_ >= n) return -1;
  if (key_load + keys_[at_] > limit)
    at_ =
        static_cast<int>(std::partition_point(keys_.begin() + at_, keys_.end(),
                                              [&](double key) { return key_load + key > limit; }) -
                         keys_.begin());
  if (at_ >= n) return -1;
  if (!(other_load + least_[leaves_ + at_] <= limit)) at_ = descend(at_, other_load, limit);
  return at_ < n ? at_ : -1;
}

// First leaf >= from whose value fits; leaves_ if none.
int FirstFitList::descend(int from, double other_load, double limit) const {
  int k = leaves_ + from;
  while (!(other_load + least_[k] <= limit)) {
    while (k & 1) k /= 2;  // a right child's parent is done, too
    if (k == 0) return leaves_;
    ++k;  // the right sibling's subtree is next
  }
  while (k < leaves_) {
    k *= 2;
    if (!(other_load + least_[k] <= limit)) ++k;
  }
  return k - leaves_;
}

void FirstFitList::remove(int position) {
  int k = leaves_ + position;
  least_[k] = kNone;
  for (k /= 2; k >= 1; k /= 2) update(k);
}

void FirstFitList::update(int k) {
  const int left = 2 * k, right = left + 1;
  least_[k] = std::min(least_[left], least_[right]);
}

}  // namespace cosched::cluster::dfrs
