// The map of a backfill cycle: which nodes no pending job has reserved, from when to when (RULES.md
// 4.1, 4.3, 4.7).
#pragma once

#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

// visit(count), where loops over so many words are unrolled for machines of usual sizes.
template <class Visit>
auto unrolled(std::size_t count, Visit visit) {
  switch (count) {
    case 1:
      return visit(std::integral_constant<std::size_t, 1>());
    case 4:
      return visit(std::integral_constant<std::size_t, 4>());
    case 16:
      return visit(std::integral_constant<std::size_t, 16>());
    default:
      return visit(count);
  }
}

/// Records that follow each other in time.
class PlanMap {
 public:
  /// One record with all of `nodes`.
  void reset(Second begin, Second end, const NodeBits& nodes) {
    begins_.assign({begin, end});
    own_ = nodes.words();
    size_ = own_.size();
    gains_.assign(size_, 0);
    made_ = 1;
    ++changes_;
  }

  struct Record {
    Second begin, end;
    NodeBits nodes;
  };
  int records() const { return static_cast<int>(begins_.size()) - 1; }
  /// A copy, for those who look at it from outside.
  Record operator[](int record) const {
    NodeBits nodes(static_cast<int>(64 * size_));
    std::copy_n(own(record), size_, nodes.words().begin());
    return {begins_[record], begins_[record + 1], nodes};
  }

  /// Records ever made in this cycle, those merged away included: what bf_node_space_size limits.
  int made() const { return made_; }

  Second begin() const { return begins_.front(); }
  /// Grows whenever it changes, from cycle to cycle.
  std::int64_t changes() const { return changes_; }

  /// What a job that begins at a time may have.
  struct Window {
    const NodeBits* nodes;  // reserved in no record that it would meet; valid until the next call
    Second later;           // when there is more to have, or kNever
    Second holds_until;     // the same for all times from this one on, before that one
  };
  /// Among `allowed` nodes, for `limit` seconds from `from`; of a job that wants so many, too few
  /// where there are fewer.  `beyond`: the record behind the job's end says when there is more to
  /// have, too (RULES.md 12.4).  O(records).
  ///
  /// As long as no record has a node that the one before lacks, each has all that is left: so what
  /// a record gains says when there is more, and only behind that are records intersected.
  Window window(const NodeBits& allowed, int wanted, Second from, Second limit,
                bool beyond = false) {
    return unrolled(size_, [&](const auto size) {
      Window found{&window_, kNever, kNever};
      window_ = allowed;
      const int last = records() - 1, first = ends_behind(from);
      if (first > last) return found;
      const int behind = begins_at(from + limit + 1);  // the first that it does not meet
      found.holds_until = begins_[first + 1];
      const Word* const all = allowed.words().data();
      Word* const left = window_.words().data();
      int more = first;
      while (more <= std::min(behind, last) && !meet(all, gains(more), size)) ++more;
      if (more <= last && more <= behind)
        found.later = begins_[more + 1];
      else if (beyond && behind + 2 <= last)
        found.later = begins_[behind + 2];
      int j = std::min(more, behind - 1);
      if (j >= first) cut(left, own(j), size);
      bool enough = at_least(left, wanted, size);
      while (enough && ++j < behind)
        if (cut(left, own(j), size)) enough = at_least(left, wanted, size);
      const bool stopped = !enough && more < behind;  // whatever comes
      if (!stopped && behind <= last)
        found.holds_until = std::min(found.holds_until, begins_[behind] - limit);
      return found;
    });
  }

  /// No record that begins before `end` and ends after `begin` lacks one of `nodes`.
  bool free(const NodeBits& nodes, Second begin, Second end) const {
    return unrolled(size_, [&](const auto size) {
      const Word* const wanted = nodes.words().data();
      for (int j = ends_behind(begin); j < records() && begins_[j] < end; ++j)
        if (lacks(own(j), wanted, size)) return false;
      return true;
    });
  }

  /// Takes `nodes` away in [begin, end), which is cut to the map's begin and at least `resolution`
  /// long; then merges one pair of equal neighbours at most.
  void reserve(const NodeBits& nodes, Second begin, Second end, Second resolution) {
    ++changes_;
    begin = std::max(begin, begins_.front());
    end = std::max(end, begin + resolution);
    int j = static_cast<int>(std::lower_bound(begins_.begin() + 1, begins_.end(), begin) -
                             begins_.begin()) -
            1;
    if (j == records()) return;  // begins behind the map
    const int before = std::max(j - 1, 0);
    if (begins_[j + 1] > begin) split(j, begin);
    const int first = j + 1;
    bool ends = false;
    while (!ends && ++j < records()) {
      if (end < begins_[j + 1]) split(j, end);
      ends = begins_[j + 1] == end;
      take(own(j), nodes);
      take(gains(j - 1), nodes);
    }
    if (!ends) --j;
    if (j >= first && j + 1 < records())
      for (std::size_t w = 0; w < size_; ++w) gains(j)[w] = own(j + 1)[w] & ~own(j)[w];
    const int after = ends && j + 1 < records() ? j + 1 : records() - 1;
    for (int i = before; i < after; ++i)
      if (std::equal(own(i), own(i) + size_, own(i + 1))) {
        erase(begins_, i + 1, 1);
        erase(own_, i + 1, size_);
        erase(gains_, i, size_);
        break;
      }
  }

 private:
  using Word = std::uint64_t;

  template <class Size>
  static bool meet(const Word* a, const Word* b, Size size) {
    Word common = 0;
    for (std::size_t w = 0; w < size; ++w) common |= a[w] & b[w];
    return common != 0;
  }
  template <class Size>
  static bool lacks(const Word* own, const Word* wanted, Size size) {
    Word missing = 0;
    for (std::size_t w = 0; w < size; ++w) missing |= wanted[w] & ~own[w];
    return missing != 0;
  }
  // Whether anything is lost.
  template <class Size>
  static bool cut(Word* left, const Word* own, Size size) {
    const bool lost = lacks(own, left, size);
    for (std::size_t w = 0; w < size; ++w) left[w] &= own[w];
    return lost;
  }
  template <class Size>
  static bool at_least(const Word* left, int wanted, Size size) {
    Word any = 0;
    for (std::size_t w = 0; w < size; ++w) any |= left[w];
    if (wanted <= 1) return wanted < 1 || any != 0;
    int count = 0;
    for (std::size_t w = 0; w < size; ++w) count += NodeBits::popcount(left[w]);
    return count >= wanted;
  }
  void take(Word* from, const NodeBits& nodes) const {
    for (std::size_t w = 0; w < size_; ++w) from[w] &= ~nodes.words()[w];
  }

  // The first record that ends behind that time; that begins then or later.
  int ends_behind(Second time) const {
    return static_cast<int>(std::upper_bound(begins_.begin() + 1, begins_.end(), time) -
                            begins_.begin()) -
           1;
  }
  int begins_at(Second time) const {
    return static_cast<int>(std::lower_bound(begins_.begin(), begins_.end() - 1, time) -
                            begins_.begin());
  }

  // The record's second part becomes a record of its own, behind it.
  void split(int record, Second at) {
    begins_.insert(begins_.begin() + record + 1, at);
    const auto words = [&](std::vector<Word>& all) {
      return all.begin() + static_cast<std::ptrdiff_t>(size_) * record;
    };
    own_.insert(words(own_), size_, 0);
    std::copy_n(own(record + 1), size_, own(record));
    gains_.insert(words(gains_), size_, 0);
    ++made_;
  }

  template <class Values>
  static void erase(Values& values, int record, std::size_t size) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(size) * record;
    values.erase(first, first + static_cast<std::ptrdiff_t>(size));
  }

  // Its nodes, and those of the next record that it lacks.
  Word* own(int record) { return own_.data() + static_cast<std::size_t>(record) * size_; }
  Word* gains(int record) { return gains_.data() + static_cast<std::size_t>(record) * size_; }
  const Word* own(int record) const {
    return own_.data() + static_cast<std::size_t>(record) * size_;
  }

  std::vector<Second> begins_;     // of each record, and the end of the last
  std::vector<Word> own_, gains_;  // of each record, `size_` of them
  std::size_t size_ = 0;
  int made_ = 0;
  std::int64_t changes_ = 0;
  NodeBits window_;  // scratch, kept so that nothing is allocated
};

}  // namespace cosched::slurm
