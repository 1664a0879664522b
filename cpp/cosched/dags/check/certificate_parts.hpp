// Numbers and shapes that all certificates have, before anything is made of them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {
/// Refuses what a certificate holds with one line that begins with the name of it.
class CertificateParts {
 public:
  explicit CertificateParts(const char* certificate) : certificate_(certificate) {}

  [[noreturn]] void throw_breach(const std::string& text) const {
    throw SolverError(std::string(certificate_) + " certificate: " + text);
  }

  /// `count` numbers, finite and >= 0.
  void require_amounts(const std::vector<double>& amounts, std::size_t count,
                       const char* name) const;

  /// `count` finite numbers.
  void require_finite(const std::vector<double>& numbers, std::size_t count,
                      const char* name) const;

  /// Weights of load heads: their sum is at most 1.
  void require_load_weights(const std::vector<double>& weights, int types) const;

  void require_intervals(const std::vector<proof::PricedInterval>& intervals, int types) const;

  /// A flow on an edge of the graph.
  void require_edge(const Instance& instance, const hlp::EdgeFlow& flow) const;

  /// That a T is a number > 0.
  void require_makespan(double makespan) const {
    if (!(makespan > 0 && makespan < kInfinity)) throw_breach("a makespan of " + to_text(makespan));
  }

  [[noreturn]] void throw_not_refuted(double makespan) const {
    throw_breach("a makespan of " + to_text(makespan) + " is not refuted");
  }

 private:
  void require_length(std::size_t length, std::size_t count, const char* name) const {
    if (length != count) throw_breach(std::string(name) + " has the wrong length");
  }

  const char* certificate_;
};

}  // namespace cosched::dags::check
