#include "cosched/opt/inequality_lp.hpp"

namespace cosched::opt {

int InequalityLp::add_row(const std::vector<std::pair<int, double>>& entries, double right_of) {
  for (const auto& [col, amount] : entries) {
    if (amount == 0) continue;
    column.push_back(col);
    value.push_back(amount);
  }
  begin.push_back(static_cast<int>(column.size()));
  right.push_back(right_of);
  return rows() - 1;
}

double InequalityLp::row_value(int row, const std::vector<double>& point) const {
  double sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += value[k] * point[column[k]];
  return sum;
}

}  // namespace cosched::opt
