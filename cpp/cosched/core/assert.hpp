// COSCHED_ASSERT: preconditions of internal functions, checked in debug and test builds.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace cosched {

/// Prints the condition with its place to the standard error and aborts.
[[noreturn]] inline void report_failed_assertion(const char* condition, const char* file,
                                                 int line) {
  std::fprintf(stderr, "%s:%d: COSCHED_ASSERT(%s) failed\n", file, line, condition);
  std::abort();
}

}  // namespace cosched

/// States a precondition that the caller has to establish ("Requires ...").  What users pass is
/// checked where it enters, by exceptions: a failed assertion is a fault of this library.
///
/// With COSCHED_ASSERTIONS (builds for debugging, sanitizers, `make dev` and CI) a condition that
/// does not hold ends the process.  Without, the condition is compiled but never evaluated, so it
/// must have no side effects.
#ifdef COSCHED_ASSERTIONS
#define COSCHED_ASSERT(condition) \
  ((condition) ? void() : ::cosched::report_failed_assertion(#condition, __FILE__, __LINE__))
#else
#define COSCHED_ASSERT(condition) (false ? void(condition) : void())
#endif
