// The only exception types that leave the library.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cosched {

/// Root of every error this library throws on purpose.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller's data or argument breaks a documented requirement.  The message
/// names the argument, the place (0-based row and column) and the value.
struct InvalidInstance : Error {
  using Error::Error;
  InvalidInstance(const std::string& message, std::string bad_column, int bad_row)
      : Error(message), column(std::move(bad_column)), row(bad_row) {}

  /// Of a table of named columns: where the bad entry is, so that a reader of files can name
  /// its line. Empty and -1 where the error is about something else.
  std::string column;
  int row = -1;
};

/// The instance is well formed, but no schedule of the requested kind exists.
struct InfeasibleError : Error {
  using Error::Error;
};

/// A solver library failed (not: "the model is infeasible", which is a status).
struct SolverError : Error {
  using Error::Error;
};

/// A schedule breaks the rules of its instance; the message names the first breach.
struct InvalidSchedule : Error {
  using Error::Error;
};

/// The time limit set for this thread (interrupt.hpp) has passed.
struct TimeLimit : Error {
  using Error::Error;
};

}  // namespace cosched
