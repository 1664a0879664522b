// Fair share as a rank: Fair Tree of priority/multifactor (RULES.md 13.4).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class FairTreeRanks {
 public:
  FairTreeRanks(const std::vector<Association>& all, const std::vector<double>& usage)
      : all_(all),
        usage_(usage),
        children_(all.size()),
        shares_(all.size()),
        level_(all.size()),
        factor_(all.size()) {
    for (int k = 1; k < static_cast<int>(all.size()); ++k) {
      users_ += of(k).user;
      if (of(k).of_parent() && !of(k).user) continue;  // its children are the next one's
      const auto parent = above(k);
      children_[parent].push_back(k);
      shares_[parent] += of(k).of_parent() ? 0 : of(k).shares;
    }
    left_ = rank_ = users_;
  }

  std::vector<double> all() && {
    if (users_ > 0) walk(0, false);
    return std::move(factor_);
  }

 private:
  const Association& of(int k) const { return all_[k]; }

  // The first account above that has shares of its own, or the root.
  std::size_t above(int k) const {
    int parent = of(k).parent;
    while (parent > 0 && of(parent).of_parent()) parent = of(parent).parent;
    return static_cast<std::size_t>(parent);
  }

  // Its share of what its parent has, over its part of what was used there; Fairshare=parent: the
  // first.
  double level(int k) const {
    if (of(k).of_parent()) return std::numeric_limits<double>::infinity();
    const auto parent = above(k);
    if (of(k).shares <= 0) return 0;
    const double used = usage_[k], all_used = usage_[parent];
    if (used <= 0 || all_used <= 0) return std::numeric_limits<double>::infinity();
    return of(k).shares / shares_[parent] / (used / all_used);
  }

  // `tied`: the account is as good as the one before it, and its first user inherits the rank.
  void walk(int account, bool tied) {
    std::vector<int>& own = children_[account];
    for (const int k : own) level_[k] = level(k);
    std::stable_sort(own.begin(), own.end(), [&](int a, int b) {
      const double x = level_[a], y = level_[b];
      return x != y ? x > y : of(a).user > of(b).user;
    });
    for (std::size_t n = 0; n < own.size(); ++n) {
      const auto k = static_cast<std::size_t>(own[n]);
      if (n > 0) tied = level_[k] == level_[own[n - 1]];
      if (!all_[k].user) {
        walk(own[n], tied);
        continue;
      }
      if (!tied) rank_ = left_;
      factor_[k] = static_cast<double>(rank_) / users_;
      --left_;
    }
  }

  const std::vector<Association>& all_;
  const std::vector<double>& usage_;
  std::vector<std::vector<int>> children_;
  std::vector<double> shares_, level_, factor_;
  int users_ = 0, left_ = 0, rank_ = 0;
};

/// The factor of each association, 0..1 (of accounts: 0), for its usage so far.  Association 0 is
/// the root; a parent comes before its children.  O(n log n).
inline std::vector<double> fair_tree(const std::vector<Association>& all,
                                     const std::vector<double>& usage) {
  return FairTreeRanks(all, usage).all();
}

}  // namespace cosched::slurm
