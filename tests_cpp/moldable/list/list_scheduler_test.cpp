#include "cosched/moldable/list/list_scheduler.hpp"

#include <gtest/gtest.h>

#include "cosched/core/errors.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "support/moldable_graphs.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(ListScheduler, ListOvertakesAndAppendDoesNot) {
  Table table{{4, 4}, {4, 4}, {2, 2}};
  const Instance instance(Times(table), {1, 1, 1});
  const Allotment procs{1, 2, 1};
  EXPECT_EQ(list::list_schedule(instance, procs, {0, 1, 2}).start, (std::vector<double>{0, 4, 0}));
  EXPECT_EQ(list::list_schedule(instance, procs, {0, 1, 2}, list::ListRule::append).start,
            (std::vector<double>{0, 4, 8}));
}

}  // namespace
}  // namespace cosched::moldable
