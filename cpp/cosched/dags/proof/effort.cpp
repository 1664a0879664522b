#include "cosched/dags/proof/effort.hpp"

#include "cosched/core/numeric.hpp"
#include "cosched/dags/proof/bisection.hpp"

namespace cosched::dags::proof {
namespace {

// Of a linear programme's factors; about two nanoseconds each.
constexpr double kWork = 2e9;

constexpr bool kEachType = true, kMixture = false;     // each_type
constexpr bool kClusters = true, kNoClusters = false;  // clusters

}  // namespace

Effort effort_for(const Instance& instance) {
  const int n = instance.tasks();
  // passes, rounds, begins, load_heads, each_type
  if (n <= 120) return {6, 40, 300, 6, kEachType};
  if (n <= 400) return {3, 20, 100, 1, kEachType};
  if (n <= 2000) return {2, 8, 30, 1, kMixture};
  if (n <= kLarge) return {2, 6, 20, 0, kMixture};
  return {1, 2, 6, 0, kMixture};
}

TransferEffort transfer_effort_for(const Instance& instance) {
  const int n = instance.tasks();
  // {passes, rounds, begins, load_heads, each_type}, earlier, clusters, guesses, tolerance, work
  if (n <= 40) return {{6, 8, 300, 6, kEachType}, 8, kClusters, 2e8, 1e-7, kInfinity};
  if (n <= 100) return {{6, 8, 300, 6, kEachType}, 4, kClusters, 4e7, 1e-6, kInfinity};
  if (n <= 200) return {{3, 4, 100, 3, kEachType}, 3, kClusters, 3e7, 1e-6, kInfinity};
  if (n <= 500) return {{2, 2, 50, 2, kEachType}, 2, kClusters, 0, 1e-5, kWork};
  if (n <= 2000) return {{1, 1, 20, 1, kMixture}, 1, kNoClusters, 0, 1e-4, kWork};
  return {{1, 1, 10, 0, kMixture}, 1, kNoClusters, 0, 1e-4, kWork};
}

}  // namespace cosched::dags::proof
