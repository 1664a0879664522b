#include "cosched/dags/proof/refuter_params.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace cosched::dags::proof {
namespace {

constexpr int kAnySize = std::numeric_limits<int>::max();
constexpr double kLargeWork = 2e9;  // multiplications: some four seconds

// The fields of RefuterParams that depend on the number of tasks.
struct RefuterRow {
  int max_tasks;
  int max_passes, max_rounds, max_begins;
  int load_head_passes;
  bool tries_each_type;
};

// The fields of TransferRefuterParams that depend on the number of tasks.
struct TransferRefuterRow {
  int max_tasks;
  int max_passes, max_rounds, max_begins;
  int load_head_passes;
  bool tries_each_type;
  int max_earlier_stages;
  bool uses_clusters;
  double shaving_steps;
  double lp_tolerance;
  double lp_multiplications;
};

// clang-format off
constexpr RefuterRow kRefuterRows[] = {
    // max_tasks  passes  rounds  begins  load heads  each type
    {        120,      6,     40,    300,          6,      true},
    {        400,      3,     20,    100,          1,      true},
    {       2000,      2,      8,     30,          1,     false},
    {kLargeTasks,      2,      6,     20,          0,     false},
    {   kAnySize,      1,      2,      6,          0,     false},
};

constexpr TransferRefuterRow kTransferRefuterRows[] = {
    // max    pass- rounds begins load   each  earlier clusters shaving    LP     LP multi-
    // tasks    es                heads  type   stages            steps  tolerance plications
    {      40,   6,     8,   300,     6,  true,      8,    true,    2e8,     1e-7, kInfinity},
    {     100,   6,     8,   300,     6,  true,      4,    true,    4e7,     1e-6, kInfinity},
    {     200,   3,     4,   100,     3,  true,      3,    true,    3e7,     1e-6, kInfinity},
    {     500,   2,     2,    50,     2,  true,      2,    true,      0,     1e-5, kLargeWork},
    {    2000,   1,     1,    20,     1, false,      1,   false,      0,     1e-4, kLargeWork},
    {kAnySize,   1,     1,    10,     0, false,      1,   false,      0,     1e-4, kLargeWork},
};
// clang-format on

// The first row for instances of so many tasks.  The rows are by increasing max_tasks.
template <class Row, std::size_t count>
const Row& row_for(const Row (&rows)[count], int tasks) {
  return *std::find_if(std::begin(rows), std::end(rows),
                       [&](const Row& row) { return tasks <= row.max_tasks; });
}

}  // namespace

RefuterParams refuter_params_for(const Instance& instance) {
  const RefuterRow& row = row_for(kRefuterRows, instance.tasks());
  return {.max_passes = row.max_passes,
          .max_rounds = row.max_rounds,
          .max_begins = row.max_begins,
          .load_head_passes = row.load_head_passes,
          .tries_each_type = row.tries_each_type};
}

TransferRefuterParams transfer_refuter_params_for(const Instance& instance) {
  const TransferRefuterRow& row = row_for(kTransferRefuterRows, instance.tasks());
  return {.max_passes = row.max_passes,
          .max_rounds = row.max_rounds,
          .max_begins = row.max_begins,
          .load_head_passes = row.load_head_passes,
          .tries_each_type = row.tries_each_type,
          .max_earlier_stages = row.max_earlier_stages,
          .uses_clusters = row.uses_clusters,
          .shaving_steps = row.shaving_steps,
          .lp_tolerance = row.lp_tolerance,
          .lp_multiplications = row.lp_multiplications};
}

}  // namespace cosched::dags::proof
