// Sets of few tasks.
#pragma once

#include <cstdint>

namespace cosched::packs {

/// At most 32 tasks as the bits of a number: task i is bit i.
using TaskSet = std::uint32_t;

}  // namespace cosched::packs
