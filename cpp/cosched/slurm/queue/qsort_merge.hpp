// The sort of a list in Slurm, for an order that is none (RULES.md 15.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cosched::slurm {

/// Sorts as list_sort() of Slurm does, by glibc's qsort(): merge sort, the first half of n / 2
/// elements, the left element first unless the right one comes before it.  Where `comes_before` is
/// a strict weak order the result is that of std::stable_sort; where it is not, std::stable_sort is
/// undefined, and this is what Slurm gets.  O(n log n).
template <class Value, class ComesBefore>
void sort_like_qsort(std::vector<Value>& values, const ComesBefore& comes_before) {
  std::vector<Value> merged(values.size());
  // A recursion from the top, as in glibc: a bottom-up merge would split elsewhere.
  const auto sort_range = [&](const auto& self, std::size_t begin, std::size_t end) -> void {
    if (end - begin < 2) return;
    const std::size_t middle = begin + (end - begin) / 2;
    self(self, begin, middle);
    self(self, middle, end);
    std::size_t left_next = begin;
    std::size_t right_next = middle;
    for (std::size_t k = begin; k < end; ++k) {
      const bool takes_right =
          left_next == middle ||
          (right_next < end && !comes_before(values[left_next], values[right_next]) &&
           comes_before(values[right_next], values[left_next]));
      std::size_t& source = takes_right ? right_next : left_next;
      merged[k] = values[source];
      ++source;
    }
    std::copy(merged.begin() + static_cast<std::ptrdiff_t>(begin),
              merged.begin() + static_cast<std::ptrdiff_t>(end),
              values.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  sort_range(sort_range, 0, values.size());
}

}  // namespace cosched::slurm
