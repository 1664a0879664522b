#include "cosched/lp/model.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::lp {
namespace {

[[noreturn]] void throw_invalid(const std::string& text) {
  throw SolverError("linear model: " + text);
}

void check_bounds(const std::vector<double>& lower, const std::vector<double>& upper,
                  const char* what) {
  for (std::size_t k = 0; k < lower.size(); ++k)
    if (std::isnan(lower[k]) || std::isnan(upper[k]) || lower[k] == kInfinity ||
        upper[k] == -kInfinity)
      throw_invalid(std::string(what) + " " + std::to_string(k) + " has bounds [" +
                    to_text(lower[k]) + ", " + to_text(upper[k]) + "]");
}

}  // namespace

void Model::check() const {
  const std::size_t n = cost.size();
  if (lower.size() != n || upper.size() != n || integer.size() != n ||
      row_lower.size() != row_upper.size())
    throw_invalid("vectors of different lengths");
  for (std::size_t j = 0; j < n; ++j)
    if (!std::isfinite(cost[j]))
      throw_invalid("column " + std::to_string(j) + " has cost " + to_text(cost[j]));
  check_bounds(lower, upper, "column");
  check_bounds(row_lower, row_upper, "row");
  std::vector<std::pair<int, int>> places;
  places.reserve(entries.size());
  for (const auto& [row, col, value] : entries) {
    const std::string name = "entry (" + std::to_string(row) + ", " + std::to_string(col) + ")";
    if (row < 0 || row >= rows() || col < 0 || col >= columns())
      throw_invalid(name + " is out of range");
    if (!std::isfinite(value)) throw_invalid(name + " = " + to_text(value));
    places.emplace_back(row, col);
    if (places.size() % 65536 == 0) check_interrupt();
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end())
    throw_invalid("entry (" + std::to_string(twice->first) + ", " + std::to_string(twice->second) +
                  ") is given twice");
}

void require_optimal(const Solution& solution, const char* what) {
  if (solution.status == Status::optimal) return;
  if (solution.status == Status::time_limit) throw TimeLimit("the time limit has passed");
  throw SolverError(std::string(what) + ": the solver found no optimum");
}

}  // namespace cosched::lp
