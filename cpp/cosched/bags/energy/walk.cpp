#include "cosched/bags/energy/walk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::bags::energy {

using Row = Basis::Row;

Walk::Walk(const Instance& instance, Cut cut) : basis_(instance) {
  if (cut == Cut::long_tasks)
    for (int i = 0; i < instance.types(); ++i)
      for (int j = 0; j < instance.machine_types(); ++j)
        if (instance.count(i) > 0 && instance.allowed(i, j))
          closing_.push_back({instance.etc(i, j), {i, j}});
  std::sort(closing_.begin(), closing_.end(), std::greater<>());
  find_low();
}

// How far down the basis stays optimal, and why no further.
void Walk::find_low() {
  low_ = 0;
  leaving_ = {};
  const bool lowest = stalls_ > careful_stalls();
  for (const Row& row : basis_.rows()) {
    const double slope = basis_.slope(row);
    if (slope <= 0) continue;
    const double zero = std::min(-basis_.value(row, 0) / slope, high_);
    const bool tie = zero == low_ && !leaving_.none();
    if (zero > low_ || (tie && lowest && basis_.order(row) < basis_.order(leaving_))) {
      low_ = zero;
      leaving_ = row;
    }
  }
  if (next_closing_ < closing_.size() && closing_[next_closing_].first >= low_) {
    low_ = std::min(closing_[next_closing_].first, high_);
    leaving_ = {};
  }
}

bool Walk::next() {
  const double start = low_;
  while (step()) {
    high_ = start;
    find_low();
    if (low_ < high_) {
      stalls_ = 0;
      return true;
    }
  }
  low_ = start;
  return false;
}

// The basis just below low_; false where there is none.
bool Walk::step() {
  check_interrupt();
  if (++stalls_ > most_stalls())
    throw SolverError("energy front: no progress below makespan " + to_text(low_));
  if (!leaving_.none()) return basis_.pivot(leaving_, false, stalls_ > careful_stalls());
  if (low_ <= 0) return false;
  close_columns();
  return restore();
}

// The columns with ETC_ij = low_ close below it.
void Walk::close_columns() {
  for (; next_closing_ < closing_.size() && closing_[next_closing_].first >= low_; ++next_closing_)
    basis_.close(closing_[next_closing_].second.first, closing_[next_closing_].second.second);
}

// Value at low_ without a unit: a share of T_i, or of the makespan.
double Walk::share(const Row& row) const {
  return basis_.value(row, low_) / (basis_.slack(row) ? low_ : 1);
}

// The basic variable that is furthest from feasible at low_: negative, or in a closed column and
// not zero.  In a closed column and at zero it still has to leave, last, or it could rise again.
Row Walk::worst_breach(const std::vector<char>& stuck, bool lowest) const {
  Row worst;
  double most = kPivotNoise;
  std::vector<Row> rows = basis_.rows();
  for (const Row& row : basis_.closed_lone_keys()) rows.push_back(row);
  for (const Row& row : rows) {
    if (stuck[basis_.order(row)]) continue;
    const bool closed = basis_.closed(row);
    const double size = closed ? std::max(std::abs(share(row)), 2 * kPivotNoise) : -share(row);
    if (size <= kPivotNoise) continue;
    const bool first = lowest && !worst.none() && basis_.order(row) < basis_.order(worst);
    if (worst.none() || (lowest ? first : size > most)) {
      worst = row;
      most = size;
    }
  }
  return worst;
}

// Dual simplex at makespan low_ until there is no breach.  False: infeasible.
bool Walk::restore() {
  const auto columns = static_cast<std::size_t>(basis_.types()) + 1;
  std::vector<char> stuck(columns * basis_.machine_types(), 0);
  for (int round = 0; round < most_stalls(); ++round) {
    check_interrupt();
    const bool lowest = round > careful_stalls();
    Row row = worst_breach(stuck, lowest);
    if (row.none()) return true;
    const double at = share(row);
    if (basis_.closed(row) && std::abs(at) <= kPivotNoise) {
      if (!basis_.pivot(row, true, lowest) && !basis_.pivot(row, false, lowest))
        stuck[basis_.order(row)] = 1;  // always zero
    } else if (!basis_.pivot(row, at > 0, lowest)) {
      return false;
    }
  }
  throw SolverError("energy front: no progress at makespan " + to_text(low_));
}

}  // namespace cosched::bags::energy
