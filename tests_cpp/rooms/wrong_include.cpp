// What must not compile: a checker that includes what it checks.  CTest's `rooms` expects the
// compiler to find the first header and not the second.
#include "cosched/moldable/model/instance.hpp"
//
#include "cosched/moldable/dual/dual_approx.hpp"
