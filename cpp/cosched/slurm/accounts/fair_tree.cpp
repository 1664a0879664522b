#include "cosched/slurm/accounts/fair_tree.hpp"

namespace cosched::slurm {
namespace {

class FairTree {
 public:
  FairTree(const std::vector<Association>& associations, const std::vector<double>& usage);

  std::vector<double> factors() &&;

 private:
  const Association& association(int number) const { return associations_[number]; }
  std::size_t shares_parent(int number) const;
  double level_fair_share(int number) const;
  void rank_children(int account, bool is_tied);

  const std::vector<Association>& associations_;
  const std::vector<double>& usage_;
  std::vector<std::vector<int>> children_;  // by account
  std::vector<double> child_shares_;        // of all children, by account
  std::vector<double> level_fair_shares_;   // LF = S / U of sshare, by association
  std::vector<double> factors_;             // by association
  int user_count_ = 0;
  int remaining_users_ = 0;
  int rank_ = 0;
};

FairTree::FairTree(const std::vector<Association>& associations, const std::vector<double>& usage)
    : associations_(associations),
      usage_(usage),
      children_(associations.size()),
      child_shares_(associations.size()),
      level_fair_shares_(associations.size()),
      factors_(associations.size()) {
  for (int number = 1; number < static_cast<int>(associations.size()); ++number) {
    const Association& child = association(number);
    if (child.is_user) ++user_count_;
    // The children of an account with Fairshare=parent are those of the account above.
    if (child.uses_parent_shares() && !child.is_user) continue;
    const std::size_t parent = shares_parent(number);
    children_[parent].push_back(number);
    child_shares_[parent] += child.uses_parent_shares() ? 0 : child.shares;
  }
  remaining_users_ = user_count_;
  rank_ = user_count_;
}

std::vector<double> FairTree::factors() && {
  if (user_count_ > 0) rank_children(0, false);
  return std::move(factors_);
}

// The first account above that has shares of its own, or the root.
std::size_t FairTree::shares_parent(int number) const {
  int parent = association(number).parent;
  while (parent > 0 && association(parent).uses_parent_shares())
    parent = association(parent).parent;
  return static_cast<std::size_t>(parent);
}

// The association's part of its parent's shares over its part of the parent's usage.  With
// Fairshare=parent it is infinite.
double FairTree::level_fair_share(int number) const {
  constexpr double kUnused = std::numeric_limits<double>::infinity();
  if (association(number).uses_parent_shares()) return kUnused;
  const std::size_t parent = shares_parent(number);
  if (association(number).shares <= 0) return 0;
  if (usage_[number] <= 0 || usage_[parent] <= 0) return kUnused;
  return association(number).shares / child_shares_[parent] / (usage_[number] / usage_[parent]);
}

// Ranks the users below the account.  `is_tied`: the account has the level fair share of the one
// before it, and its first user inherits the rank.
void FairTree::rank_children(int account, bool is_tied) {
  std::vector<int>& children = children_[account];
  for (const int child : children) level_fair_shares_[child] = level_fair_share(child);
  std::stable_sort(children.begin(), children.end(), [&](int a, int b) {
    if (level_fair_shares_[a] != level_fair_shares_[b])
      return level_fair_shares_[a] > level_fair_shares_[b];
    return association(a).is_user > association(b).is_user;
  });
  for (std::size_t n = 0; n < children.size(); ++n) {
    const int child = children[n];
    if (n > 0) is_tied = level_fair_shares_[child] == level_fair_shares_[children[n - 1]];
    if (!association(child).is_user) {
      rank_children(child, is_tied);
      continue;
    }
    if (!is_tied) rank_ = remaining_users_;
    factors_[child] = static_cast<double>(rank_) / user_count_;
    --remaining_users_;
  }
}

}  // namespace

std::vector<double> fair_tree(const std::vector<Association>& associations,
                              const std::vector<double>& usage) {
  return FairTree(associations, usage).factors();
}

}  // namespace cosched::slurm
