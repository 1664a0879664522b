#include "cosched/cluster/bound/cut_deficit.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

constexpr double kRootTolerance = 1e-13;

}  // namespace

CutDeficit::CutDeficit(const std::vector<StretchJob>& jobs, double nodes,
                       std::vector<Border> begins, std::vector<Border> ends)
    : jobs_(jobs), nodes_(nodes), begins_(std::move(begins)), ends_(std::move(ends)) {}

std::vector<CutDeficit::Piece> CutDeficit::pieces(double stretch) const {
  std::vector<Piece> all;
  for (std::size_t k = 0; k < begins_.size(); ++k) {
    const Piece piece{begins_[k].at(jobs_, stretch),
                      ends_[k].at(jobs_, stretch),
                      begins_[k].speed(jobs_),
                      ends_[k].speed(jobs_),
                      0,
                      0};
    if (piece.begin < piece.end) all.push_back(piece);
  }
  std::sort(all.begin(), all.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Piece> merged;
  for (const Piece& piece : all) {
    if (!merged.empty() && piece.begin <= merged.back().end) {
      if (piece.end > merged.back().end) {
        merged.back().end = piece.end;
        merged.back().end_speed = piece.end_speed;
      }
      continue;
    }
    merged.push_back(piece);
  }
  for (std::size_t k = 1; k < merged.size(); ++k) {
    const Piece& last = merged[k - 1];
    merged[k].before = last.before + (last.end - last.begin);
    merged[k].before_speed = last.before_speed + (last.end_speed - last.begin_speed);
  }
  return merged;
}

// |U before `time`| and its derivative, for a time that moves at `speed`.
CutDeficit::Measure CutDeficit::measure(const std::vector<Piece>& pieces, double time,
                                        double speed) {
  const auto after = std::upper_bound(pieces.begin(), pieces.end(), time,
                                      [](double t, const Piece& piece) { return t < piece.begin; });
  if (after == pieces.begin()) return {0, 0};
  const Piece& piece = *(after - 1);
  if (time < piece.end)
    return {piece.before + (time - piece.begin), piece.before_speed + speed - piece.begin_speed};
  return {piece.before + (piece.end - piece.begin),
          piece.before_speed + piece.end_speed - piece.begin_speed};
}

CutDeficit::Value CutDeficit::operator()(double stretch) const {
  const std::vector<Piece> set = pieces(stretch);
  const Measure all = measure(set, kInfinity, 0);
  Value value{-nodes_ * all.value, -nodes_ * all.speed, nodes_ * all.value};
  Poll poll;
  for (const StretchJob& job : jobs_) {
    poll.count(200);
    const Measure end = measure(set, job.release + stretch * job.unit, job.unit);
    const Measure begin = measure(set, job.release, 0);
    const double inside = end.value - begin.value;
    const double forced = job.runtime - (stretch * job.unit - inside);
    if (!(forced > 0)) continue;
    value.deficit += job.rate * forced;
    value.slope += job.rate * (end.speed - begin.speed - job.unit);
  }
  return value;
}

double cut_root(const CutDeficit& deficit, double stretch) {
  double low = stretch, high = kInfinity;  // deficit(low) >= 0 > deficit(high)
  CutDeficit::Value at_low = deficit(low);
  for (int step = 0; step < 200; ++step) {
    if (at_low.deficit <= kRootTolerance * at_low.scale) break;
    double next = at_low.slope < 0 ? low - at_low.deficit / at_low.slope : 2 * low;
    if (!(next < high)) next = (low + high) / 2;
    if (!(next > low) || !(next < high)) break;
    const CutDeficit::Value value = deficit(next);
    if (value.deficit >= 0) {
      low = next;
      at_low = value;
    } else {
      high = next;
    }
    if (high - low <= kRootTolerance * low) break;
  }
  return low;
}

}  // namespace cosched::cluster::bound
