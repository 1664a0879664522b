#include "cosched/dags/proof/transfer_guesses.hpp"

#include <utility>

#include "cosched/dags/proof/transfer_clusters.hpp"

namespace cosched::dags::proof {
namespace {

class Guesses {
 public:
  Guesses(TransferWindows& windows, double effort, bool clusters)
      : windows_(windows),
        costs_(windows.costs()),
        effort_(effort),
        clusters_(clusters),
        begun_(windows.steps()) {}

  FailedGuesses run(const std::vector<TransferGuess>& first) {
    for (bool changed = true; changed && !failed_.refuted;) {
      changed = false;
      for (const TransferGuess& guess : first)
        if (!failed_.refuted && is_choice(guess)) changed |= close(guess);
    }
    // Until all tasks and edges in a row have closed nothing.
    const int tasks = windows_.instance().tasks(), items = tasks + costs_.edges();
    for (int item = 0, quiet = 0; quiet < items && !done(); item = (item + 1) % items, ++quiet)
      if (item < tasks ? close_types(item) : close_ways(item - tasks)) quiet = -1;
    return std::move(failed_);
  }

 private:
  bool done() const {
    return failed_.refuted || static_cast<double>(windows_.steps() - begun_) > effort_;
  }

  bool close_types(int task) {
    bool any = false;
    for (int type = 0; type < costs_.types() && windows_.only_type(task) < 0 && !failed_.refuted;
         ++type)
      if (windows_.open(task, type)) any |= close({false, task, type});
    return any;
  }

  bool close_ways(int edge) {
    bool any = false;
    for (int way = 0; way < costs_.ways() && !failed_.refuted && open_ways(edge) > 1; ++way)
      if (windows_.way_open(edge, way) && !says_a_type(edge, way)) any |= close({true, edge, way});
    return any;
  }

  // Whether it is the only open way of the type of one of its ends: then it is the guess of that type.
  bool says_a_type(int edge, int way) const {
    const int q = costs_.first_type(way), r = costs_.second_type(way);
    int from = 0, to = 0;
    for (int other = 0; other < costs_.ways(); ++other) {
      if (!windows_.way_open(edge, other)) continue;
      from += costs_.first_type(other) == q;
      to += costs_.second_type(other) == r;
    }
    return from == 1 || to == 1;
  }

  // Whether it is open, and not the only one.
  bool is_choice(const TransferGuess& guess) const {
    if (guess.of_edge)
      return windows_.way_open(guess.item, guess.choice) && open_ways(guess.item) > 1;
    return windows_.open(guess.item, guess.choice) && windows_.only_type(guess.item) < 0;
  }

  int open_ways(int edge) const {
    int count = 0;
    for (int way = 0; way < costs_.ways(); ++way) count += windows_.way_open(edge, way);
    return count;
  }

  void close_open(const TransferGuess& guess) {
    failed_.closed.push_back(guess);
    if (guess.of_edge)
      windows_.close_way({guess.item, guess.choice});
    else
      windows_.close(guess.item, guess.choice);
  }

  // Whether nothing is left with a guess.
  bool fails(const TransferGuess& guess) {
    windows_.mark();
    if (guess.of_edge)
      windows_.keep_only_way({guess.item, guess.choice});
    else
      windows_.keep_only(guess.item, guess.choice);
    const bool left = prune(windows_, kSearchSlack, clusters_);
    windows_.undo();
    return !left;
  }

  // Closes a guess if it fails.
  bool close(const TransferGuess& guess) {
    if (!fails(guess)) return false;
    close_open(guess);
    failed_.refuted = !prune(windows_, kSearchSlack, clusters_);
    return true;
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  double effort_;
  bool clusters_;
  std::int64_t begun_;
  FailedGuesses failed_;
};

}  // namespace

FailedGuesses close_failing_guesses(TransferWindows& windows, double effort, bool clusters,
                                    const std::vector<TransferGuess>& first) {
  return Guesses(windows, effort, clusters).run(first);
}

}  // namespace cosched::dags::proof
