// Sets of at most 32 jobs as the bits of a number: job j is bit j.
#pragma once

#include <bit>
#include <cstdint>

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {

using JobSet = std::uint32_t;

inline bool contains(JobSet jobs, int job) { return (jobs >> job & 1) != 0; }

inline JobSet with_job(JobSet jobs, int job) { return jobs | JobSet{1} << job; }

/// Jobs 0..count-1.  Requires count < 32.
inline JobSet first_jobs(int count) {
  COSCHED_ASSERT(count >= 0 && count < 32);
  return (JobSet{1} << count) - 1;
}

inline int set_size(JobSet jobs) { return std::popcount(jobs); }

/// The job of lowest number.  Requires a set that is not empty.
inline int first_job(JobSet jobs) {
  COSCHED_ASSERT(jobs != 0);
  return std::countr_zero(jobs);
}

/// Without the job of lowest number.
inline JobSet without_first_job(JobSet jobs) { return jobs & (jobs - 1); }

}  // namespace cosched::moldable::search
