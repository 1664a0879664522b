// A linear programme and the changes that an algorithm makes to it, recorded so that different
// simplex methods can be given the same sequence.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace cosched::testing {

struct TraceColumn {
  double cost, lower;  // there is no upper bound
  std::vector<int> rows;
  std::vector<double> values;
};

struct RowBounds {
  int row;
  double lower, upper;  // equal, or one of them infinite
};

/// What happens before the programme is solved once more.  Columns are numbered as they come.
struct TraceRound {
  std::vector<TraceColumn> add;
  std::vector<int> close;  // columns that become 0
  std::vector<RowBounds> rows;
};

/// minimise cost . x,  lower <= A x <= upper: solved after each round, the basis stays.
struct LpTrace {
  std::string name;
  bool dual = false;  // rows change, so the dual simplex goes on; else columns come: the primal
  std::vector<double> lower, upper;  // of the rows
  // The basis where the algorithm itself begins: these columns of the first round are basic, these
  // rows are tight, the slacks of the other rows basic.
  std::vector<int> basic_columns, tight_rows;
  std::vector<TraceRound> rounds;
  // Of the method that is in the library: the last programme's value, and the time of all rounds.
  double value = 0, seconds = 0;

  int rows() const { return static_cast<int>(lower.size()); }
  int columns() const {
    std::size_t count = 0;
    for (const TraceRound& round : rounds) count += round.add.size();
    return static_cast<int>(count);
  }
};

/// As text for tests_py/bench/bench_simplex.py: the name, a line of numbers, then lists, each with
/// its length and on a line of its own.
inline void write(const LpTrace& trace, std::FILE* file) {
  const auto numbers = [&](const auto& list) {
    std::fprintf(file, "%zu", list.size());
    for (const auto number : list) std::fprintf(file, " %.17g", static_cast<double>(number));
    std::fputc('\n', file);
  };
  std::fprintf(file, "%s\n%d %.17g %.17g %zu\n", trace.name.c_str(), trace.dual ? 1 : 0,
               trace.value, trace.seconds, trace.rounds.size());
  numbers(trace.lower);
  numbers(trace.upper);
  numbers(trace.basic_columns);
  numbers(trace.tight_rows);
  for (const TraceRound& round : trace.rounds) {
    std::vector<double> cost, lower, start, row, value, changed, changed_lower, changed_upper;
    for (const TraceColumn& column : round.add) {
      cost.push_back(column.cost);
      lower.push_back(column.lower);
      start.push_back(static_cast<double>(row.size()));
      row.insert(row.end(), column.rows.begin(), column.rows.end());
      value.insert(value.end(), column.values.begin(), column.values.end());
    }
    for (const RowBounds& bounds : round.rows) {
      changed.push_back(bounds.row);
      changed_lower.push_back(bounds.lower);
      changed_upper.push_back(bounds.upper);
    }
    for (const auto& list : {cost, lower, start, row, value}) numbers(list);
    numbers(round.close);
    for (const auto& list : {changed, changed_lower, changed_upper}) numbers(list);
  }
}

}  // namespace cosched::testing
