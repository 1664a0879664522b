#include "cosched/core/times.hpp"

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

void require_times(const Table& table) {
  using std::to_string;
  if (table.rows() == 0 || table.cols() == 0)
    throw InvalidInstance("times has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) +
                          "): expected at least one task and one processor");
  constexpr auto kMaxSize = std::numeric_limits<int>::max();
  if (table.rows() > kMaxSize || table.cols() > kMaxSize)
    throw InvalidInstance("times has more than 2147483647 rows or columns");
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i) {
    for (std::ptrdiff_t column = 0; column < table.cols(); ++column)
      if (const double t = table(i, column); !(t > 0))
        throw InvalidInstance("times[" + to_string(i) + ", " + to_string(column) +
                              "] = " + to_text(t) +
                              ": expected a positive number of seconds, or infinity where the task "
                              "cannot run on " +
                              to_string(column + 1) + " processors");
    if (table.row(i).least() == kInfinity)
      throw InvalidInstance("times[" + to_string(i) + "] has no finite entry: task " +
                            to_string(i) + " can run on none of 1.." + to_string(table.cols()) +
                            " processors");
  }
}

// Whether some task takes longer on more processors.
bool has_increasing_row(const Table& table) {
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t column = 1; column < table.cols(); ++column)
      if (table(i, column) > table(i, column - 1)) return true;
  return false;
}

void apply_running_minimum(Table& table) {
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t column = 1; column < table.cols(); ++column)
      table(i, column) = std::min(table(i, column), table(i, column - 1));
}

}  // namespace

double longest_finite(const Table& times) {
  double longest = 0;
  for (const double t : times)
    if (t < kInfinity) longest = std::max(longest, t);
  return longest;
}

Times::Times(Table measured) : best_(std::move(measured)) {
  require_times(best_);
  if (!has_increasing_row(best_)) return;
  measured_ = best_;
  apply_running_minimum(best_);
  used_.resize(static_cast<std::size_t>(best_.size()));
  for (int i = 0; i < tasks(); ++i) {
    int* used = &used_[static_cast<std::size_t>(i) * procs()];
    for (int q = 1; q <= procs(); ++q)
      used[q - 1] = q == 1 || measured_(i, q - 1) == best_(i, q - 1) ? q : used[q - 2];
  }
}

int Times::fewest(int i) const {
  return static_cast<int>(std::partition_point(row(i), row(i) + procs(),
                                               [](double t) { return t == kInfinity; }) -
                          row(i)) +
         1;
}

Table monotone(const Table& times) {
  require_times(times);
  Table repaired = times;
  apply_running_minimum(repaired);
  for (std::ptrdiff_t i = 0; i < repaired.rows(); ++i) {
    double* t = &repaired(i, 0);
    for (std::ptrdiff_t column = 1; column < repaired.cols(); ++column) {
      const auto q = static_cast<double>(column);  // t[column] is the time on q + 1
      if (t[column - 1] < kInfinity && (q + 1) * t[column] < q * t[column - 1])
        t[column] = q * t[column - 1] / (q + 1);
    }
  }
  return repaired;
}

}  // namespace cosched
