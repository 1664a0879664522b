#include "cosched/moldable/graph/work_path.hpp"

#include "cosched/moldable/graph/precedence.hpp"
#include "cosched/opt/outer_problem.hpp"
#include "cosched/opt/time_cost.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr double kProgrammeGap = 0.1 * kExactTolerance;

// A count, or a group of them: seconds, and the part of the machine's second that each measure
// takes.
struct TradeOffPoint {
  double time = kInfinity;
  std::vector<double> amount;  // work / m, area_r / A_r
};

TradeOffPoint make_trade_off_point(const Instance& instance, int i, int q) {
  const double time = instance.exact_time(i, q);
  TradeOffPoint point{time, {time * q / instance.machines()}};
  const Sharing* sharing = instance.sharing();
  for (int r = 0; sharing && r < sharing->resources(); ++r) {
    const double need = sharing->need(r, i, q);
    point.amount.push_back(need > 0 ? time * need / sharing->capacity(r) : 0);
  }
  return point;
}

void lower_to(TradeOffPoint& group, const TradeOffPoint& other) {
  group.time = std::min(group.time, other.time);
  for (std::size_t r = 0; r < other.amount.size(); ++r)
    group.amount[r] = std::min(group.amount[r], other.amount[r]);
}

bool is_no_worse(const TradeOffPoint& a, const TradeOffPoint& b) {
  if (a.time > b.time) return false;
  for (std::size_t r = 0; r < a.amount.size(); ++r)
    if (a.amount[r] > b.amount[r]) return false;
  return true;
}

// Of two measures (time, work) only the lower hull; in any case none that another makes useless.
std::vector<TradeOffPoint> drop_dominated(std::vector<TradeOffPoint> options) {
  std::stable_sort(options.begin(), options.end(),
                   [](const TradeOffPoint& a, const TradeOffPoint& b) {
                     return a.time < b.time || (a.time == b.time && a.amount < b.amount);
                   });
  std::vector<TradeOffPoint> undominated;
  for (TradeOffPoint& option : options) {
    if (std::any_of(undominated.begin(), undominated.end(),
                    [&](const TradeOffPoint& other) { return is_no_worse(other, option); }))
      continue;
    if (option.amount.size() == 1)
      while (undominated.size() >= 2) {
        const TradeOffPoint &a = undominated[undominated.size() - 2], &b = undominated.back();
        const double above = (b.amount[0] - a.amount[0]) * (option.time - a.time);
        const double chord = (option.amount[0] - a.amount[0]) * (b.time - a.time);
        if (above < chord) break;
        undominated.pop_back();
      }
    undominated.push_back(std::move(option));
  }
  return undominated;
}

std::vector<TradeOffPoint> trade_off_points(const Instance& instance, int i) {
  const int counts = instance.useful_machines();
  constexpr double kGroupRatio = 1.1;  // of the last and the first count of a group
  std::vector<TradeOffPoint> options;
  double group_end = 0;
  for (int q = 1; q <= counts; ++q) {
    if (!(instance.exact_time(i, q) < kInfinity)) continue;
    if (instance.sharing() && !instance.sharing()->fits_alone(i, q)) continue;
    TradeOffPoint point = make_trade_off_point(instance, i, q);
    const bool is_grouped = counts > kMostCounts && q > kMostCounts / 4 && q <= group_end;
    if (is_grouped && !options.empty()) {
      lower_to(options.back(), point);
      continue;
    }
    group_end = kGroupRatio * q;
    options.push_back(std::move(point));
  }
  return drop_dominated(std::move(options));
}

// The jobs, and one more before each that is released late: it takes until then, and nothing else.
class WorkPathProgramme final : public opt::WeightedRelaxation {
 public:
  explicit WorkPathProgramme(const Instance& instance)
      : jobs_(instance.jobs()), graph_(add_release_nodes(instance)), flow_(make_flow(instance)) {}

  int measures() const { return measures_ + 1; }
  const opt::TimeCost& flow() const { return flow_; }
  int jobs() const { return jobs_; }
  const std::vector<std::vector<double>>& asked_durations() const { return asked_durations_; }

  std::vector<double> durations(const Table& x) const {
    std::vector<double> duration(x.rows(), 0.0);
    for (int i = 0; i < static_cast<int>(x.rows()); ++i)
      for (int k = 0; k < static_cast<int>(x.cols()); ++k)
        if (x(i, k) > 0) duration[i] += x(i, k) * times_(i, k);
    return duration;
  }

  RelaxationOptimum minimise(const std::vector<double>& weights) override {
    for (int i = 0; i < static_cast<int>(cost_.rows()); ++i)
      for (int k = 0; k < static_cast<int>(cost_.cols()); ++k)
        if (times_(i, k) < kInfinity) {
          cost_(i, k) = 0;
          for (int r = 0; r < measures_; ++r) cost_(i, k) += weights[r] * amount_[r](i, k);
        }
    opt::TimeCost::TimeCostOptimum optimum = flow_.minimise(cost_, weights.back());
    std::vector<double> measures(measures_, 0.0);
    for (int i = 0; i < static_cast<int>(cost_.rows()); ++i)
      for (int k = 0; k < static_cast<int>(cost_.cols()); ++k)
        if (optimum.x(i, k) > 0)
          for (int r = 0; r < measures_; ++r) measures[r] += optimum.x(i, k) * amount_[r](i, k);
    std::vector<double> duration = durations(optimum.x);
    measures.push_back(flow_.path(duration));
    duration.resize(jobs_);
    asked_durations_.push_back(std::move(duration));
    return {optimum.bound, {std::move(optimum.x), std::move(measures)}};
  }
  std::vector<double> task_flow() const override { return flow_.task_flow(); }
  std::vector<double> link_flow() const override { return flow_.link_flow(); }

 private:
  TaskGraph add_release_nodes(const Instance& instance) {
    const Precedence graph(instance);
    std::vector<Edge> edges;
    for (int i = 0; i < jobs_; ++i)
      for (const int k : graph->successors(i)) edges.emplace_back(i, k);
    for (int i = 0; i < jobs_; ++i)
      if (instance.release(i) > 0) {
        edges.emplace_back(jobs_ + static_cast<int>(released_jobs_.size()), i);
        released_jobs_.push_back(i);
      }
    return TaskGraph(jobs_ + static_cast<int>(released_jobs_.size()), edges);
  }

  opt::TimeCost make_flow(const Instance& instance) {
    std::vector<std::vector<TradeOffPoint>> options;
    std::size_t most = 1;
    for (int i = 0; i < jobs_; ++i) {
      options.push_back(trade_off_points(instance, i));
      most = std::max(most, options.back().size());
    }
    measures_ = static_cast<int>(options[0][0].amount.size());
    const int nodes = graph_.tasks(), columns = static_cast<int>(most);
    times_ = Table(nodes, columns, kInfinity);
    cost_ = Table(nodes, columns);
    amount_.assign(measures_, Table(nodes, columns));
    for (int i = 0; i < jobs_; ++i)
      for (std::size_t k = 0; k < options[i].size(); ++k) {
        const int column = static_cast<int>(k);
        times_(i, column) = options[i][k].time;
        for (int r = 0; r < measures_; ++r) amount_[r](i, column) = options[i][k].amount[r];
      }
    for (int node = jobs_; node < nodes; ++node)
      times_(node, 0) = instance.release(released_jobs_[node - jobs_]);
    return opt::TimeCost(graph_, times_);
  }

  int jobs_, measures_ = 1;
  std::vector<int> released_jobs_;
  TaskGraph graph_;
  Table times_, cost_;
  std::vector<Table> amount_;
  std::vector<std::vector<double>> asked_durations_;
  opt::TimeCost flow_;
};

WorkPathCertificate make_certificate(const WorkPathProgramme& programme,
                                     const opt::DualProof& proof) {
  WorkPathCertificate point;
  point.weights = proof.weights;
  point.task_flow = proof.task_flow;
  point.task_flow.resize(programme.jobs(), 0.0);
  if (!proof.is_in_network) return point;
  for (const EdgeFlow& edge :
       opt::expand_flow(programme.flow().network(), proof.task_flow, proof.link_flow))
    if (edge.from < programme.jobs()) point.edge_flow.push_back(edge);
  return point;
}

void run_outer_problem(WorkPathProgramme& programme, opt::OuterProblem& outer) {
  const int loads = programme.measures() - 1;
  for (int r = 0; r <= loads; ++r) {  // each measure on its own: the path last
    std::vector<double> weights(loads + 1, 0.0);
    weights[r] = 1;
    outer.query_at(weights);
  }
  const std::vector<double> equal(loads, 1.0 / loads);
  outer.search_path_weight(equal);
  outer.close_gap(kProgrammeGap);
}

}  // namespace

WorkPath work_and_path(const Instance& instance) {
  WorkPathProgramme programme(instance);
  opt::OuterProblem outer(programme, programme.measures());
  WorkPath optimum;
  {
    // Whatever the time limit, so that there mostly is a bound.
    constexpr double kFirstBoundSeconds = 0.1;
    const ScopedDeadlineExtension grace(kFirstBoundSeconds);
    optimum.complete = finishes_within(std::nullopt, [&] {
      try {
        run_outer_problem(programme, outer);
      } catch (const SolverError& error) {
        optimum.failure = error.what();
      }
    });
  }
  optimum.complete = optimum.complete && optimum.failure.empty();
  if (!outer.has_proof()) return optimum;
  optimum.value = outer.proof().bound;
  optimum.certificate = make_certificate(programme, outer.proof());
  optimum.durations = programme.durations(outer.combination());
  optimum.durations.resize(instance.jobs());
  optimum.trade_off_durations = programme.asked_durations();
  return optimum;
}

}  // namespace cosched::moldable::graph
