#include "cosched/cluster/dfrs/first_fit_list.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

void FirstFitList::clear() {
  items_.clear();
  keys_.clear();
  second_requirements_.clear();
}

void FirstFitList::build() {
  leaves_ = 1;
  while (leaves_ < size()) leaves_ *= 2;
  minimum_.assign(2 * static_cast<std::size_t>(leaves_), kInfinity);
  std::copy(second_requirements_.begin(), second_requirements_.end(), minimum_.begin() + leaves_);
  for (int k = leaves_ - 1; k >= 1; --k) update_minimum(k);
  search_begin_ = 0;
}

int FirstFitList::find(double key_load, double second_load, double limit) {
  if (search_begin_ >= size()) return -1;
  if (key_load + keys_[search_begin_] > limit) {
    const auto fitting = std::partition_point(keys_.begin() + search_begin_, keys_.end(),
                                              [&](double key) { return key_load + key > limit; });
    search_begin_ = static_cast<int>(fitting - keys_.begin());
  }
  if (search_begin_ >= size()) return -1;
  if (!(second_load + minimum_[leaves_ + search_begin_] <= limit))
    search_begin_ = find_leaf(search_begin_, second_load, limit);
  return search_begin_ < size() ? search_begin_ : -1;
}

int FirstFitList::find_leaf(int leaf, double second_load, double limit) const {
  int k = leaves_ + leaf;
  while (!(second_load + minimum_[k] <= limit)) {
    while (k & 1) k /= 2;  // of a right child, the parent has been searched, too
    if (k == 0) return leaves_;
    ++k;  // the subtree of the right sibling is next
  }
  while (k < leaves_) {
    k *= 2;
    if (!(second_load + minimum_[k] <= limit)) ++k;
  }
  return k - leaves_;
}

void FirstFitList::remove(int position) {
  int k = leaves_ + position;
  minimum_[k] = kInfinity;
  for (k /= 2; k >= 1; k /= 2) update_minimum(k);
}

void FirstFitList::update_minimum(int tree_node) {
  const int left_child = 2 * tree_node;
  minimum_[tree_node] = std::min(minimum_[left_child], minimum_[left_child + 1]);
}

}  // namespace cosched::cluster::dfrs
