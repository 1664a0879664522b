// Fair share as a rank: Fair Tree of priority/multifactor (RULES.md 13.4).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class FairTreeRanks {
 public:
  FairTreeRanks(const std::vector<Association>& all, const std::vector<double>& usage)
      : associations_(all),
        usage_(usage),
        children_(all.size()),
        shares_(all.size()),
        level_fair_shares_(all.size()),
        factors_(all.size()) {
    for (int k = 1; k < static_cast<int>(all.size()); ++k) {
      user_count_ += association(k).is_user;
      if (association(k).uses_parent_shares() && !association(k).is_user)
        continue;  // its children are the next one's
      const auto parent = shares_parent(k);
      children_[parent].push_back(k);
      shares_[parent] += association(k).uses_parent_shares() ? 0 : association(k).shares;
    }
    remaining_users_ = rank_ = user_count_;
  }

  std::vector<double> factors() && {
    if (user_count_ > 0) rank_children(0, false);
    return std::move(factors_);
  }

 private:
  const Association& association(int k) const { return associations_[k]; }

  // The first account above that has shares of its own, or the root.
  std::size_t shares_parent(int k) const {
    int parent = association(k).parent;
    while (parent > 0 && association(parent).uses_parent_shares())
      parent = association(parent).parent;
    return static_cast<std::size_t>(parent);
  }

  // Its share of what its parent has, over its part of what was used there; Fairshare=parent: the
  // first.
  double level_fair_share(int k) const {
    if (association(k).uses_parent_shares()) return std::numeric_limits<double>::infinity();
    const auto parent = shares_parent(k);
    if (association(k).shares <= 0) return 0;
    const double used = usage_[k], all_used = usage_[parent];
    if (used <= 0 || all_used <= 0) return std::numeric_limits<double>::infinity();
    return association(k).shares / shares_[parent] / (used / all_used);
  }

  // `tied`: the account is as good as the one before it, and its first user inherits the rank.
  void rank_children(int account, bool tied) {
    std::vector<int>& own = children_[account];
    for (const int k : own) level_fair_shares_[k] = level_fair_share(k);
    std::stable_sort(own.begin(), own.end(), [&](int a, int b) {
      const double x = level_fair_shares_[a], y = level_fair_shares_[b];
      return x != y ? x > y : association(a).is_user > association(b).is_user;
    });
    for (std::size_t n = 0; n < own.size(); ++n) {
      const auto k = static_cast<std::size_t>(own[n]);
      if (n > 0) tied = level_fair_shares_[k] == level_fair_shares_[own[n - 1]];
      if (!associations_[k].is_user) {
        rank_children(own[n], tied);
        continue;
      }
      if (!tied) rank_ = remaining_users_;
      factors_[k] = static_cast<double>(rank_) / user_count_;
      --remaining_users_;
    }
  }

  const std::vector<Association>& associations_;
  const std::vector<double>& usage_;
  std::vector<std::vector<int>> children_;
  std::vector<double> shares_, level_fair_shares_, factors_;
  int user_count_ = 0, remaining_users_ = 0, rank_ = 0;
};

/// The factor of each association, 0..1 (of accounts: 0), for its usage so far.  Association 0 is
/// the root; a parent comes before its children.  O(n log n).
inline std::vector<double> fair_tree(const std::vector<Association>& all,
                                     const std::vector<double>& usage) {
  return FairTreeRanks(all, usage).factors();
}

}  // namespace cosched::slurm
