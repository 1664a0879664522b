#include "cosched/slurm/plan/node_space.hpp"

namespace cosched::slurm {
namespace {

// Erases the values of a record, of which each record has `size`.
template <class Values>
void erase_record(Values& values, int record, std::size_t size) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(size) * record;
  values.erase(first, first + static_cast<std::ptrdiff_t>(size));
}

}  // namespace

void NodeSpace::reset(Second begin, Second end, const NodeBits& nodes) {
  begins_.assign({begin, end});
  words_ = nodes.words();
  words_per_record_ = words_.size();
  deltas_.assign(1, {});
  records_created_ = 1;
  ++change_count_;
}

NodeSpaceRecord NodeSpace::operator[](int record) const {
  NodeBits nodes(static_cast<int>(64 * words_per_record_));
  std::copy_n(record_words(record), words_per_record_, nodes.words().begin());
  return {begins_[record], begins_[record + 1], nodes};
}

void NodeSpace::reserve(const NodeBits& nodes, Second begin, Second end, Second resolution) {
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

// Removes `nodes` from record `first` and those after it up to `end`; returns the record after
// the last change.
int NodeSpace::remove_from_records(const NodeBits& nodes, int first, Second end) {
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
void NodeSpace::merge_one_pair(int first, int last) {
  for (int k = first; k < last; ++k)
    if (!deltas_[k].adds_nodes && !deltas_[k].removes_nodes) {
      erase_record(begins_, k + 1, 1);
      erase_record(words_, k + 1, words_per_record_);
      erase_record(deltas_, k, 1);
      return;
    }
}

// Splits a record at `time` into two with the same nodes.
void NodeSpace::split(int record, Second time) {
  begins_.insert(begins_.begin() + record + 1, time);
  words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(words_per_record_) * record,
                words_per_record_, 0);
  std::copy_n(record_words(record + 1), words_per_record_, record_words(record));
  deltas_.insert(deltas_.begin() + record, Delta());
  ++records_created_;
}

}  // namespace cosched::slurm
