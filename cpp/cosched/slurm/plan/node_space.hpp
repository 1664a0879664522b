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
  void reset(Second begin, Second end, const NodeBits& nodes);

  int record_count() const { return static_cast<int>(begins_.size()) - 1; }
  /// A copy of a record, for tests and traces.
  NodeSpaceRecord operator[](int record) const;

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
                     bool looks_past_end = false);

  /// True when all of `nodes` are unreserved in each record that meets [begin, end).
  bool is_free(const NodeBits& nodes, Second begin, Second end) const;

  /// Removes `nodes` from the records in [begin, end), which is cut to the begin of the node space
  /// and at least `resolution` long.  Then at most one pair of equal neighbours is merged.
  void reserve(const NodeBits& nodes, Second begin, Second end, Second resolution);

 private:
  using Word = std::uint64_t;

  int remove_from_records(const NodeBits& nodes, int first, Second end);
  void merge_one_pair(int first, int last);
  void split(int record, Second time);

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
    if (begins_[1] > time) return 0;  // mostly, as jobs are tried from now on
    return static_cast<int>(std::upper_bound(begins_.begin() + 1, begins_.end(), time) -
                            begins_.begin()) -
           1;
  }
  int first_beginning_at_or_after(Second time) const {
    return static_cast<int>(std::lower_bound(begins_.begin(), begins_.end() - 1, time) -
                            begins_.begin());
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

// Inline: measured hot.  Each try of a job calls these two.

inline NodeSpace::Window NodeSpace::find_window(const NodeBits& allowed, int wanted_count,
                                                Second from, Second limit, bool looks_past_end) {
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

inline bool NodeSpace::is_free(const NodeBits& nodes, Second begin, Second end) const {
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

}  // namespace cosched::slurm
