// Sets of small numbers (cells of a machine, types of GPUs) as the bits of one word.
#pragma once

#include <cstdint>

namespace cosched::cluster::batch {

/// Bit k is set where the set contains k, 0 <= k < 64.
using BitSet64 = std::uint64_t;

inline constexpr BitSet64 kEmptyBitSet = 0;
inline constexpr BitSet64 kFullBitSet = ~BitSet64{0};

/// Whether the set contains the number, 0 <= number < 64.
template <class Number>
constexpr bool has_bit(BitSet64 set, Number number) {
  return (set >> number & 1) != 0;
}

}  // namespace cosched::cluster::batch
