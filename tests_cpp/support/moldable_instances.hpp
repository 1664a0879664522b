// Instances for the moldable tests and benchmarks, and the exhaustive optima.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::testing {

inline constexpr double kRounding = 1e-9;  // of the sums of exhaustive search

/// Throws InvalidSchedule.
inline void require_valid(const Instance& instance, const Placement& placement) {
  check::validate(instance, to_schedule(instance, placement));
}

/// A normal draw (Box-Muller).
inline double normal(Rng& rng, double mean, double deviation) {
  const double u = 1 - rng.uniform(), v = rng.uniform();
  return mean + deviation * std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
}

enum class Kind { weak, high, mixed, cirne };

/// The paper's workloads (section 4.1): sequential times U[1,10], or 70% N(1, 0.5) and
/// 30% N(10, 5); t(q) = t(q-1) (q - X) / q with X from N(0.9, 0.2) or N(0.1, 0.2) in [0, 1].
/// Weights U[1,10].
inline Instance workload(Kind kind, int n, int m, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> weights;
  std::vector<Downey> profiles;
  Table table(kind == Kind::cirne ? 0 : n, m);
  for (int i = 0; i < n; ++i) {
    weights.push_back(1 + 9 * rng.uniform());
    const bool large = rng.uniform() < 0.3;
    double t = 1 + 9 * rng.uniform();
    if (kind == Kind::mixed) do
        t = large ? normal(rng, 10, 5) : normal(rng, 1, 0.5);
      while (t <= 0);
    if (kind == Kind::cirne) {
      const auto unilog = [&](double a, double b) { return std::exp2((rng.uniform() - b) / a); };
      const double log_cmin = std::log2(std::max(1.0, std::ceil(unilog(.0692, .6279))));
      const double sigma = std::max(0.0, normal(rng, 1.209, 1.132));
      const double a = .009548 * log_cmin + .07468, b = -.01877 * log_cmin - .009198;
      profiles.push_back({t, std::max(1.0, unilog(a, b)), sigma});
      continue;
    }
    const bool parallel = kind == Kind::high || (kind == Kind::mixed && large);
    table(i, 0) = t;
    for (int q = 2; q <= m; ++q) {
      double x = -1;
      while (x < 0 || x > 1) x = normal(rng, parallel ? 0.9 : 0.1, 0.2);
      table(i, q - 1) = table(i, q - 2) * (q - x) / q;
    }
  }
  if (kind == Kind::cirne) return Instance(profiles, weights, {}, m);
  return Instance(Times(table), weights);
}

/// Kinds of small_instance.
inline constexpr int kProfileKinds = 6;
/// Those below have both properties.
inline constexpr int kMonotoneKinds = 3;

/// Small random instances.  Profiles, kind 0: each processor saves a random part; 1: few distinct
/// values, so that ties are everywhere; 2: linear or no speed-up; 3: not monotone at all; 4: times
/// that do not increase, with super-linear jumps; 5: as 3, with counts that a job cannot run on.
inline Instance small_instance(int kind, int n, int m, std::uint64_t seed, bool releases = false) {
  Rng rng(seed);
  Table table(n, m);
  std::vector<double> weights, release;
  for (int i = 0; i < n; ++i) {
    const double alone = kind == 1 ? static_cast<double>(rng.between(1, 6)) : 0.1 + rng.uniform();
    const bool linear = rng.below(2) == 0;
    for (int q = 1; q <= m; ++q) {
      double t = alone;
      if (kind == 0 && q > 1) t = table(i, q - 2) * (1 - 0.6 * rng.uniform());
      if (kind == 1 && q > 1) t = std::ceil(table(i, q - 2) * (1 - 0.5 * rng.uniform()));
      if (kind == 2 && linear) t = alone / q;
      if (kind == 3 || kind == 5) t = 0.1 + rng.uniform();
      if (kind == 4 && q > 1)
        t = table(i, q - 2) * (rng.below(3) == 0 ? 0.3 : 1 - 0.1 * rng.uniform());
      if (kind == 5 && rng.below(3) == 0) t = kInfinity;
      table(i, q - 1) = t;
    }
    if (kind == 5) table(i, static_cast<int>(rng.below(m))) = 0.1 + rng.uniform();
    weights.push_back(rng.below(6) == 0 ? 0 : static_cast<double>(rng.between(1, 10)));
    release.push_back(releases ? rng.uniform() * static_cast<double>(rng.below(3)) : 0);
  }
  if (kind < kMonotoneKinds) table = monotone(table);
  return Instance(Times(table), weights, release);
}

/// Jobs whose times lie just above 1/2, 3/4, 1 and 3/2, where the transformations of the guess
/// d = 1 are tight.
inline Instance tight_instance(int n, int m, std::uint64_t seed) {
  Rng rng(seed);
  Table table(n, m);
  for (int i = 0; i < n; ++i) {
    constexpr double kAlone[] = {0.5, 0.75, 1, 1.5};
    const double alone = kAlone[rng.below(4)] + 0.02 * rng.uniform();
    const auto shape = rng.below(3);
    for (int q = 1; q <= m; ++q)
      table(i, q - 1) = shape == 0 ? alone : shape == 1 ? alone / q : alone / (0.7 * q + 0.3);
  }
  return Instance(Times(monotone(table)), std::vector<double>(n, 1));
}

/// The optima of the two criteria, each on its own.
struct Optima {
  double makespan = kInfinity, minsum = kInfinity;
};

/// By trying every allotment and every order; each job starts as early as the others, placed
/// before it, allow.  For n <= 5, m <= 4.  Shares no code with the library.
class Exhaustive {
 public:
  explicit Exhaustive(const Instance& instance) : instance_(instance) { extend(0, 0); }
  Optima optima() const { return best_; }

 private:
  struct Placed {
    double start, end;
    int procs;
  };

  int busy(double at) const {
    int sum = 0;
    for (const Placed& p : placed_)
      if (p.start <= at && at < p.end) sum += p.procs;
    return sum;
  }

  bool fits(double from, double length, int procs) const {
    if (busy(from) + procs > instance_.machines()) return false;
    for (const Placed& p : placed_)
      if (p.start > from && p.start < from + length && busy(p.start) + procs > instance_.machines())
        return false;
    return true;
  }

  void extend(int done, double minsum) {
    if (done == (1 << instance_.jobs()) - 1) {
      double end = 0;
      for (const Placed& p : placed_) end = std::max(end, p.end);
      best_.makespan = std::min(best_.makespan, end);
      best_.minsum = std::min(best_.minsum, minsum);
      return;
    }
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (done >> i & 1) continue;
      for (int q = 1; q <= instance_.machines(); ++q) {
        const double length = instance_.exact_time(i, q);
        if (length == kInfinity) continue;
        double from = kInfinity;
        if (fits(instance_.release(i), length, q)) from = instance_.release(i);
        for (const Placed& p : placed_)
          if (p.end >= instance_.release(i) && p.end < from && fits(p.end, length, q)) from = p.end;
        placed_.push_back({from, from + length, q});
        extend(done | 1 << i, minsum + instance_.weight(i) * (from + length));
        placed_.pop_back();
      }
    }
  }

  const Instance& instance_;
  std::vector<Placed> placed_;
  Optima best_;
};

inline Optima exhaustive_optima(const Instance& instance) { return Exhaustive(instance).optima(); }

/// With d = 1 the work fits, but the published three transformations leave shelf 2 without room.
inline Instance counterexample() {
  const Table table{{1.01, .51, .40, .38},
                    {.51, .51, .51, .51},
                    {.76, .76, .76, .76},
                    {1.51, 1.51 / 2, 1.51 / 3, 1.51 / 4}};
  return Instance(Times(table), {1, 1, 1, 1});
}

}  // namespace cosched::moldable::testing
