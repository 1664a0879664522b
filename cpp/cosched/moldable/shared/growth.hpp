// How much a set of jobs that run together may be worth, whoever joins.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/areas.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::shared {

/// At prices u a set S with counts is worth sum u_i / (t_i(q_i) f_i(S)).  Jobs are taken in an order, by worth a share
/// of the machine; counts of a job on which it needs and loads the same are a group, and a set says the group of each.
///
/// Valid: f grows with S, so whoever is in S or joins has its factor beside S, or a greater one.  At these factors what
/// grows from S is a knapsack with a row of processors, of each resource, of traffic; one row alone, or a mix, counts
/// as a fractional one, is a relaxation, and so is its Lagrangian at any price >= 0 of the row.  Terms of who joins add
/// up there, so that a suffix of them bounds each child (Beside::growth).
class Growth {
 public:
  struct Pick {
    int place, group;  // of order(), of groups()
  };
  struct Group {
    int first, last;  // of the choices
  };
  /// Sets whose total load is from `least` to `most`, in capacities of the bandwidth: f is at least what `least` makes
  /// of it, for sets of two and more.
  struct Loads {
    double least = 0, most = kInfinity;
  };
  struct Beside {
    int place;
    double factor, penalty;  // at least; what the set loses by it, at least
    double growth;           // the bound with it, and none before it; where limit() has been asked
  };

  /// `surrogate`: weights of the rows for a mix of them.
  Growth(const Instance& instance, const bounds::Rows& rows, const std::vector<double>& surrogate);

  void price(const std::vector<double>& prices);
  const std::vector<int>& order() const { return order_; }
  const std::vector<Group>& groups(int i) const { return groups_[i]; }

  bool fits(const std::vector<Pick>& set) const;
  std::vector<double> factors(const std::vector<Pick>& set);

  /// Who fits beside the set, from order()[from] on.
  void look_beside(const std::vector<Pick>& set, const std::vector<double>& factors, int from,
                   Loads loads);
  const std::vector<Beside>& beside() const { return beside_; }

  /// A bound on what the set and those beside it, as of look_beside(), may be worth; `enough` at least, where it need not be
  /// sharper.  The second also finds Beside::growth.
  double bound(const std::vector<Pick>& set, const std::vector<double>& factors, Loads loads,
               double enough);
  double limit(const std::vector<Pick>& set, const std::vector<double>& factors, Loads loads);

  /// The same with nobody beside it: a bound on the worth of the set.
  double alone(const std::vector<Pick>& set, const std::vector<double>& factors);

  std::int64_t steps() const { return steps_; }

 private:
  struct Step {
    double value, weight;
  };
  // Upper hull of (weight, value) over counts, as steps of falling density from its first point.
  struct Hull {
    double value = 0, weight = 0;
    std::vector<Step> steps;
  };
  // A knapsack of one row: what is in for sure, what may be.
  struct Knapsack {
    double sum = 0, room = 0;
    std::vector<Step> steps;
    std::vector<int> of;  // the begin of each of those beside, in steps; and the end
  };

  std::vector<Group> groups_of(int i) const;
  double weight(std::size_t w, int i, const Choice& c) const;
  bool is_load(std::size_t w) const { return w == weights_.size(); }
  std::size_t knapsacks(Loads loads) const {
    return weights_.size() + (loads.most < kInfinity ? 1 : 0);
  }
  Hull hull(std::size_t w, int i, Group group, bool from_nothing) const;
  bool fits(int i, const Group& group, int procs) const;
  int most_that_join();
  void find_penalties(const std::vector<Pick>& set, const std::vector<double>& factors, int room);
  double factor_beside(const std::vector<Pick>& set, int i) const;
  void fill(std::size_t w, const std::vector<Pick>& set, const std::vector<double>& factors,
            Loads loads, bool with_beside);
  double at_price(double price);
  double optimum(double* price = nullptr);

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::Rows& rows_;
  std::vector<std::vector<double>> weights_;  // of rows, of several knapsacks; then that of loads
  std::vector<std::vector<Group>> groups_;
  std::vector<double> prices_;
  std::vector<int> order_;
  std::vector<std::vector<Hull>> joining_;              // by knapsack and place
  std::vector<std::vector<std::vector<Hull>>> joined_;  // and group
  std::vector<double> price_of_;                        // of each knapsack, as it was last
  std::vector<Beside> beside_;
  std::vector<double> used_, needs_;
  Knapsack knapsack_;
  std::vector<Step> sorted_;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
