#include "cosched/core/times.hpp"

#include <limits>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

std::string entry(Eigen::Index i, Eigen::Index column, double value) {
  return "times[" + std::to_string(i) + ", " + std::to_string(column) + "] = " + to_text(value);
}

void require_positive(const Table& table) {
  if (table.rows() == 0 || table.cols() == 0)
    throw InvalidInstance("times has shape (" + std::to_string(table.rows()) + ", " +
                          std::to_string(table.cols()) +
                          "): expected at least one task and one processor");
  constexpr auto most = std::numeric_limits<int>::max();
  if (table.rows() > most || table.cols() > most)
    throw InvalidInstance("times has more than 2147483647 rows or columns");
  for (Eigen::Index i = 0; i < table.rows(); ++i)
    for (Eigen::Index column = 0; column < table.cols(); ++column) {
      const double t = table(i, column);
      if (!(t > 0) || t == kInfinity)
        throw InvalidInstance(entry(i, column, t) +
                              ": expected a positive finite number of seconds");
    }
}

}  // namespace

Times::Times(Table table) : table_(std::move(table)) { require_positive(table_); }

void require_monotone(const Times& times, Monotone what) {
  for (int i = 0; i < times.tasks(); ++i) {
    const double* t = times.row(i);
    for (int column = 1; column < times.procs(); ++column) {
      if (t[column] > t[column - 1] * (1 + kMonotoneTolerance))
        throw InvalidInstance(
            entry(i, column, t[column]) + " exceeds times[" + std::to_string(i) + ", " +
            std::to_string(column - 1) + "] = " + to_text(t[column - 1]) +
            ": expected times that do not increase with processors "
            "(property (1); monotone(times) repairs it, --repair on the command line)");
      if (what == Monotone::times_and_work &&
          (column + 1) * t[column] < column * t[column - 1] * (1 - kMonotoneTolerance))
        throw InvalidInstance(
            entry(i, column, t[column]) + " is a super-linear speed-up over times[" +
            std::to_string(i) + ", " + std::to_string(column - 1) +
            "] = " + to_text(t[column - 1]) +
            ": expected work q t(q) that does not decrease "
            "(property (2); monotone(times) repairs it, --repair on the command line)");
    }
  }
}

Table monotone(const Table& times) {
  require_positive(times);
  Table repaired = times;
  for (Eigen::Index i = 0; i < repaired.rows(); ++i) {
    double* t = &repaired(i, 0);
    const Eigen::Index p = repaired.cols();
    for (Eigen::Index column = 1; column < p; ++column)
      t[column] = std::min(t[column], t[column - 1]);
    for (Eigen::Index column = 1; column < p; ++column) {
      const auto q = static_cast<double>(column);  // t[column] is the time on q + 1
      if ((q + 1) * t[column] < q * t[column - 1]) t[column] = q * t[column - 1] / (q + 1);
    }
  }
  return repaired;
}

}  // namespace cosched
