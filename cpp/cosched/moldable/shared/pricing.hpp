// Which configuration is worth most: the pricing of configuration_bound.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/shared/growth.hpp"

namespace cosched::moldable::shared {

/// Relative gap between a bound and what reaches it at which column generation ends.
inline constexpr double kEnough = 5e-4;

/// Best first over sets of jobs, a node bounded by its Growth; counts are chosen at the end, for what a job slows and
/// needs is the same on all of them, or on groups of them.  Under a bandwidth a tree for each of some intervals of
/// the total load, which together hold every set.
class ConfigurationPricing {
 public:
  /// `instance` and `rows` must outlive it.
  ConfigurationPricing(const Instance& instance, const bounds::Rows& rows,
                       const std::vector<double>& surrogate);

  struct Member {
    int job, choice;
  };
  struct Found {
    double value;
    std::vector<Member> set;
  };
  struct Answer {
    double most = 0;           // no configuration is worth more
    std::vector<Found> found;  // some that are worth much
    bool complete = true;
  };

  /// Those worth more than `threshold`; the bound is not sharper than threshold.  Adds what it took to `steps`.
  Answer best(const std::vector<double>& prices, double threshold, std::int64_t most_steps,
              std::int64_t& steps);

  std::vector<double> factors(const std::vector<Member>& set) const;

 private:
  using Pick = Growth::Pick;
  struct Node {
    double bound;  // of its set, and what may be added from `from` on
    int from;
    std::vector<Pick> set;
    Growth::Loads loads;
    bool operator<(const Node& other) const { return bound < other.bound; }
  };

  void open_roots();
  void consider_singles(Answer& answer);
  bool expand(const Node& node, Answer& answer, std::int64_t last);
  void dive(Answer& answer);
  bool grow(std::vector<Pick>& set, double& value, int first);
  void consider(const std::vector<Pick>& set, const std::vector<double>& factors, Answer& answer);
  void keep(Found found, Answer& answer);
  Found with_counts(const std::vector<Pick>& set, const std::vector<double>& factors);
  std::int64_t steps() const { return growth_.steps() + steps_; }
  const Choice& choice_of(const Member& member) const {
    return rows_.of(member.job)[member.choice];
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::Rows& rows_;
  Growth growth_;
  std::vector<double> prices_;
  std::priority_queue<Node> open_;
  double least_kept_ = 0;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
