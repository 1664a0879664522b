// Asks for data that will soon be used.  Thousands of jobs pass through a simulation in no order
// that a cache could know of: the records of a job that is resumed are far away, and waiting for
// each in turn takes longer than the work on them.
#pragma once

namespace cosched::cluster {

/// The cache line at `address` is wanted; has no effect on any result.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace cosched::cluster
