// Loads data into the cache before it is used.  Thousands of jobs pass through a simulation in an
// order that a cache cannot predict: waiting for the records of each resumed job in turn would take
// longer than the work on them.
#pragma once

namespace cosched::cluster {

/// Starts to load the cache line at `address`.  Has no effect on any result.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace cosched::cluster
