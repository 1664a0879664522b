// The counts of each job that a schedule on processors alone needs.
#pragma once

#include "cosched/core/processor_choice.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::search {

/// For each job, the counts on which it is faster than on every smaller count, by increasing count.
/// O(counts log m) a job.
std::vector<std::vector<Choice>> fastest_choices(const Instance& instance);

}  // namespace cosched::moldable::search
