#include "cosched/slurm/plan/plan_map.hpp"

#include <algorithm>

namespace cosched::slurm {

void PlanMap::reset(Second begin, Second end, const NodeBits& nodes) {
  records_.assign(1, {begin, end, 0});
  words_ = nodes.words();
  size_ = words_.size();
  made_ = 1;
}

PlanMap::Record PlanMap::operator[](int record) const {
  const Span& own = of(record);
  NodeBits nodes(static_cast<int>(64 * size_));
  std::copy_n(words(record), size_, nodes.words().begin());
  return {own.begin, own.end, nodes, own.next};
}

PlanMap::Window PlanMap::window(const NodeBits& allowed, int wanted, Second from, Second limit,
                                int first, bool beyond) {
  window_ = allowed;
  Window found{&window_, kNever, first, kNever};
  const Word* const all = allowed.words().data();
  Word* const left = window_.words().data();
  bool enough = false;  // known to be
  for (int j = first;;) {
    const Span& record = of(j);
    if (record.end <= from) {
      found.record = j;
    } else {
      found.holds_until = std::min(found.holds_until, record.end);
      const Word* const own = words(j);
      if (record.next && found.later == kNever) {
        const Word* const next = words(record.next);
        Word more = 0;
        for (std::size_t w = 0; w < size_; ++w) more |= all[w] & next[w] & ~(left[w] & own[w]);
        if (more) found.later = record.end;
      }
      if (record.begin > from + limit) {
        found.holds_until = std::min(found.holds_until, record.begin - limit);
        if (beyond && found.later == kNever && record.next && of(record.next).next)
          found.later = of(record.next).end;
        break;
      }
      Word lost = 0;
      for (std::size_t w = 0; w < size_; ++w) {
        lost |= left[w] & ~own[w];
        left[w] &= own[w];
      }
      enough = enough && !lost;  // as many as there were
      if (found.later != kNever && !enough && !(enough = window_.at_least(wanted)))
        break;  // whatever comes
    }
    if ((j = record.next) == 0) break;
  }
  return found;
}

bool PlanMap::free(const NodeBits& nodes, Second begin, Second end) const {
  const Word* const wanted = nodes.words().data();
  for (int j = 0;;) {
    const Span& record = of(j);
    if (record.begin >= end) return true;
    if (record.end > begin) {
      const Word* const own = words(j);
      Word missing = 0;
      for (std::size_t w = 0; w < size_; ++w) missing |= wanted[w] & ~own[w];
      if (missing) return false;
    }
    if ((j = record.next) == 0) return true;
  }
}

// The record's second part becomes a record of its own, behind it.
int PlanMap::split(int record, Second at) {
  const Span first = of(record);
  records_.push_back({at, first.end, first.next});
  words_.resize(words_.size() + size_);
  std::copy_n(words(record), size_, words(made_));
  of(record).end = at;
  of(record).next = made_;
  return made_++;
}

void PlanMap::reserve(const NodeBits& nodes, Second begin, Second end, Second resolution) {
  begin = std::max(begin, records_[0].begin);
  end = std::max(end, begin + resolution);
  int before = 0, after = -1, j = 0;
  for (;; j = of(j).next) {
    const Span& record = of(j);
    if (record.end > begin) {
      split(j, begin);
      break;
    }
    if (record.end == begin) break;
    before = j;
    if (record.next == 0) return;  // begins behind the map
  }
  while ((j = of(j).next) != 0) {
    if (end < of(j).end) split(j, end);
    const Span& record = of(j);
    Word* const own = words(j);
    for (std::size_t w = 0; w < size_; ++w) own[w] &= ~nodes.words()[w];
    if (record.end == end) {
      if (record.next) after = record.next;
      break;
    }
  }
  for (int i = before; i != after;) {
    j = of(i).next;
    if (j == 0) break;
    if (std::equal(words(i), words(i) + size_, words(j))) {
      of(i).end = of(j).end;
      of(i).next = of(j).next;
      break;
    }
    i = j;
  }
}

}  // namespace cosched::slurm
