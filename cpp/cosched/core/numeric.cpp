#include "cosched/core/numeric.hpp"

#include <charconv>

namespace cosched {

std::string to_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

}  // namespace cosched
