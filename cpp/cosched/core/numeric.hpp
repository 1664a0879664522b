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

/// Relative error of a sum of positive terms that are added in different orders: n terms are off by
/// at most n / 2^53, so this suffices for 9,000 terms.
inline constexpr double kSumTolerance = 1e-12;

/// Ends of tasks that are so close, relative to the time, are one event.  An end is the sum of a
/// time and a quotient, so that equal ends differ by a few roundings of 1e-16 each.
inline constexpr double kSameEventTolerance = 1e-13;

/// Keeps divisors and arguments of logarithms above 0; no amount of an instance is as small.
inline constexpr double kTinyPositive = 1e-300;

/// Relative: four times the greatest rounding error of a sum of so many positive terms, for bounds
/// that must hold whatever the rounding.
inline double sum_rounding(double terms) {
  return 2 * terms * std::numeric_limits<double>::epsilon();
}

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
