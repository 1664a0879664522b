#include "cosched/dags/hlp/trade_off.hpp"

namespace cosched::dags::hlp {

std::vector<double> fractional_durations(const Instance& instance, const Table& x) {
  std::vector<double> duration(instance.tasks(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) duration[task] += instance.time(task, type) * x(task, type);
  return duration;
}

std::vector<double> fractional_loads(const Instance& instance, const Table& x) {
  std::vector<double> loads(instance.types(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) > 0) loads[type] += instance.time(task, type) * x(task, type);
  for (int type = 0; type < instance.types(); ++type) loads[type] /= instance.units(type);
  return loads;
}

TradeOff::Optimum TradeOff::minimise(const std::vector<double>& weights) {
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int type = 0; type < instance_.types(); ++type)
      if (instance_.time(task, type) < kInfinity)
        cost_(task, type) = instance_.time(task, type) * weights[type] / instance_.units(type);
  opt::TimeCost::Optimum found = flow_.minimise(cost_, weights.back());
  std::vector<double> measures = fractional_loads(instance_, found.x);
  measures.push_back(flow_.path(fractional_durations(instance_, found.x)));
  return {found.bound, {std::move(found.x), std::move(measures)}};
}

namespace {

constexpr int kPart = 8;  // the slice has at least this part of the tasks

// Number of predecessors on the longest chain to each task.
std::vector<int> layers(const TaskGraph& graph) {
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

Instance slice_of(const Instance& whole) {
  const std::vector<int> layer = layers(whole.graph());
  const auto [first, last] = middle_layers(layer, whole.tasks() / kPart);
  std::vector<int> number(whole.tasks(), -1);
  int kept = 0;
  for (int task = 0; task < whole.tasks(); ++task)
    if (first <= layer[task] && layer[task] <= last) number[task] = kept++;
  Table times(kept, whole.types());
  std::vector<Edge> edges;
  for (int task = 0; task < whole.tasks(); ++task) {
    if (number[task] < 0) continue;
    times.set_row(number[task], whole.times().row(task));
    for (const int before : whole.graph().predecessors(task))
      if (number[before] >= 0) edges.emplace_back(number[before], number[task]);
  }
  return Instance(std::move(times), TaskGraph(kept, edges), whole.units());
}

double weighted(const std::vector<double>& weights, const std::vector<double>& measures) {
  return std::inner_product(weights.begin(), weights.end(), measures.begin(), 0.0);
}

}  // namespace

SliceModel::SliceModel(const Instance& whole)
    : slice_(slice_of(whole)),
      trade_off_(slice_),
      scale_(static_cast<double>(whole.tasks()) / slice_.tasks()),
      shift_(whole.types() + 1, 0.0) {}

const std::vector<double>& SliceModel::ask(const std::vector<double>& weights) {
  measures_.push_back(trade_off_.minimise(weights).point.measures);
  for (double& measure : measures_.back()) measure *= scale_;
  return measures_.back();
}

std::vector<double> SliceModel::corrected(std::vector<double> measures) const {
  for (std::size_t r = 0; r < measures.size(); ++r) measures[r] += shift_[r];
  return measures;
}

void SliceModel::correct(const std::vector<double>& weights, const std::vector<double>& measures) {
  const std::vector<double>& model = ask(weights);
  for (std::size_t r = 0; r < measures.size(); ++r) shift_[r] = measures[r] - model[r];
}

std::vector<double> SliceModel::best_weights(const std::vector<std::vector<double>>& columns,
                                             std::vector<double> start, double gap) {
  constexpr int kRounds = 40;
  opt::MatrixGame game(static_cast<int>(shift_.size()));
  for (const std::vector<double>& measures : columns) game.add_column(measures);
  for (const std::vector<double>& measures : measures_) game.add_column(corrected(measures));
  std::vector<double> weights = start, best = std::move(start);
  double bound = -kInfinity;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<double> measures = corrected(ask(weights));
    const double sum = weighted(weights, measures);
    if (sum > bound) {
      bound = sum;
      best = weights;
    }
    game.add_column(measures);
    game.solve();
    if (game.value() <= (1 + gap) * bound) break;
    // Of the prices: a far jump costs many pivots.
    const double share = game.value() > 1.01 * bound ? 0.3 : 0.6;
    for (std::size_t r = 0; r < weights.size(); ++r)
      weights[r] = (1 - share) * best[r] + share * game.prices()[r];
  }
  return best;
}

}  // namespace cosched::dags::hlp
