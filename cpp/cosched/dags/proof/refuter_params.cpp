#include "cosched/dags/proof/refuter_params.hpp"

namespace cosched::dags::proof {

RefuterParams refuter_params_for(const Instance& instance) {
  const int n = instance.tasks();
  if (n <= 120)
    return {.max_passes = 6,
            .max_rounds = 40,
            .max_begins = 300,
            .load_head_passes = 6,
            .tries_each_type = true};
  if (n <= 400)
    return {.max_passes = 3,
            .max_rounds = 20,
            .max_begins = 100,
            .load_head_passes = 1,
            .tries_each_type = true};
  if (n <= 2000)
    return {.max_passes = 2,
            .max_rounds = 8,
            .max_begins = 30,
            .load_head_passes = 1,
            .tries_each_type = false};
  if (n <= kLargeTasks)
    return {.max_passes = 2,
            .max_rounds = 6,
            .max_begins = 20,
            .load_head_passes = 0,
            .tries_each_type = false};
  return {.max_passes = 1,
          .max_rounds = 2,
          .max_begins = 6,
          .load_head_passes = 0,
          .tries_each_type = false};
}

TransferRefuterParams transfer_refuter_params_for(const Instance& instance) {
  constexpr double kLargeWork = 2e9;  // multiplications: some four seconds
  const int n = instance.tasks();
  if (n <= 40)
    return {.max_passes = 6,
            .max_rounds = 8,
            .max_begins = 300,
            .load_head_passes = 6,
            .tries_each_type = true,
            .max_earlier_stages = 8,
            .uses_clusters = true,
            .shaving_steps = 2e8,
            .lp_tolerance = 1e-7,
            .lp_multiplications = kInfinity};
  if (n <= 100)
    return {.max_passes = 6,
            .max_rounds = 8,
            .max_begins = 300,
            .load_head_passes = 6,
            .tries_each_type = true,
            .max_earlier_stages = 4,
            .uses_clusters = true,
            .shaving_steps = 4e7,
            .lp_tolerance = 1e-6,
            .lp_multiplications = kInfinity};
  if (n <= 200)
    return {.max_passes = 3,
            .max_rounds = 4,
            .max_begins = 100,
            .load_head_passes = 3,
            .tries_each_type = true,
            .max_earlier_stages = 3,
            .uses_clusters = true,
            .shaving_steps = 3e7,
            .lp_tolerance = 1e-6,
            .lp_multiplications = kInfinity};
  if (n <= 500)
    return {.max_passes = 2,
            .max_rounds = 2,
            .max_begins = 50,
            .load_head_passes = 2,
            .tries_each_type = true,
            .max_earlier_stages = 2,
            .uses_clusters = true,
            .shaving_steps = 0,
            .lp_tolerance = 1e-5,
            .lp_multiplications = kLargeWork};
  if (n <= 2000)
    return {.max_passes = 1,
            .max_rounds = 1,
            .max_begins = 20,
            .load_head_passes = 1,
            .tries_each_type = false,
            .max_earlier_stages = 1,
            .uses_clusters = false,
            .shaving_steps = 0,
            .lp_tolerance = 1e-4,
            .lp_multiplications = kLargeWork};
  return {.max_passes = 1,
          .max_rounds = 1,
          .max_begins = 10,
          .load_head_passes = 0,
          .tries_each_type = false,
          .max_earlier_stages = 1,
          .uses_clusters = false,
          .shaving_steps = 0,
          .lp_tolerance = 1e-4,
          .lp_multiplications = kLargeWork};
}

}  // namespace cosched::dags::proof
