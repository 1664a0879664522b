// Portable random numbers: the same seed gives the same draws on every compiler
// and standard library (std:: distributions do not), so results can be repeated.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosched {

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  /// 64 random bits.
  std::uint64_t bits();

  /// Uniform in [0, 1), 53 random bits.
  double uniform();

  /// Uniform integer in [0, n), without modulo bias.  Requires n >= 1.
  std::uint64_t below(std::uint64_t n);

  /// Uniform integer in [low, high], both ends included.  Requires low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);

  /// Fisher-Yates shuffle.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace cosched
