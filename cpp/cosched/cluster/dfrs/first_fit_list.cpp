#include "cosched/cluster/dfrs/first_fit_list.hpp"

#include <algorithm>

namespace cosched::cluster::dfrs {

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
