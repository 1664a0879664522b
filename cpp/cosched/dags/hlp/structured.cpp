#include "cosched/dags/hlp/structured.hpp"

#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/hlp/slice_model.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::hlp {
namespace {

// Tighter than the guarantee of hlp_so_far(), so that there is room for rounding errors.
constexpr double kGap = 0.1 * kExactTolerance;

// Weight of the loads, beside 1 of the path, in queries where the path comes first.
constexpr double kPathFirstLoadWeight = 1e-5;

// An allocation with its measures, computed on the graph itself, because most instances are solved
// before building an event network would pay.
struct MeasuredAllocation {
  Table x;
  std::vector<double> duration, completion, loads;
  double path = 0;

  double value() const { return std::max(path, *std::max_element(loads.begin(), loads.end())); }
};

MeasuredAllocation measure_allocation(const Instance& instance, Table x) {
  MeasuredAllocation measured;
  measured.loads = fractional_loads(instance, x);
  measured.duration = fractional_durations(instance, x);
  measured.completion = compute_earliest_ends(instance.graph(), measured.duration);
  measured.path = *std::max_element(measured.completion.begin(), measured.completion.end());
  measured.x = std::move(x);
  return measured;
}

RelaxedPoint as_relaxed_point(const MeasuredAllocation& candidate) {
  RelaxedPoint point{candidate.x, candidate.loads};
  point.measures.push_back(candidate.path);
  return point;
}

HlpSolution make_solution(const Instance& instance, MeasuredAllocation allocation,
                          opt::DualProof proof) {
  HlpSolution solution;
  solution.value = allocation.value();
  solution.completion = std::move(allocation.completion);
  solution.x = std::move(allocation.x);
  solution.certificate = {std::move(proof.weights), std::move(proof.task_flow),
                          std::move(proof.edge_flow)};
  solution.certificate.task_flow.resize(instance.tasks(), 0.0);
  return solution;
}

Table fastest_types(const Instance& instance) {
  Table x(instance.tasks(), instance.types());
  for (int task = 0; task < instance.tasks(); ++task) x(task, instance.fastest_type(task)) = 1;
  return x;
}

// Weights at which the path is minimised first, and the loads among the allocations that do so.
std::vector<double> path_first_weights(const std::vector<double>& load_weights) {
  std::vector<double> weights;
  for (const double weight : load_weights) weights.push_back(kPathFirstLoadWeight * weight);
  weights.push_back(1);
  return weights;
}

// Allocations with a longest path of at most `path`, and a mixture whose loads keep within it too.
struct WithinPath {
  std::vector<RelaxedPoint> points;
  std::optional<Table> x;  // none: there is no such mixture, or it was not found
};

// For instances where the longest path of the fastest types is LP*, so that only an allocation is
// missing: a matrix game over the loads with the path fixed.  Its queries differ in the proportions
// of the loads alone, so the flow changes little from query to query; the outer problem would weigh
// the path down and up again.
WithinPath find_within_path(TradeOff& trade_off, std::vector<double> load_weights, double path,
                            const StructuredParams& params) {
  const int types = static_cast<int>(load_weights.size());
  WithinPath within;
  opt::MatrixGame game(types);
  for (int round = 0; round < params.within_path_rounds; ++round) {
    RelaxedPoint point = trade_off.minimise(path_first_weights(load_weights)).point;
    const std::vector<double> loads(point.measures.begin(), point.measures.end() - 1);
    const bool is_within = leq(point.measures.back(), path, kGap);
    const double least = std::inner_product(loads.begin(), loads.end(), load_weights.begin(), 0.0);
    within.points.push_back(std::move(point));
    if (!is_within || !leq(least, path, kGap)) return within;
    game.add_column(loads);
    game.solve();
    if (leq(game.value(), path, kGap)) {
      within.x = Table(within.points[0].x.rows(), types);
      for (std::size_t t = 0; t < within.points.size(); ++t)
        if (game.combination()[t] > 0) within.x->add(game.combination()[t], within.points[t].x);
      return within;
    }
    for (int q = 0; q < types; ++q)
      load_weights[q] = params.old_weight_share * load_weights[q] +
                        (1 - params.old_weight_share) * game.prices()[q];
  }
  return within;
}

// One unit of flow along a longest path of the candidate.
opt::DualProof prove_by_path(const Instance& instance, const MeasuredAllocation& candidate) {
  opt::DualProof proof;
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

// The steps 1 to 3 of structured.hpp, with the best allocation and the best proof so far.  run()
// may be left by an exception of check_interrupt().
class StructuredMethod {
 public:
  StructuredMethod(const Instance& instance, const StructuredParams& params)
      : params_(params),
        instance_(instance),
        fastest_(measure_allocation(instance, fastest_types(instance))) {
    best_ = fastest_;
    proof_ = prove_by_path(instance, fastest_);
  }

  void run() {
    const AreaOptimum area = balance_loads(instance_);
    opt::DualProof by_area;
    by_area.bound = area.value;
    by_area.weights = area.weights;
    by_area.weights.push_back(0);
    MeasuredAllocation balanced_loads = measure_allocation(instance_, area.x);
    if (leq(balanced_loads.path, area.value, kGap)) {
      best_ = std::move(balanced_loads);
      proof_ = std::move(by_area);
      return;
    }
    if (leq(fastest_.value(), fastest_.path, kGap)) return;
    if (balanced_loads.value() < best_.value()) best_ = balanced_loads;
    const bool path_decides = leq(area.value, fastest_.path, kGap);
    if (by_area.bound > proof_.bound) proof_ = by_area;
    trade_off_.emplace(instance_);
    std::optional<SliceModel> model;
    if (trade_off_->network().links.size() >= params_.many_links) model.emplace(instance_);
    outer_problem_.emplace(*trade_off_, instance_.types() + 1);
    outer_problem_->offer_proof(std::move(by_area));
    if (path_decides) outer_problem_->offer_proof(proof_);
    outer_problem_->add_point(as_relaxed_point(balanced_loads));
    outer_problem_->add_point(as_relaxed_point(fastest_));
    const std::vector<double> start = opt::with_path(area.weights, 1.0 / 3);
    const bool path_leads =
        path_decides && (!model || outer_problem_->is_led_by_path(*model, start));
    if (path_leads && find_allocation_within_path(area.weights)) return;
    if (!model)
      outer_problem_->search_path_weight(area.weights);
    else if (outer_problem_->follow_model(*model, start, path_decides && !path_leads) &&
             find_allocation_within_path(area.weights))
      return;
    outer_problem_->close_gap(kGap);
  }

  HlpSolution solution() {
    if (outer_problem_) {
      best_ = measure_allocation(instance_, outer_problem_->combination());
      proof_ = outer_problem_->proof();
      if (proof_.is_in_network)
        proof_.edge_flow =
            opt::expand_flow(trade_off_->network(), proof_.task_flow, proof_.link_flow);
    }
    HlpSolution solution = make_solution(instance_, std::move(best_), std::move(proof_));
    if (outer_problem_) solution.flows = outer_problem_->query_count();
    return solution;
  }

 private:
  // Looks for an allocation that keeps the longest path of the fastest types; where there is one,
  // that path is LP*, and the allocation becomes the best.  Returns whether it was found.
  bool find_allocation_within_path(const std::vector<double>& load_weights) {
    WithinPath within = find_within_path(*trade_off_, load_weights, fastest_.path, params_);
    if (within.x) {
      best_ = measure_allocation(instance_, *std::move(within.x));
      outer_problem_.reset();
      return true;
    }
    for (RelaxedPoint& point : within.points) outer_problem_->add_point(std::move(point));
    return false;
  }

  StructuredParams params_;
  const Instance& instance_;
  MeasuredAllocation fastest_, best_;
  opt::DualProof proof_;
  std::optional<TradeOff> trade_off_;
  std::optional<opt::OuterProblem> outer_problem_;
};

HlpSolution solve_so_far(const Instance& instance, const StructuredParams& params) {
  StructuredMethod method(instance, params);
  std::string failure;
  const bool in_time = finishes_within(std::nullopt, [&] {
    try {
      method.run();
    } catch (const SolverError& error) {
      failure = std::string("hlp: ") + error.what();
    }
  });
  HlpSolution solution = without_deadline([&] { return method.solution(); });
  solution.complete = in_time && failure.empty();
  solution.failure = std::move(failure);
  return solution;
}

}  // namespace

HlpSolution hlp_so_far(const Instance& instance, const StructuredParams& params) {
  return at_ordinary_scale(instance,
                           [&](const Instance& scaled) { return solve_so_far(scaled, params); });
}

}  // namespace cosched::dags::hlp
