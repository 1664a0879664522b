// The map of a backfill cycle: which nodes no pending job has reserved, from when to when (RULES.md
// 4.1, 4.3, 4.7).
#pragma once

#include "cosched/core/loan.hpp"
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
    steps_.assign(1, {});
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
    Loan<NodeBits> nodes;  // reserved in no record that it would meet; until the next call
    Second later;          // when there is more to have, or kNever
    Second holds_until;    // the same for all times from this one on, before that one
  };
  /// Among `allowed` nodes, for `limit` seconds from `from`; of a job that wants so many, too few
  /// where there are fewer.  `beyond`: the record behind the job's end says when there is more to
  /// have, too (RULES.md 12.4).  O(records).
  ///
  /// As long as no record has a node that the one before lacks, each has all that is left: so only
  /// where one gains some is there more, and behind that only those that lose some are intersected.
  Window window(const NodeBits& allowed, int wanted, Second from, Second limit,
                bool beyond = false) {
    return unrolled(size_, [&](const auto size) {
      lender_.begin_call();
      Window found{lender_.lend(window_), kNever, kNever};
      window_ = allowed;
      const int last = records() - 1, first = ends_behind(from);
      if (first > last) return found;
      const int behind = begins_at(from + limit + 1);  // the first that it does not meet
      found.holds_until = begins_[first + 1];
      const Word* const all = allowed.words().data();
      Word* const left = window_.words().data();
      int more = first;
      while (more <= std::min(behind, last) && !gains(more, all, size)) ++more;
      if (more <= last && more <= behind)
        found.later = begins_[more + 1];
      else if (beyond && behind + 2 <= last)
        found.later = begins_[behind + 2];
      int j = std::min(more, behind - 1);
      if (j >= first) cut(left, own(j), size);
      bool enough = NodeBits::at_least(left, size, wanted);
      while (enough && ++j < behind)
        if (steps_[j - 1].loses && cut(left, own(j), size))
          enough = NodeBits::at_least(left, size, wanted);
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
      const int first = ends_behind(begin);
      for (int j = first; j < records() && begins_[j] < end; ++j)
        if ((j == first || steps_[j - 1].loses) && lacks(own(j), wanted, size)) return false;
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
    const Word* const taken = nodes.words().data();
    const int after = unrolled(size_, [&](const auto size) {
      bool ends = false;
      while (!ends && ++j < records()) {
        if (end < begins_[j + 1]) split(j, end);
        ends = begins_[j + 1] == end;
        Word* const left = own(j);
        for (std::size_t w = 0; w < size; ++w) left[w] &= ~taken[w];
      }
      const int behind = ends && j + 1 < records() ? j + 1 : records() - 1;
      for (int i = first - 1; i < behind; ++i) {  // between two that lost the same nothing is new
        const bool edge = i == first - 1 || i == behind - 1;
        steps_[i] = {(edge || steps_[i].gains) && lacks(own(i), own(i + 1), size),
                     (edge || steps_[i].loses) && lacks(own(i + 1), own(i), size)};
      }
      return behind;
    });
    for (int i = before; i < after; ++i)
      if (!steps_[i].gains && !steps_[i].loses) {
        erase(begins_, i + 1, 1);
        erase(own_, i + 1, size_);
        erase(steps_, i, 1);
        break;
      }
  }

 private:
  using Word = std::uint64_t;

  // The next record has some of `all` that this one lacks.
  template <class Size>
  bool gains(int record, const Word* all, Size size) const {
    if (!steps_[record].gains) return false;
    const Word *const now = own(record), *const then = own(record + 1);
    Word gained = 0;
    for (std::size_t w = 0; w < size; ++w) gained |= all[w] & then[w] & ~now[w];
    return gained != 0;
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
    own_.insert(own_.begin() + static_cast<std::ptrdiff_t>(size_) * record, size_, 0);
    std::copy_n(own(record + 1), size_, own(record));
    steps_.insert(steps_.begin() + record, Step());
    ++made_;
  }

  template <class Values>
  static void erase(Values& values, int record, std::size_t size) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(size) * record;
    values.erase(first, first + static_cast<std::ptrdiff_t>(size));
  }

  Word* own(int record) { return own_.data() + static_cast<std::size_t>(record) * size_; }
  const Word* own(int record) const {
    return own_.data() + static_cast<std::size_t>(record) * size_;
  }

  // What the next record has that this one lacks, and the other way round; the last has neither.
  struct Step {
    bool gains = false, loses = false;
  };

  std::vector<Second> begins_;  // of each record, and the end of the last
  std::vector<Word> own_;       // nodes of each record, `size_` words
  std::vector<Step> steps_;     // of each record
  std::size_t size_ = 0;
  int made_ = 0;
  std::int64_t changes_ = 0;
  NodeBits window_;  // scratch, kept so that nothing is allocated
  Lender lender_;    // of window_
};

}  // namespace cosched::slurm
