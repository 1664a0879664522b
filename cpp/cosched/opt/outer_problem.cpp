#include "cosched/opt/outer_problem.hpp"

namespace cosched::opt {

std::vector<double> with_path(const std::vector<double>& load_weights, double path) {
  std::vector<double> weights;
  for (const double weight : load_weights) weights.push_back((1 - path) * weight);
  weights.push_back(path);
  return weights;
}

void OuterProblem::add_point(RelaxedPoint point) {
  game_.add_column(point.measures);
  measures_.push_back(std::move(point.measures));
  points_.push_back(std::move(point.x));
  game_.solve();
}

void OuterProblem::search_path_weight(const std::vector<double>& load_weights) {
  double path = 1.0 / 3;
  for (int round = 0; round < params_.path_weight_rounds; ++round) {
    evaluate(with_path(load_weights, path));
    MatrixGame line(2);
    for (const std::vector<double>& measures : measures_)
      line.add_column(
          {std::inner_product(load_weights.begin(), load_weights.end(), measures.begin(), 0.0),
           measures.back()});
    line.solve();
    if (leq(line.value(), proof_.bound, params_.path_weight_gap)) return;
    path = line.prices()[1];
  }
}

bool OuterProblem::follow_model(SurrogateModel& model, std::vector<double> weights,
                                bool stop_at_path) {
  std::vector<double> last_step;
  double damping = 1;
  for (int round = 1;; ++round) {
    evaluate(weights);
    if (gap() < params_.model_gap || round == params_.model_rounds) return false;
    model.correct(weights, measures_.back());
    std::vector<double> step = model.best_weights(measures_, weights, 0.1 * params_.model_gap);
    if (stop_at_path && step.back() > params_.dominating_path_weight) return true;
    for (std::size_t r = 0; r < step.size(); ++r) step[r] -= weights[r];
    if (!last_step.empty()) damping = aitken(damping, last_step, step);
    for (std::size_t r = 0; r < step.size(); ++r) weights[r] += damping * step[r];
    last_step = std::move(step);
  }
}

void OuterProblem::close_gap(double gap) {
  double smoothing = 1;  // falls to 0 while smoothed weights cut nothing off
  for (int round = 0; round < params_.max_rounds; ++round) {
    if (leq(game_.value(), proof_.bound, gap)) return;
    const double value = game_.value(), bound = proof_.bound;
    evaluate(next_weights(smoothing));
    const bool has_progress = proof_.bound > bound || game_.value() < value * (1 - kSumTolerance);
    if (!has_progress && smoothing == 0) throw SolverError("the column generation stalls");
    constexpr double kLeastSmoothing = 0.1;
    const double less_smoothing = smoothing < kLeastSmoothing ? 0 : smoothing / 2;
    smoothing = has_progress ? 1 : less_smoothing;
  }
  throw SolverError("the column generation does not end");
}

Table OuterProblem::combination() const {
  Table x(points_.front().rows(), points_.front().cols());
  for (std::size_t t = 0; t < points_.size(); ++t)
    if (game_.combination()[t] > 0) x.add(game_.combination()[t], points_[t]);
  return x;
}

double OuterProblem::distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t r = 0; r < a.size(); ++r) sum += std::abs(a[r] - b[r]);
  return sum;
}

// Relaxation of a fixed-point iteration by its last two steps (Aitken): a model that goes too far
// each time, and back, is followed part of the way.  At most the whole way.
double OuterProblem::aitken(double damping, const std::vector<double>& before,
                            const std::vector<double>& step) {
  double along = 0, squared = 0;
  for (std::size_t r = 0; r < step.size(); ++r) {
    const double change = step[r] - before[r];
    along += before[r] * change;
    squared += change * change;
  }
  constexpr double kLeastDamping = 0.2;  // of the way: two steps alone are no reason to stand still
  return squared > 0 ? std::clamp(-damping * along / squared, kLeastDamping, 1.0) : damping;
}

// Share of the best weights so far in the next query.  A far jump costs many pivots, so
// stay close while the prices are still wild (measured on the Chameleon graphs).  At the end
// a query leaves the tree nearly as it is: the prices are exact.
double OuterProblem::smoothing_at(double gap) {
  struct Smoothing {
    double least_gap, share;
  };
  constexpr Smoothing kSmoothings[] = {{1e-2, 0.93}, {1e-4, 0.85}, {1e-7, 0.3}};
  for (const Smoothing& smoothing : kSmoothings)
    if (gap > smoothing.least_gap) return smoothing.share;
  return 0;
}

void OuterProblem::evaluate(const std::vector<double>& weights) {
  WeightedRelaxation::RelaxationOptimum optimum = relaxation_.minimise(weights);
  queries_.push_back({weights, optimum.bound});
  if (optimum.bound > proof_.bound) {
    proof_ = DualProof();
    proof_.bound = optimum.bound;
    proof_.weights = weights;
    proof_.is_in_network = weights.back() > 0;
    if (proof_.is_in_network) {
      proof_.task_flow = relaxation_.task_flow();
      proof_.link_flow = relaxation_.link_flow();
    }
  }
  add_point(std::move(optimum.point));
}

// How far from the best weights better ones may be.  Bounds fall with the square of the distance
// at least as fast as they did at the weights asked so far, and none can be more than the gap
// above the best.
double OuterProblem::search_radius() const {
  double curvature = kInfinity;
  for (const QueryResult& query : queries_)
    if (query.bound < proof_.bound) {
      const double step = distance(query.weights, proof_.weights);
      curvature = std::min(curvature, (1 - query.bound / proof_.bound) / (step * step));
    }
  return curvature < kInfinity ? std::sqrt(gap() / curvature) : kInfinity;
}

std::vector<double> OuterProblem::next_weights(double smoothing) const {
  std::vector<double> weights = game_.prices();
  double share = 1 - smoothing * smoothing_at(gap());
  const double step = distance(weights, proof_.weights);
  if (smoothing > 0 && step > 0) share = std::min(share, 0.5 * search_radius() / step);
  for (std::size_t r = 0; r < weights.size(); ++r)
    weights[r] = (1 - share) * proof_.weights[r] + share * weights[r];
  return weights;
}

}  // namespace cosched::opt
