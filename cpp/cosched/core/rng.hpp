// Portable random numbers: the same seed gives the same draws on every compiler
// and standard library (std:: distributions do not), so results can be repeated.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/core/assert.hpp"

namespace cosched {

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (auto& word : state_) {  // splitmix64: never leaves the all-zero state
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  /// 64 random bits.
  std::uint64_t bits() {
    const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  /// Uniform integer in [0, n), without modulo bias.  Requires n >= 1.
  std::uint64_t below(std::uint64_t n) {
    COSCHED_ASSERT(n >= 1);
    const std::uint64_t threshold = -n % n;  // 2^64 mod n: reject the biased remainder
    for (;;) {
      const std::uint64_t draw = bits();
      if (draw >= threshold) return draw % n;
    }
  }

  /// Uniform integer in [low, high], both ends included.  Requires low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    COSCHED_ASSERT(low <= high);
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = span == 0 ? bits() : below(span);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  /// Fisher-Yates shuffle.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  static std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::array<std::uint64_t, 4> state_;
};

}  // namespace cosched
