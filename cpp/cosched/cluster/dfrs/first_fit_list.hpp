// Finds the first item of a list that fits into what is left of a node.
#pragma once

#include <vector>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::dfrs {

/// Items with two requirements, by decreasing first requirement (the *key*).  The first item whose
/// requirements both fit is found in O(log n): by bisection over the keys, then in a tree whose
/// nodes know the smallest second requirement below them.
class FirstFitList {
 public:
  void clear();
  /// Requires a key that is not greater than that of the item before.
  void push(int item, double key, double second_requirement) {
    COSCHED_ASSERT(keys_.empty() || key <= keys_.back());
    items_.push_back(item);
    keys_.push_back(key);
    second_requirements_.push_back(second_requirement);
  }
  int size() const { return static_cast<int>(items_.size()); }
  int item(int position) const { return items_[position]; }

  /// After the last push, before the first search.  O(n).
  void build();
  /// A new node: the search begins at the top of the list again.
  void rewind() { search_begin_ = 0; }
  /// Position of the first item with key_load + key <= limit and second_load + second requirement
  /// <= limit, or -1.  Requires loads that do not decrease between two rewinds: what did not fit
  /// will not fit.
  int find(double key_load, double second_load, double limit);
  /// The item is found no more.
  void remove(int position);

 private:
  // The first leaf >= `leaf` whose item fits; leaves_ if there is none.
  int find_leaf(int leaf, double second_load, double limit) const;
  // Computes the minimum of a tree node from its children.
  void update_minimum(int tree_node);

  std::vector<int> items_;
  std::vector<double> keys_;
  std::vector<double> second_requirements_;
  // A complete binary tree: node 1 is the root, the children of k are 2 k and 2 k + 1, the leaves
  // begin at leaves_.  The smallest second requirement below each node.
  std::vector<double> minimum_;
  int leaves_ = 1;
  int search_begin_ = 0;  // no item before this position fits on the current node
};

}  // namespace cosched::cluster::dfrs
