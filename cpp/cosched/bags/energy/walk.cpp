#include "cosched/bags/energy/walk.hpp"

namespace cosched::bags::energy {

Walk::Walk(const Instance& instance, Cut cut) : basis_(instance) {
  if (cut == Cut::long_tasks)
    for (int i = 0; i < instance.types(); ++i)
      for (int j = 0; j < instance.machine_types(); ++j)
        if (instance.count(i) > 0 && instance.is_allowed(i, j))
          closing_columns_.push_back({instance.etc(i, j), {i, j}});
  std::sort(closing_columns_.begin(), closing_columns_.end(), std::greater<>());
  find_piece_end();
}

bool Walk::go_to_next_piece() {
  const double start = low_;
  while (take_pivot()) {
    high_ = start;
    find_piece_end();
    if (low_ < high_) {
      stalled_pivots_ = 0;
      return true;
    }
  }
  low_ = start;
  return false;
}

void Walk::find_piece_end() {
  low_ = 0;
  leaving_variable_ = {};
  const bool lowest = stalled_pivots_ > max_careful_stalls();
  for (const BasicVariable& row : basis_.variables()) {
    const double slope = basis_.slope(row);
    if (slope <= 0) continue;
    const double zero = std::min(-basis_.value(row, 0) / slope, high_);
    const bool tie = zero == low_ && !leaving_variable_.is_none();
    if (zero > low_ || (tie && lowest &&
                        basis_.variable_number(row) < basis_.variable_number(leaving_variable_))) {
      low_ = zero;
      leaving_variable_ = row;
    }
  }
  if (next_closing_column_ < closing_columns_.size() &&
      closing_columns_[next_closing_column_].first >= low_) {
    low_ = std::min(closing_columns_[next_closing_column_].first, high_);
    leaving_variable_ = {};
  }
}

bool Walk::take_pivot() {
  check_interrupt();
  ++stalled_pivots_;
  if (stalled_pivots_ > max_stalls())
    throw SolverError("energy front: no progress below makespan " + to_text(low_));
  if (!leaving_variable_.is_none())
    return basis_.pivot(leaving_variable_, false, stalled_pivots_ > max_careful_stalls());
  if (low_ <= 0) return false;
  close_columns();
  return restore_feasibility();
}

Walk::BasicVariable Walk::find_worst_infeasibility(const std::vector<char>& stuck,
                                                   bool lowest) const {
  BasicVariable worst;
  double most = kPivotNoise;
  std::vector<BasicVariable> rows = basis_.variables();
  for (const BasicVariable& row : basis_.closed_single_keys()) rows.push_back(row);
  for (const BasicVariable& row : rows) {
    if (stuck[basis_.variable_number(row)]) continue;
    const bool closed = basis_.is_closed(row);
    const double size =
        closed ? std::max(std::abs(relative_value(row)), 2 * kPivotNoise) : -relative_value(row);
    if (size <= kPivotNoise) continue;
    const bool first =
        lowest && !worst.is_none() && basis_.variable_number(row) < basis_.variable_number(worst);
    if (worst.is_none() || (lowest ? first : size > most)) {
      worst = row;
      most = size;
    }
  }
  return worst;
}

bool Walk::restore_feasibility() {
  const auto columns = static_cast<std::size_t>(basis_.types()) + 1;
  std::vector<char> stuck(columns * basis_.machine_types(), 0);
  for (int round = 0; round < max_stalls(); ++round) {
    check_interrupt();
    const bool lowest = round > max_careful_stalls();
    BasicVariable row = find_worst_infeasibility(stuck, lowest);
    if (row.is_none()) return true;
    const double at = relative_value(row);
    if (basis_.is_closed(row) && std::abs(at) <= kPivotNoise) {
      if (!basis_.pivot(row, true, lowest) && !basis_.pivot(row, false, lowest))
        stuck[basis_.variable_number(row)] = 1;  // always zero
    } else if (!basis_.pivot(row, at > 0, lowest)) {
      return false;
    }
  }
  throw SolverError("energy front: no progress at makespan " + to_text(low_));
}

}  // namespace cosched::bags::energy
