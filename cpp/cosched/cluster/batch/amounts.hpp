// Cores, memory and GPUs: what a node has, what is free on it, what a job needs there.
#pragma once

#include <cstdint>

namespace cosched::cluster::batch {

/// Memory is in KB.
struct Amounts {
  std::int64_t memory = 0;
  int cores = 0;
  int gpus = 0;

  /// Whether these free amounts are enough for the needed ones.
  bool can_hold(const Amounts& needed) const {
    return cores >= needed.cores && memory >= needed.memory && gpus >= needed.gpus;
  }
  bool is_zero() const { return cores == 0 && memory == 0 && gpus == 0; }

  bool operator==(const Amounts& other) const = default;
  Amounts operator-() const { return {-memory, -cores, -gpus}; }
  Amounts& operator+=(const Amounts& other) {
    memory += other.memory;
    cores += other.cores;
    gpus += other.gpus;
    return *this;
  }
  Amounts& operator-=(const Amounts& other) { return *this += -other; }
};

/// The smaller memory, the smaller number of cores and the smaller number of GPUs of the two.
Amounts minimum_of(const Amounts& a, const Amounts& b);

}  // namespace cosched::cluster::batch
