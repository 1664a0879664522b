// The only tolerances of the library.  A solver that compares two floating-point
// numbers "up to rounding" takes its tolerance from here, so that two algorithms
// never disagree about what counts as equal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace cosched {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Relative tolerance of the monotony tests (1) and (2): linear speed-up must pass.
inline constexpr double kMonotoneTolerance = 1e-12;

/// Relative tolerance of exact methods: bounds, LP values, "proved optimal".
inline constexpr double kExactTolerance = 1e-9;

/// Relative tolerance of the independent validator.
inline constexpr double kValidateTolerance = 1e-9;

/// a <= b up to `tolerance` relative to the larger magnitude; infinities exactly.
inline bool leq(double a, double b, double tolerance = kExactTolerance) {
  const double slack = tolerance * std::max(std::abs(a), std::abs(b));
  return slack < kInfinity ? a <= b + slack : a <= b;
}

/// |a - b| within `tolerance` relative to the larger magnitude.
inline bool close(double a, double b, double tolerance = kExactTolerance) {
  return leq(a, b, tolerance) && leq(b, a, tolerance);
}

/// Shortest decimal text that reads back as the same double: for error messages.
std::string to_text(double value);

}  // namespace cosched
