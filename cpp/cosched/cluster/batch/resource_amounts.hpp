// Cores, memory and GPUs: what a node has, what is free on it, what a job needs there.
#pragma once

#include <cstdint>

namespace cosched::cluster::batch {

/// Memory is in KB.
struct ResourceAmounts {
  std::int64_t memory = 0;
  int cores = 0;
  int gpus = 0;

  /// Whether these free amounts are enough for the needed ones.
  bool can_hold(const ResourceAmounts& needed) const {
    return cores >= needed.cores && memory >= needed.memory && gpus >= needed.gpus;
  }
  bool is_zero() const { return cores == 0 && memory == 0 && gpus == 0; }

  bool operator==(const ResourceAmounts& other) const = default;
  ResourceAmounts operator-() const { return {-memory, -cores, -gpus}; }
  ResourceAmounts& operator+=(const ResourceAmounts& other) {
    memory += other.memory;
    cores += other.cores;
    gpus += other.gpus;
    return *this;
  }
  ResourceAmounts& operator-=(const ResourceAmounts& other) { return *this += -other; }
};

/// The smaller memory, the smaller number of cores and the smaller number of GPUs of the two.
ResourceAmounts minimum_of(const ResourceAmounts& a, const ResourceAmounts& b);

}  // namespace cosched::cluster::batch
