// Statements about integer variables: "this variable is at least, or at most, so much".
#pragma once

namespace cosched::moldable::learning {

/// A variable x has two sides: side 2x is x, side 2x + 1 is -x.  The lower bounds of both sides are
/// the bounds of the variable.
constexpr int lower_side(int variable) { return 2 * variable; }
constexpr int upper_side(int variable) { return 2 * variable + 1; }
constexpr int opposite(int side) { return side ^ 1; }

/// "The side is at least `bound`."  Example: "start 3 is at most 7" is {upper_side(3), -7}.
struct Literal {
  int side;
  int bound;
  friend bool operator==(const Literal&, const Literal&) = default;
};

constexpr Literal at_least(int variable, int value) { return {lower_side(variable), value}; }
constexpr Literal at_most(int variable, int value) { return {upper_side(variable), -value}; }
/// What is true where the literal is false: not (x >= 5) is x <= 4.
constexpr Literal negation(Literal literal) { return {opposite(literal.side), 1 - literal.bound}; }

}  // namespace cosched::moldable::learning
