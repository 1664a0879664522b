#include "cosched/slurm/plan/plan_map.hpp"

#include <algorithm>

namespace cosched::slurm {

void PlanMap::reset(Second begin, Second end, const NodeBits& nodes) {
  if (records_.empty()) records_.emplace_back();
  records_[0] = {begin, end, nodes, 0};
  made_ = 1;
}

PlanMap::Window PlanMap::window(const NodeBits& allowed, int wanted, Second from, Second limit,
                                int first, bool beyond) {
  window_ = allowed;
  Window found{&window_, kNever, first, kNever};
  for (int j = first;;) {
    const Record& record = (*this)[j];
    if (record.end <= from) {
      found.record = j;
    } else {
      found.holds_until = std::min(found.holds_until, record.end);
      if (record.next && found.later == kNever &&
          !NodeBits::common_within(allowed, (*this)[record.next].nodes, window_, record.nodes))
        found.later = record.end;
      if (record.begin > from + limit) {
        found.holds_until = std::min(found.holds_until, record.begin - limit);
        if (beyond && found.later == kNever && record.next && (*this)[record.next].next)
          found.later = (*this)[record.next].end;
        break;
      }
      window_ &= record.nodes;
      if (found.later != kNever && !window_.at_least(wanted)) break;  // whatever comes
    }
    if ((j = record.next) == 0) break;
  }
  return found;
}

bool PlanMap::free(const NodeBits& nodes, Second begin, Second end) const {
  for (int j = 0;;) {
    const Record& record = (*this)[j];
    if (record.begin >= end) return true;
    if (record.end > begin && !nodes.within(record.nodes)) return false;
    if ((j = record.next) == 0) return true;
  }
}

// The record's second part becomes a record of its own, behind it.
int PlanMap::split(int record, Second at) {
  const auto made = static_cast<std::size_t>(made_);
  if (records_.size() == made) records_.emplace_back();
  Record& first = records_[static_cast<std::size_t>(record)];
  Record& second = records_[made];
  second.begin = at;
  second.end = first.end;
  second.nodes = first.nodes;
  second.next = first.next;
  first.end = at;
  first.next = made_;
  return made_++;
}

void PlanMap::reserve(const NodeBits& nodes, Second begin, Second end, Second resolution) {
  begin = std::max(begin, records_[0].begin);
  end = std::max(end, begin + resolution);
  int before = 0, after = -1, j = 0;
  for (;; j = records_[static_cast<std::size_t>(j)].next) {
    const Record& record = (*this)[j];
    if (record.end > begin) {
      split(j, begin);
      break;
    }
    if (record.end == begin) break;
    before = j;
    if (record.next == 0) return;  // begins behind the map
  }
  while ((j = (*this)[j].next) != 0) {
    if (end < (*this)[j].end) split(j, end);
    Record& record = records_[static_cast<std::size_t>(j)];
    record.nodes -= nodes;
    if (record.end == end) {
      if (record.next) after = record.next;
      break;
    }
  }
  for (int i = before; i != after;) {
    j = (*this)[i].next;
    if (j == 0) break;
    Record& record = records_[static_cast<std::size_t>(i)];
    if (record.nodes == (*this)[j].nodes) {
      record.end = (*this)[j].end;
      record.next = (*this)[j].next;
      break;
    }
    i = j;
  }
}

}  // namespace cosched::slurm
