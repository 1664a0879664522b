#include "cosched/dags/hlp/slice_model.hpp"

#include <numeric>

namespace cosched::dags::hlp {
namespace {

// Number of predecessors on the longest chain to each task.
std::vector<int> layer_of_tasks(const TaskGraph& graph) {
  std::vector<int> layer(graph.tasks(), 0);
  for (const int task : graph.order())
    for (const int before : graph.predecessors(task))
      layer[task] = std::max(layer[task], layer[before] + 1);
  return layer;
}

// The first and the last of the layers around the middle that have `tasks` tasks.
std::pair<int, int> middle_layers(const std::vector<int>& layer, int tasks) {
  std::vector<int> size(*std::max_element(layer.begin(), layer.end()) + 1, 0);
  for (const int k : layer) ++size[k];
  const int end = static_cast<int>(size.size());
  int first = end / 2, last = first, count = size[first];
  while (count < tasks && (first > 0 || last + 1 < end)) {
    if (first > 0) count += size[--first];
    if (last + 1 < end) count += size[++last];
  }
  return {first, last};
}

Instance slice_instance(const Instance& instance, int divisor) {
  const std::vector<int> layer = layer_of_tasks(instance.graph());
  const auto [first, last] = middle_layers(layer, instance.tasks() / divisor);
  std::vector<int> number(instance.tasks(), -1);
  int slice_tasks = 0;
  for (int task = 0; task < instance.tasks(); ++task)
    if (first <= layer[task] && layer[task] <= last) number[task] = slice_tasks++;
  Table times(slice_tasks, instance.types());
  std::vector<Edge> edges;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (number[task] < 0) continue;
    times.set_row(number[task], instance.times().row(task));
    for (const int before : instance.graph().predecessors(task))
      if (number[before] >= 0) edges.emplace_back(number[before], number[task]);
  }
  return Instance(std::move(times), TaskGraph(slice_tasks, edges), instance.units());
}

double weighted_sum(const std::vector<double>& weights, const std::vector<double>& measures) {
  return std::inner_product(weights.begin(), weights.end(), measures.begin(), 0.0);
}

}  // namespace

SliceModel::SliceModel(const Instance& graph_instance, const SliceModelParams& params)
    : params_(params),
      slice_(slice_instance(graph_instance, params.slice_divisor)),
      trade_off_(slice_),
      scale_(static_cast<double>(graph_instance.tasks()) / slice_.tasks()),
      measured_shift_(graph_instance.types() + 1, 0.0) {}

const std::vector<double>& SliceModel::evaluate_slice(const std::vector<double>& weights) {
  measures_.push_back(trade_off_.minimise(weights).point.measures);
  for (double& measure : measures_.back()) measure *= scale_;
  return measures_.back();
}

std::vector<double> SliceModel::with_shift(std::vector<double> measures) const {
  for (std::size_t r = 0; r < measures.size(); ++r) measures[r] += measured_shift_[r];
  return measures;
}

void SliceModel::correct(const std::vector<double>& weights, const std::vector<double>& measures) {
  const std::vector<double>& model = evaluate_slice(weights);
  for (std::size_t r = 0; r < measures.size(); ++r) measured_shift_[r] = measures[r] - model[r];
}

std::vector<double> SliceModel::best_weights(const std::vector<std::vector<double>>& columns,
                                             std::vector<double> start, double gap) {
  opt::MatrixGame game(static_cast<int>(measured_shift_.size()));
  for (const std::vector<double>& measures : columns) game.add_column(measures);
  for (const std::vector<double>& measures : measures_) game.add_column(with_shift(measures));
  std::vector<double> weights = start, best = std::move(start);
  double bound = -kInfinity;
  for (int round = 0; round < params_.rounds; ++round) {
    const std::vector<double> measures = with_shift(evaluate_slice(weights));
    const double sum = weighted_sum(weights, measures);
    if (sum > bound) {
      bound = sum;
      best = weights;
    }
    game.add_column(measures);
    game.solve();
    if (game.value() <= (1 + gap) * bound) break;
    const bool is_far = game.value() > (1 + params_.far_gap) * bound;
    const double share = is_far ? params_.far_share : params_.near_share;
    for (std::size_t r = 0; r < weights.size(); ++r)
      weights[r] = (1 - share) * best[r] + share * game.prices()[r];
  }
  return best;
}

}  // namespace cosched::dags::hlp
