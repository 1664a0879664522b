#include "cosched/packs/columns/prices.hpp"

namespace cosched::packs::columns {

CountPrices::CountPrices(const std::vector<CountRow>& rows, const std::vector<double>& prices) {
  for (std::size_t r = 0; r < rows.size(); ++r) total_.emplace_back(rows[r].length, prices[r]);
  std::sort(total_.begin(), total_.end());
  for (std::size_t r = 1; r < total_.size(); ++r) total_[r].second += total_[r - 1].second;
}

double CountPrices::operator()(double length) const {
  const auto after =
      std::upper_bound(total_.begin(), total_.end(), length,
                       [](double value, const auto& entry) { return value < entry.first; });
  return after == total_.begin() ? 0 : std::prev(after)->second;
}

}  // namespace cosched::packs::columns
