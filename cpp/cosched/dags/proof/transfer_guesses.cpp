#include "cosched/dags/proof/transfer_guesses.hpp"

namespace cosched::dags::proof {
namespace {

using Cluster = std::vector<int>;  // tasks in topological order

// All with two tasks or more of which anything has changed, by their lowest task.
std::vector<Cluster> changed_clusters(TransferWindows& windows) {
  const TypeCosts& costs = windows.costs();
  const int n = windows.instance().tasks();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int task) {
    while (root[task] != task) task = root[task] = root[root[task]];
    return task;
  };
  for (int edge = 0; edge < costs.edges(); ++edge)
    if (windows.binds(edge)) {
      const int a = find(costs.from(edge)), b = find(costs.to(edge));
      root[std::max(a, b)] = std::min(a, b);
    }
  std::vector<char> changed(n, 0);
  for (int task = 0; task < n; ++task) {
    changed[find(task)] |= windows.touched(task);
    windows.settle(task);
  }
  std::vector<Cluster> clusters(n);
  for (const int task : windows.instance().graph().order())
    if (changed[find(task)]) clusters[find(task)].push_back(task);
  clusters.erase(std::remove_if(clusters.begin(), clusters.end(),
                                [](const Cluster& cluster) { return cluster.size() < 2; }),
                 clusters.end());
  windows.count(4LL * (n + costs.edges()));
  return clusters;
}

// What a cluster says if it runs on one type.
class ClusterOnType {
 public:
  ClusterOnType(TransferWindows& windows, const Cluster& cluster, int type, double slack)
      : windows_(windows),
        costs_(windows.costs()),
        cluster_(cluster),
        type_(type),
        units_(costs_.together(type)),
        slack_(slack) {}

  // Raises heads and tails, or closes the type to all of the cluster.  True: something has changed.
  bool bind() {
    const bool everywhere = std::all_of(cluster_.begin(), cluster_.end(),
                                        [&](int task) { return windows_.open(task, type_); });
    if (everywhere && intervals_fit() && (units_ > 1 || pairs_fit())) {
      order(false);
      order(true);
    } else {
      for (const int task : cluster_) changed_ |= windows_.close(task, type_);
    }
    return changed_;
  }

 private:
  double time(int task) const { return windows_.instance().time(task, type_); }
  double head(int task) const { return windows_.head(task, type_); }
  double tail(int task) const { return windows_.tail(task, type_); }
  void lift(int task, double bound, bool backward) {
    changed_ |= windows_.lift(task, type_, bound, backward);
  }
  void count_squares(int steps) {
    windows_.count(static_cast<std::int64_t>(steps) * cluster_.size() * cluster_.size());
  }

  // Whether all that must lie between a head and a latest end fits there.
  bool intervals_fit() {
    std::vector<std::pair<double, int>> ends;  // latest end, task
    for (const int task : cluster_) ends.emplace_back(windows_.makespan() - tail(task), task);
    std::sort(ends.begin(), ends.end());
    count_squares(4);
    for (const int first : cluster_) {
      const double begin = head(first);
      double sum = 0;
      for (const auto& [end, task] : ends) {
        if (head(task) < begin) continue;
        sum += time(task);
        if (sum > units_ * (end - begin + slack_ * windows_.makespan())) return false;
      }
    }
    return true;
  }

  // On one unit: false if two tasks fit in no order.
  bool pairs_fit() {
    const double limit = windows_.makespan() * (1 + slack_);
    count_squares(6);
    const auto fits = [&](int a, int b) {
      return !costs_.reaches(b, a) && head(a) + time(a) + time(b) + tail(b) <= limit;
    };
    for (std::size_t k = 0; k < cluster_.size(); ++k)
      for (std::size_t l = k + 1; l < cluster_.size(); ++l) {
        int a = cluster_[k], b = cluster_[l];
        const bool forward = fits(a, b), backward = fits(b, a);
        if (!forward && !backward) return false;
        if (forward && backward) continue;
        if (backward) std::swap(a, b);
        lift(b, head(a) + time(a), false);
        lift(a, tail(b) + time(b), true);
      }
    return true;
  }

  // Heads (tails) by ancestors (descendants) in the cluster.
  void order(bool backward) {
    std::vector<Load> before;
    count_squares(20);
    for (std::size_t k = 0; k < cluster_.size(); ++k) {
      const int task = cluster_[backward ? cluster_.size() - 1 - k : k];
      before.clear();
      for (const int other : cluster_)
        if (backward ? costs_.reaches(task, other) : costs_.reaches(other, task))
          before.push_back({backward ? tail(other) : head(other), time(other) / units_});
      lift(task, all_done(before), backward);
    }
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  const Cluster& cluster_;
  int type_;
  double units_, slack_;
  bool changed_ = false;
};

class Guesses {
 public:
  Guesses(TransferWindows& windows, const GuessEffort& effort, bool clusters)
      : windows_(windows),
        costs_(windows.costs()),
        effort_(effort),
        clusters_(clusters),
        begun_(windows.steps()),
        types_(static_cast<std::size_t>(windows.instance().tasks()) * costs_.types()),
        tried_(types_ + static_cast<std::size_t>(costs_.edges()) * costs_.ways(), -1) {}

  FailedGuesses run(const std::vector<TransferGuess>& first) {
    for (bool changed = true; changed && !failed_.refuted;) {
      changed = false;
      for (const TransferGuess& guess : first)
        if (!failed_.refuted && is_choice(guess)) changed |= close(guess);
    }
    quiet_ = 0;
    for (bool any = true; any && !done();) {
      any = false;
      for (const TransferGuess& guess : tightest_first()) {
        if (done()) break;
        if (!is_open_question(guess)) continue;
        any = true;
        if (!close(guess)) tried_[number(guess)] = closed();
      }
    }
    return std::move(failed_);
  }

 private:
  bool done() const {
    return failed_.refuted || quiet_ > effort_.patience ||
           static_cast<double>(windows_.steps() - begun_) > effort_.steps;
  }
  int closed() const { return static_cast<int>(failed_.closed.size()); }
  std::size_t number(const TransferGuess& guess) const {
    return guess.of_edge
               ? types_ + static_cast<std::size_t>(guess.item) * costs_.ways() + guess.choice
               : static_cast<std::size_t>(guess.item) * costs_.types() + guess.choice;
  }

  // What may fail, by the time that it leaves: what leaves the least fails the most often.
  std::vector<TransferGuess> tightest_first() const {
    std::vector<std::pair<double, TransferGuess>> found;
    for (int task = 0; task < windows_.instance().tasks(); ++task)
      for (int type = 0; type < costs_.types(); ++type)
        if (const TransferGuess guess{false, task, type}; is_open_question(guess))
          found.emplace_back(windows_.spare(task, type), guess);
    for (int edge = 0; edge < costs_.edges(); ++edge)
      for (int way = 0; way < costs_.ways(); ++way)
        if (const TransferGuess guess{true, edge, way}; is_open_question(guess))
          found.emplace_back(windows_.spare(EdgeWay{edge, way}), guess);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<TransferGuess> guesses;
    for (const auto& [spare, guess] : found) guesses.push_back(guess);
    return guesses;
  }

  // Whether it is open, not the only one, not tried since the last one failed, and no other says
  // the same.
  bool is_open_question(const TransferGuess& guess) const {
    return tried_[number(guess)] != closed() && is_choice(guess) &&
           !(guess.of_edge && says_a_type(guess.item, guess.choice));
  }

  // Whether it is the only open way of the type of one of its ends: then it is the guess of that
  // type.
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
    ++quiet_;
    if (!fails(guess)) return false;
    quiet_ = 0;
    close_open(guess);
    failed_.refuted = !prune(windows_, kSearchSlack, clusters_);
    return true;
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  GuessEffort effort_;
  bool clusters_;
  std::int64_t begun_;
  std::size_t types_;       // numbers of types, before those of ways
  std::vector<int> tried_;  // of each guess: how many had failed when it was tried and did not
  int quiet_ = 0;           // tried since the last one failed
  FailedGuesses failed_;
};

}  // namespace

bool prune(TransferWindows& windows, double slack, bool clusters) {
  for (bool changed = true; changed;) {
    if (!windows.prune(slack)) return false;
    changed = false;
    if (!clusters || !windows.costs().any()) break;
    for (const Cluster& cluster : changed_clusters(windows))
      for (int type = 0; type < windows.costs().types(); ++type)
        changed |= ClusterOnType(windows, cluster, type, slack).bind();
  }
  return true;
}

FailedGuesses close_failing_guesses(TransferWindows& windows, const GuessEffort& effort,
                                    bool clusters, const std::vector<TransferGuess>& first) {
  return Guesses(windows, effort, clusters).run(first);
}

}  // namespace cosched::dags::proof
