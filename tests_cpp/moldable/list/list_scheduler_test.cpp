#include "cosched/moldable/list/list_scheduler.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

Table table_of(std::initializer_list<double> row) {
  Table table(1, static_cast<int>(row.size()));
  int column = 0;
  for (const double t : row) table(0, column++) = t;
  return table;
}

TEST(ListScheduler, ListOvertakesAndAppendDoesNot) {
  Table table{{4, 4}, {4, 4}, {2, 2}};
  const Instance instance(Times(table), {1, 1, 1});
  const Allotment procs{1, 2, 1};
  EXPECT_EQ(list::list_schedule(instance, procs, {0, 1, 2}).start, (std::vector<double>{0, 4, 0}));
  EXPECT_EQ(list::list_schedule(instance, procs, {0, 1, 2}, list::Rule::append).start,
            (std::vector<double>{0, 4, 8}));
}

}  // namespace
}  // namespace cosched::moldable
