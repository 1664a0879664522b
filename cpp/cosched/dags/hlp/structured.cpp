#include "cosched/dags/hlp/structured.hpp"

#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/trade_off.hpp"

namespace cosched::dags::hlp {
namespace {

// Tighter than promised, so that the sums of rounding errors still fit.
constexpr double kGap = 0.1 * kExactTolerance;

// Weight of the loads against the path's 1 where the path comes first.
constexpr double kHardly = 1e-5;

// An allocation with its measures, on the graph itself: most instances are solved before an
// event network pays.
struct Candidate {
  Table x;
  std::vector<double> duration, completion, loads;
  double path = 0;

  double value() const { return std::max(path, *std::max_element(loads.begin(), loads.end())); }
};

Candidate make_candidate(const Instance& instance, Table x) {
  Candidate found;
  found.loads = fractional_loads(instance, x);
  found.duration = fractional_durations(instance, x);
  found.completion = earliest_ends(instance.graph(), found.duration);
  found.path = *std::max_element(found.completion.begin(), found.completion.end());
  found.x = std::move(x);
  return found;
}

Relaxed relaxed(const Candidate& candidate) {
  Relaxed point{candidate.x, candidate.loads};
  point.measures.push_back(candidate.path);
  return point;
}

Solution finish(const Instance& instance, Candidate found, opt::Proof proof) {
  Solution solution;
  solution.value = found.value();
  solution.completion = std::move(found.completion);
  solution.x = std::move(found.x);
  solution.certificate = {std::move(proof.weights), std::move(proof.task_flow),
                          std::move(proof.edge_flow)};
  solution.certificate.task_flow.resize(instance.tasks(), 0.0);
  return solution;
}

Table fastest_types(const Instance& instance) {
  Table x(instance.tasks(), instance.types());
  for (int task = 0; task < instance.tasks(); ++task) x(task, instance.fastest(task)) = 1;
  return x;
}

// From here on a query of the whole costs so much that a slice of the graph is asked first.
constexpr std::size_t kManyLinks = 100'000;

// The loads give way to the path as far as they can: prices of the path, then of the loads.
std::vector<double> path_first(const std::vector<double>& load_weights) {
  std::vector<double> weights;
  for (const double weight : load_weights) weights.push_back(kHardly * weight);
  weights.push_back(1);
  return weights;
}

// Allocations with a longest path of at most `path`, and a mixture whose loads keep within it too.
struct WithinPath {
  std::vector<Relaxed> points;
  std::optional<Table> x;  // empty: there is none, or it was not found
};

// Where the longest path of the fastest types is the bound already, only its allocation is missing:
// a game over the loads, the path fixed.  Its queries differ in the proportions of the loads alone,
// so the flow stays nearly as it is; the outer problem would weigh the path down and up again.
WithinPath find_within_path(TradeOff& trade_off, std::vector<double> load_weights, double path) {
  constexpr int kRounds = 30;
  constexpr double kStay = 0.7;  // a far jump costs many pivots, and any price will do
  const int types = static_cast<int>(load_weights.size());
  WithinPath found;
  opt::MatrixGame game(types);
  for (int round = 0; round < kRounds; ++round) {
    Relaxed point = trade_off.minimise(path_first(load_weights)).point;
    const std::vector<double> loads(point.measures.begin(), point.measures.end() - 1);
    const bool kept = leq(point.measures.back(), path, kGap);
    const double least = std::inner_product(loads.begin(), loads.end(), load_weights.begin(), 0.0);
    found.points.push_back(std::move(point));
    if (!kept || !leq(least, path, kGap)) return found;
    game.add_column(loads);
    game.solve();
    if (leq(game.value(), path, kGap)) {
      found.x = Table(found.points[0].x.rows(), types);
      for (std::size_t t = 0; t < found.points.size(); ++t)
        if (game.combination()[t] > 0) found.x->add(game.combination()[t], found.points[t].x);
      return found;
    }
    for (int q = 0; q < types; ++q)
      load_weights[q] = kStay * load_weights[q] + (1 - kStay) * game.prices()[q];
  }
  return found;
}

// One unit of flow along a longest path of the candidate.
opt::Proof prove_by_path(const Instance& instance, const Candidate& candidate) {
  opt::Proof proof;
  proof.bound = candidate.path;
  proof.weights.assign(instance.types() + 1, 0.0);
  proof.weights.back() = 1;
  proof.task_flow.assign(instance.tasks(), 0.0);
  const std::vector<double>& end = candidate.completion;
  int task = static_cast<int>(std::max_element(end.begin(), end.end()) - end.begin());
  for (;;) {
    proof.task_flow[task] = 1;
    const auto before = instance.graph().predecessors(task);
    if (before.size() == 0) return proof;
    const int last = *std::max_element(before.begin(), before.end(),
                                       [&](int a, int b) { return end[a] < end[b]; });
    proof.edge_flow.push_back({last, task, 1});
    task = last;
  }
}

// The method, with the best allocation and the best proof so far: run() may be left by an exception
// of check_interrupt().
class Structured {
 public:
  explicit Structured(const Instance& instance)
      : instance_(instance), fastest_(make_candidate(instance, fastest_types(instance))) {
    best_ = fastest_;
    proof_ = prove_by_path(instance, fastest_);
  }

  void run() {
    const AreaOptimum area = balance_loads(instance_);
    opt::Proof by_area;
    by_area.bound = area.value;
    by_area.weights = area.weights;
    by_area.weights.push_back(0);
    Candidate balanced = make_candidate(instance_, area.x);
    if (leq(balanced.path, area.value, kGap)) {
      best_ = std::move(balanced);
      proof_ = std::move(by_area);
      return;
    }
    if (leq(fastest_.value(), fastest_.path, kGap)) return;
    if (balanced.value() < best_.value()) best_ = balanced;
    const bool path_decides = leq(area.value, fastest_.path, kGap);
    if (by_area.bound > proof_.bound) proof_ = by_area;
    trade_off_.emplace(instance_);
    std::optional<SliceModel> model;
    if (trade_off_->network().links.size() >= kManyLinks) model.emplace(instance_);
    outer_.emplace(*trade_off_, instance_.types() + 1);
    outer_->offer(std::move(by_area));
    if (path_decides) outer_->offer(proof_);
    outer_->add(relaxed(balanced));
    outer_->add(relaxed(fastest_));
    const std::vector<double> start = opt::with_path(area.weights, 1.0 / 3);
    const bool path_leads = path_decides && (!model || outer_->path_leads(*model, start));
    if (path_leads && keep_path(area.weights)) return;
    if (!model)
      outer_->weigh_path(area.weights);
    else if (outer_->follow(*model, start, path_decides && !path_leads) && keep_path(area.weights))
      return;
    outer_->run(kGap);
  }

  Solution solution() {
    if (outer_) {
      best_ = make_candidate(instance_, outer_->combination());
      proof_ = outer_->proof();
      if (proof_.in_network)
        proof_.edge_flow =
            opt::expand_flow(trade_off_->network(), proof_.task_flow, proof_.link_flow);
    }
    Solution solution = finish(instance_, std::move(best_), std::move(proof_));
    if (outer_) solution.flows = outer_->flows();
    return solution;
  }

 private:
  // Whether an allocation was found that keeps the longest path of the fastest types, which then is
  // LP*.
  bool keep_path(const std::vector<double>& load_weights) {
    WithinPath within = find_within_path(*trade_off_, load_weights, fastest_.path);
    if (within.x) {
      best_ = make_candidate(instance_, *std::move(within.x));
      outer_.reset();
      return true;
    }
    for (Relaxed& point : within.points) outer_->add(std::move(point));
    return false;
  }

  const Instance& instance_;
  Candidate fastest_, best_;
  opt::Proof proof_;
  std::optional<TradeOff> trade_off_;
  std::optional<opt::OuterProblem> outer_;
};

Solution solve_so_far(const Instance& instance) {
  Structured method(instance);
  std::string failure;
  const bool in_time = finishes_within(std::nullopt, [&] {
    try {
      method.run();
    } catch (const SolverError& error) {
      failure = std::string("hlp: ") + error.what();
    }
  });
  Solution solution = without_deadline([&] { return method.solution(); });
  solution.complete = in_time && failure.empty();
  solution.failure = std::move(failure);
  return solution;
}

}  // namespace

Solution hlp_so_far(const Instance& instance) { return at_ordinary_scale(instance, solve_so_far); }

}  // namespace cosched::dags::hlp
