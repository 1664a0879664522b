#include "cosched/cluster/batch/node_book.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {

NodeBook::NodeBook(const Site& site, const std::vector<BatchJob>& jobs)
    : plan(site),
      site_(site),
      jobs_(jobs),
      free_(site.all()),
      seen_(jobs.size(), 0),
      recent_(site.nodes().size(), 0) {
  std::map<std::pair<int, double>, int> kinds;
  for (const BatchJob& job : jobs) {
    const std::pair kind(site.need(job.job).shape, job.expected);
    kind_.push_back(kinds.emplace(kind, static_cast<int>(kinds.size())).first->second);
  }
  prospects_.assign(kinds.size(), {-kInfinity, 0});
}

NodeBook::Plan::Slot NodeBook::earliest(int rank, double now) {
  seen_[rank] = gifts_;
  return sooner(rank, now, kInfinity);
}

NodeBook::Plan::Slot NodeBook::sooner(int rank, double now, double start) {
  const Placement& held = site_.held(jobs_[rank].job);
  if (!held.empty()) return {now, held};
  return plan.earliest(now, need(rank), jobs_[rank].expected, start);
}

bool NodeBook::stuck(int rank, double now, const Plan::Slot& own) {
  const std::int64_t seen = std::exchange(seen_[rank], gifts_);
  if (seen == gifts_ || own.start <= now) return true;
  const int parts = need(rank).parts;
  if (parts == 0 || !site_.held(jobs_[rank].job).empty()) return false;
  return parts == 1 ? stuck_part(rank, now, own) : stuck_parts(rank, now, own, seen);
}

bool NodeBook::stuck_part(int rank, double now, const Plan::Slot& own) {
  Prospect& known = prospects_[kind_[rank]];
  const double length = jobs_[rank].expected;
  if (gifts_ - known.gifts > nodes()) known.start = -kInfinity;
  for (std::int64_t gift = std::max(known.gifts, gifts_ - nodes()); gift < gifts_; ++gift)
    known.start = plan.earliest_on(given_node(gift), now, need(rank), length, known.start);
  known.gifts = gifts_;
  // Others may have taken what was there.
  if (known.start < own.start)
    known.start = plan.earliest(now, need(rank), length, kInfinity).start;
  return known.start >= own.start && !moves_back(rank, now, own);
}

bool NodeBook::stuck_parts(int rank, double now, const Plan::Slot& own, std::int64_t seen) const {
  if (gifts_ - seen > nodes() || moves_back(rank, now, own)) return false;
  for (std::int64_t gift = seen; gift < gifts_; ++gift)
    if (plan.earliest_on(given_node(gift), now, need(rank), jobs_[rank].expected, own.start) <
        own.start)
      return false;
  return true;
}

// Whether one of its nodes has room for it just before its start.
bool NodeBook::moves_back(int rank, double now, const Plan::Slot& own) const {
  return own.start > now &&
         std::any_of(own.share.begin(), own.share.end(), [&](const Piece& piece) {
           return plan.holds_before(piece.node, own.start, need(rank));
         });
}

void NodeBook::given(const Share& share) {
  for (const Piece& piece : share) recent_[gifts_++ % nodes()] = piece.node;
}

bool NodeBook::fits(const Share& share) const {
  return std::all_of(share.begin(), share.end(),
                     [&](const Piece& piece) { return free_[piece.node].holds(piece.held); });
}

void NodeBook::give(const Share& share, int sign) {
  for (const Piece& piece : share) {
    Amounts& free = free_[piece.node];
    sign > 0 ? free += piece.held : free -= piece.held;
  }
}

}  // namespace cosched::cluster::batch
