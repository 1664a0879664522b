// The node space of a backfill cycle (`node_space` in backfill.c): which nodes no pending job has
// reserved, from when to when (RULES.md 4.1, 4.3, 4.7).
#pragma once

#include "cosched/core/loan.hpp"
#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/seconds.hpp"
#include "cosched/slurm/trace/records.hpp"

namespace cosched::slurm {

// Calls visit(count) with the number of words of a node set.  For machines of usual sizes the
// number is a compile-time constant, so that the compiler unrolls the loops over words.
template <class Visit>
auto with_fixed_width(std::size_t count, Visit visit) {
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

/// A sequence of records without gaps; each record is a period with the nodes that no pending job
/// has reserved in it.
class NodeSpace {
 public:
  /// Begins a cycle with one record, in which all of `nodes` are unreserved.
  void reset(Second begin, Second end, const NodeBits& nodes) {
    begins_.assign({begin, end});
    words_ = nodes.words();
    words_per_record_ = words_.size();
    deltas_.assign(1, {});
    records_created_ = 1;
    ++change_count_;
  }

  int record_count() const { return static_cast<int>(begins_.size()) - 1; }
  /// A copy of a record, for tests and traces.
  NodeSpaceRecord operator[](int record) const {
    NodeBits nodes(static_cast<int>(64 * words_per_record_));
    std::copy_n(record_words(record), words_per_record_, nodes.words().begin());
    return {begins_[record], begins_[record + 1], nodes};
  }

  /// How many records the cycle has created, also those that were merged since then: what
  /// bf_node_space_size limits.
  int records_created() const { return records_created_; }

  Second begin() const { return begins_.front(); }
  /// Grows with each change, over all cycles.
  std::int64_t change_count() const { return change_count_; }

  /// The nodes of a job that begins at a given time.
  struct Window {
    Loan<NodeBits> nodes;  // unreserved in all records that the job meets; until the next call
    Second later_start;    // the next time at which more nodes are unreserved, or kNever
    Second valid_until;    // the nodes are the same for every begin before this time
  };
  /// The nodes among `allowed` that are unreserved for a job that begins at `from` and runs for
  /// `limit` seconds.  The search stops once fewer than `wanted_count` of them are left.
  /// `looks_past_end`: the record after the job's end counts for `later_start`, too (RULES.md
  /// 12.4).  O(records).
  ///
  /// As long as no record adds nodes to those of the record before it, each record's nodes are a
  /// subset of those before: the last of these records is their intersection.  After it, only
  /// records that remove nodes have to be intersected.
  Window find_window(const NodeBits& allowed, int wanted_count, Second from, Second limit,
                     bool looks_past_end = false) {
    return with_fixed_width(words_per_record_, [&](const auto size) {
      lender_.begin_call();
      Window window{lender_.lend(window_nodes_), kNever, kNever};
      window_nodes_ = allowed;
      const int last = record_count() - 1;
      const int first = first_ending_after(from);
      if (first > last) return window;
      // The first record that the job does not meet.
      const int next = first_beginning_at_or_after(from + limit + 1);
      window.valid_until = begins_[first + 1];
      const Word* const allowed_words = allowed.words().data();
      Word* const window_words = window_nodes_.words().data();
      int adding = first;  // the last record before one that adds allowed nodes
      while (adding <= std::min(next, last) && !next_record_adds(adding, allowed_words, size))
        ++adding;
      if (adding <= last && adding <= next)
        window.later_start = begins_[adding + 1];
      else if (looks_past_end && next + 2 <= last)
        window.later_start = begins_[next + 2];
      int record = std::min(adding, next - 1);
      if (record >= first) intersect_into(window_words, record_words(record), size);
      bool has_enough = NodeBits::has_at_least(window_words, size, wanted_count);
      for (++record; has_enough && record < next; ++record)
        if (deltas_[record - 1].removes_nodes &&
            intersect_into(window_words, record_words(record), size))
          has_enough = NodeBits::has_at_least(window_words, size, wanted_count);
      // Too few nodes before later_start: a later end of the job changes nothing.
      const bool depends_on_end = has_enough || adding >= next;
      if (depends_on_end && next <= last)
        window.valid_until = std::min(window.valid_until, begins_[next] - limit);
      return window;
    });
  }

  /// True when all of `nodes` are unreserved in each record that meets [begin, end).
  bool is_free(const NodeBits& nodes, Second begin, Second end) const {
    return with_fixed_width(words_per_record_, [&](const auto size) {
      const Word* const wanted_words = nodes.words().data();
      const int first = first_ending_after(begin);
      for (int record = first; record < record_count() && begins_[record] < end; ++record)
        if ((record == first || deltas_[record - 1].removes_nodes) &&
            lacks_some(record_words(record), wanted_words, size))
          return false;
      return true;
    });
  }

  /// Removes `nodes` from the records in [begin, end), which is cut to the begin of the node space
  /// and at least `resolution` long.  Then at most one pair of equal neighbours is merged.
  void reserve(const NodeBits& nodes, Second begin, Second end, Second resolution) {
    ++change_count_;
    begin = std::max(begin, begins_.front());
    end = std::max(end, begin + resolution);
    const auto next = std::lower_bound(begins_.begin() + 1, begins_.end(), begin);
    const int containing = static_cast<int>(next - begins_.begin()) - 1;
    if (containing == record_count()) return;  // it begins after the end of the node space
    if (begins_[containing + 1] > begin) split(containing, begin);
    const int first = containing + 1;
    const int after = remove_from_records(nodes, first, end);
    merge_one_pair(std::max(containing - 1, 0), after);
  }

 private:
  using Word = std::uint64_t;

  // Removes `nodes` from record `first` and those after it up to `end`; returns the record after
  // the last change.
  int remove_from_records(const NodeBits& nodes, int first, Second end) {
    return with_fixed_width(words_per_record_, [&](const auto size) {
      const Word* const removed_words = nodes.words().data();
      bool is_end_reached = false;
      int record = first;
      for (; !is_end_reached && record < record_count(); ++record) {
        if (end < begins_[record + 1]) split(record, end);
        is_end_reached = begins_[record + 1] == end;
        Word* const words = record_words(record);
        for (std::size_t w = 0; w < size; ++w) words[w] &= ~removed_words[w];
      }
      const int after = is_end_reached && record < record_count() ? record : record_count() - 1;
      // Between two records that lost the same nodes, no difference appears.
      for (int k = first - 1; k < after; ++k) {
        const bool is_edge = k == first - 1 || k == after - 1;
        const Word* const words = record_words(k);
        const Word* const next_words = record_words(k + 1);
        deltas_[k] = {(is_edge || deltas_[k].adds_nodes) && lacks_some(words, next_words, size),
                      (is_edge || deltas_[k].removes_nodes) && lacks_some(next_words, words, size)};
      }
      return after;
    });
  }

  // Merges the first two equal neighbours among the records [first, last], if there are any.
  void merge_one_pair(int first, int last) {
    for (int k = first; k < last; ++k)
      if (!deltas_[k].adds_nodes && !deltas_[k].removes_nodes) {
        erase(begins_, k + 1, 1);
        erase(words_, k + 1, words_per_record_);
        erase(deltas_, k, 1);
        return;
      }
  }

  // True when the record after this one has some of the allowed nodes that this one lacks.
  template <class Size>
  bool next_record_adds(int record, const Word* allowed_words, Size size) const {
    if (!deltas_[record].adds_nodes) return false;
    const Word* const words = record_words(record);
    const Word* const next_words = record_words(record + 1);
    Word added = 0;
    for (std::size_t w = 0; w < size; ++w) added |= allowed_words[w] & next_words[w] & ~words[w];
    return added != 0;
  }
  // True when some wanted node is not in `words`.
  template <class Size>
  static bool lacks_some(const Word* words, const Word* wanted_words, Size size) {
    Word missing = 0;
    for (std::size_t w = 0; w < size; ++w) missing |= wanted_words[w] & ~words[w];
    return missing != 0;
  }
  // Intersects `target` with `words`; returns whether it has lost a node.
  template <class Size>
  static bool intersect_into(Word* target, const Word* words, Size size) {
    const bool has_lost_nodes = lacks_some(words, target, size);
    for (std::size_t w = 0; w < size; ++w) target[w] &= words[w];
    return has_lost_nodes;
  }

  // The first record that ends after `time`.
  int first_ending_after(Second time) const {
    return static_cast<int>(std::upper_bound(begins_.begin() + 1, begins_.end(), time) -
                            begins_.begin()) -
           1;
  }
  int first_beginning_at_or_after(Second time) const {
    return static_cast<int>(std::lower_bound(begins_.begin(), begins_.end() - 1, time) -
                            begins_.begin());
  }

  // Splits a record at `time` into two with the same nodes.
  void split(int record, Second time) {
    begins_.insert(begins_.begin() + record + 1, time);
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(words_per_record_) * record,
                  words_per_record_, 0);
    std::copy_n(record_words(record + 1), words_per_record_, record_words(record));
    deltas_.insert(deltas_.begin() + record, Delta());
    ++records_created_;
  }

  template <class Values>
  static void erase(Values& values, int record, std::size_t size) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(size) * record;
    values.erase(first, first + static_cast<std::ptrdiff_t>(size));
  }

  Word* record_words(int record) {
    return words_.data() + static_cast<std::size_t>(record) * words_per_record_;
  }
  const Word* record_words(int record) const {
    return words_.data() + static_cast<std::size_t>(record) * words_per_record_;
  }

  // How the next record differs from a record: it has nodes that this one lacks, or lacks nodes
  // that this one has.  Of the last record both are false.
  struct Delta {
    bool adds_nodes = false;
    bool removes_nodes = false;
  };

  std::vector<Second> begins_;  // of each record, and behind them the end of the last one
  std::vector<Word> words_;     // the nodes of each record, words_per_record_ words for each
  std::vector<Delta> deltas_;   // of each record
  std::size_t words_per_record_ = 0;
  int records_created_ = 0;
  std::int64_t change_count_ = 0;
  NodeBits window_nodes_;  // scratch, kept so that nothing is allocated
  Lender lender_;          // of window_nodes_
};

}  // namespace cosched::slurm
