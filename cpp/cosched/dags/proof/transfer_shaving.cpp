#include "cosched/dags/proof/transfer_shaving.hpp"

namespace cosched::dags::proof {
namespace {

class Shaver {
 public:
  Shaver(TransferWindows& windows, const ShavingBudget& budget, bool uses_clusters)
      : windows_(windows),
        costs_(windows.costs()),
        budget_(budget),
        uses_clusters_(uses_clusters),
        steps_before_(windows.steps()),
        task_choices_(static_cast<std::size_t>(windows.instance().tasks()) * costs_.types()),
        closed_when_tried_(
            task_choices_ + static_cast<std::size_t>(costs_.edges()) * costs_.placements(), -1) {}

  ShavingResult run(const std::vector<TransferGuess>& likely_choices) {
    for (bool any_closed = true; any_closed && !result_.is_refuted;) {
      any_closed = false;
      for (const TransferGuess& guess : likely_choices)
        if (!result_.is_refuted && is_undecided(guess)) any_closed |= close_if_refuted(guess);
    }
    tries_in_vain_ = 0;
    for (bool any_tried = true; any_tried && !is_done();) {
      any_tried = false;
      for (const TransferGuess& guess : tightest_first()) {
        if (is_done()) break;
        if (!is_worth_a_try(guess)) continue;
        any_tried = true;
        if (!close_if_refuted(guess)) closed_when_tried_[choice_number(guess)] = closed_count();
      }
    }
    return std::move(result_);
  }

 private:
  bool is_done() const {
    return result_.is_refuted || tries_in_vain_ > budget_.max_tries_in_vain ||
           static_cast<double>(windows_.steps() - steps_before_) > budget_.max_steps;
  }
  int closed_count() const { return static_cast<int>(result_.closed_choices.size()); }
  std::size_t choice_number(const TransferGuess& guess) const {
    return guess.is_edge
               ? task_choices_ + static_cast<std::size_t>(guess.item) * costs_.placements() +
                     guess.choice
               : static_cast<std::size_t>(guess.item) * costs_.types() + guess.choice;
  }

  // The choices that are worth a try, by increasing slack: those of least slack are refuted most
  // often.
  std::vector<TransferGuess> tightest_first() const {
    std::vector<std::pair<double, TransferGuess>> by_slack;
    for (int task = 0; task < windows_.instance().tasks(); ++task)
      for (int type = 0; type < costs_.types(); ++type)
        if (const TransferGuess guess{false, task, type}; is_worth_a_try(guess))
          by_slack.emplace_back(windows_.slack(task, type), guess);
    for (int edge = 0; edge < costs_.edges(); ++edge)
      for (int placement = 0; placement < costs_.placements(); ++placement)
        if (const TransferGuess guess{true, edge, placement}; is_worth_a_try(guess))
          by_slack.emplace_back(windows_.slack(EdgePlacement{edge, placement}), guess);
    std::stable_sort(by_slack.begin(), by_slack.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<TransferGuess> guesses;
    for (const auto& [slack, guess] : by_slack) guesses.push_back(guess);
    return guesses;
  }

  // Whether a choice is undecided, was not tried since the last one was closed, and is not the same
  // as a type of an end of its edge.
  bool is_worth_a_try(const TransferGuess& guess) const {
    return closed_when_tried_[choice_number(guess)] != closed_count() && is_undecided(guess) &&
           !(guess.is_edge && implies_type(guess.item, guess.choice));
  }

  // Whether a placement is the only open one for the type of one of its ends: then trying it is the
  // same as trying that type.
  bool implies_type(int edge, int placement) const {
    const int q = costs_.first_type(placement), r = costs_.second_type(placement);
    int from = 0, to = 0;
    for (int other = 0; other < costs_.placements(); ++other) {
      if (!windows_.is_placement_open(edge, other)) continue;
      from += costs_.first_type(other) == q;
      to += costs_.second_type(other) == r;
    }
    return from == 1 || to == 1;
  }

  // Whether a choice is open, and not the only one of its task or edge.
  bool is_undecided(const TransferGuess& guess) const {
    if (guess.is_edge)
      return windows_.is_placement_open(guess.item, guess.choice) &&
             count_open_placements(guess.item) > 1;
    return windows_.is_open(guess.item, guess.choice) && windows_.only_type(guess.item) < 0;
  }

  int count_open_placements(int edge) const {
    int count = 0;
    for (int placement = 0; placement < costs_.placements(); ++placement)
      count += windows_.is_placement_open(edge, placement);
    return count;
  }

  void close_choice(const TransferGuess& guess) {
    result_.closed_choices.push_back(guess);
    if (guess.is_edge)
      windows_.close_placement({guess.item, guess.choice});
    else
      windows_.close_type(guess.item, guess.choice);
  }

  // Whether pruning refutes T when the choice is the only one of its task or edge.
  bool is_refuted_alone(const TransferGuess& guess) {
    windows_.set_checkpoint();
    if (guess.is_edge)
      windows_.keep_only_placement({guess.item, guess.choice});
    else
      windows_.keep_only_type(guess.item, guess.choice);
    const bool is_possible = prune_with_clusters(windows_, kSearchSlack, uses_clusters_);
    windows_.restore_checkpoint();
    return !is_possible;
  }

  // Closes a choice that is refuted alone, and prunes; returns whether it was.
  bool close_if_refuted(const TransferGuess& guess) {
    ++tries_in_vain_;
    if (!is_refuted_alone(guess)) return false;
    tries_in_vain_ = 0;
    close_choice(guess);
    result_.is_refuted = !prune_with_clusters(windows_, kSearchSlack, uses_clusters_);
    return true;
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  ShavingBudget budget_;
  bool uses_clusters_;
  std::int64_t steps_before_;
  std::size_t task_choices_;  // number of (task, type): choices of edges are numbered after them
  std::vector<int>
      closed_when_tried_;  // of each choice: closed_count() when it was tried in vain; -1: never
  int tries_in_vain_ = 0;  // since a choice was closed
  ShavingResult result_;
};

}  // namespace

ShavingResult shave(TransferWindows& windows, const ShavingBudget& budget, bool uses_clusters,
                    const std::vector<TransferGuess>& likely_choices) {
  return Shaver(windows, budget, uses_clusters).run(likely_choices);
}

}  // namespace cosched::dags::proof
