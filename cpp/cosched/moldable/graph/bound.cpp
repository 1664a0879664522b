#include "cosched/moldable/graph/bound.hpp"

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/opt/outer_problem.hpp"
#include "cosched/opt/time_cost.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr double kGap = 0.1 * kExactTolerance;

// A count, or a group of them: seconds, and the part of the machine's second that each measure
// takes.
struct TradeOffPoint {
  double time = kInfinity;
  std::vector<double> amount;  // work / m, area_r / A_r
};

TradeOffPoint make_trade_off_point(const Instance& instance, int i, int q) {
  const double time = instance.exact_time(i, q);
  TradeOffPoint made{time, {time * q / instance.machines()}};
  const Sharing* sharing = instance.sharing();
  for (int r = 0; sharing && r < sharing->resources(); ++r) {
    const double need = sharing->need(r, i, q);
    made.amount.push_back(need > 0 ? time * need / sharing->capacity(r) : 0);
  }
  return made;
}

void lower_to(TradeOffPoint& group, const TradeOffPoint& more) {
  group.time = std::min(group.time, more.time);
  for (std::size_t r = 0; r < more.amount.size(); ++r)
    group.amount[r] = std::min(group.amount[r], more.amount[r]);
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
  std::vector<TradeOffPoint> kept;
  for (TradeOffPoint& option : options) {
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const TradeOffPoint& other) { return is_no_worse(other, option); }))
      continue;
    if (option.amount.size() == 1)
      while (kept.size() >= 2) {
        const TradeOffPoint &a = kept[kept.size() - 2], &b = kept.back();
        const double above = (b.amount[0] - a.amount[0]) * (option.time - a.time);
        const double chord = (option.amount[0] - a.amount[0]) * (b.time - a.time);
        if (above < chord) break;
        kept.pop_back();
      }
    kept.push_back(std::move(option));
  }
  return kept;
}

std::vector<TradeOffPoint> trade_off_points(const Instance& instance, int i) {
  const int counts = instance.useful_machines();
  std::vector<TradeOffPoint> options;
  double edge = 0;
  for (int q = 1; q <= counts; ++q) {
    if (!(instance.exact_time(i, q) < kInfinity)) continue;
    if (instance.sharing() && !instance.sharing()->fits_alone(i, q)) continue;
    TradeOffPoint made = make_trade_off_point(instance, i, q);
    if (counts > kMostCounts && q > kMostCounts / 4 && q <= edge && !options.empty()) {
      lower_to(options.back(), made);
      continue;
    }
    edge = 1.1 * q;
    options.push_back(std::move(made));
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

  Optimum minimise(const std::vector<double>& weights) override {
    for (int i = 0; i < static_cast<int>(cost_.rows()); ++i)
      for (int k = 0; k < static_cast<int>(cost_.cols()); ++k)
        if (times_(i, k) < kInfinity) {
          cost_(i, k) = 0;
          for (int r = 0; r < measures_; ++r) cost_(i, k) += weights[r] * amount_[r](i, k);
        }
    opt::TimeCost::Optimum found = flow_.minimise(cost_, weights.back());
    std::vector<double> measures(measures_, 0.0);
    for (int i = 0; i < static_cast<int>(cost_.rows()); ++i)
      for (int k = 0; k < static_cast<int>(cost_.cols()); ++k)
        if (found.x(i, k) > 0)
          for (int r = 0; r < measures_; ++r) measures[r] += found.x(i, k) * amount_[r](i, k);
    std::vector<double> duration = durations(found.x);
    measures.push_back(flow_.path(duration));
    duration.resize(jobs_);
    asked_durations_.push_back(std::move(duration));
    return {found.bound, {std::move(found.x), std::move(measures)}};
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
  WorkPathCertificate made;
  made.weights = proof.weights;
  made.task_flow = proof.task_flow;
  made.task_flow.resize(programme.jobs(), 0.0);
  if (!proof.is_in_network) return made;
  for (const EdgeFlow& edge :
       opt::expand_flow(programme.flow().network(), proof.task_flow, proof.link_flow))
    if (edge.from < programme.jobs()) made.edge_flow.push_back(edge);
  return made;
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
  outer.close_gap(kGap);
}

constexpr int kPairs = 64;
constexpr double kNear = 2e-10;

// Levels at which sums are looked at: all values, or `kPairs` of them.
std::vector<double> choose_levels(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kPairs) return values;
  std::vector<double> kept;
  for (int k = 0; k < kPairs; ++k) kept.push_back(values[k * (values.size() - 1) / (kPairs - 1)]);
  return kept;
}

// The last level that is not above a value.
int level_index(const std::vector<double>& levels, double value) {
  return static_cast<int>(std::upper_bound(levels.begin(), levels.end(), value) - levels.begin()) -
         1;
}

class HeadTailWindows {
 public:
  explicit HeadTailWindows(const Instance& instance) : instance_(instance) {
    const Precedence graph(instance);
    std::vector<double> least;
    for (int i = 0; i < instance_.jobs(); ++i) least.push_back(instance_.least_time(i));
    head_ = heads(*graph, least, instance_.releases());
    tail_ = bottom_levels(*graph, least);
    for (int i = 0; i < instance_.jobs(); ++i) {
      longest_ = std::max(longest_, head_[i] + tail_[i]);
      tail_[i] -= least[i];
    }
    head_levels_ = choose_levels(head_);
    tail_levels_ = choose_levels(tail_);
  }

  double longest() const { return longest_; }

  bool has_overfull_window(double makespan) const {
    const int measures = 1 + (instance_.sharing() ? instance_.sharing()->resources() : 0);
    std::vector<double> sum(head_levels_.size() * tail_levels_.size());
    for (int r = 0; r < measures; ++r) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int i = 0; i < instance_.jobs(); ++i) {
        const double amount = least_share(i, r, makespan - head_[i] - tail_[i]);
        if (amount == kInfinity) return true;
        sum[level_index(head_levels_, head_[i]) * tail_levels_.size() +
            level_index(tail_levels_, tail_[i])] += amount;
      }
      if (is_overfull(sum, makespan)) return true;
    }
    return false;
  }

 private:
  // Of the machine's second, in a window; the work of measure 0.
  double least_share(int i, int r, double window) const {
    const double within = window * (1 + kExactTolerance);
    if (r == 0) return instance_.least_area(i, within) / instance_.machines();
    const Sharing& sharing = *instance_.sharing();
    double least = kInfinity;
    for (int q = 1; q <= instance_.useful_machines(); ++q)
      if (instance_.exact_time(i, q) <= within)
        least = std::min(least, sharing.need(r - 1, i, q) > 0
                                    ? instance_.exact_time(i, q) * sharing.need(r - 1, i, q) /
                                          sharing.capacity(r - 1)
                                    : 0.0);
    return least;
  }

  // Sums over all levels at or above, from the back.
  bool is_overfull(std::vector<double>& sum, double makespan) const {
    const int rows = static_cast<int>(head_levels_.size()),
              columns = static_cast<int>(tail_levels_.size());
    for (int a = rows - 1; a >= 0; --a)
      for (int b = columns - 1; b >= 0; --b) {
        double& at = sum[a * columns + b];
        if (a + 1 < rows) at += sum[(a + 1) * columns + b];
        if (b + 1 < columns) at += sum[a * columns + b + 1];
        if (a + 1 < rows && b + 1 < columns) at -= sum[(a + 1) * columns + b + 1];
        const double room = makespan - head_levels_[a] - tail_levels_[b];
        if (at > std::max(0.0, room) * (1 + kExactTolerance) + kExactTolerance * makespan)
          return true;
      }
    return false;
  }

  const Instance& instance_;
  std::vector<double> head_, tail_, head_levels_, tail_levels_;
  double longest_ = 0;
};

}  // namespace

WorkPath work_and_path(const Instance& instance) {
  WorkPathProgramme programme(instance);
  opt::OuterProblem outer(programme, programme.measures());
  WorkPath found;
  {
    const ScopedDeadlineExtension grace(0.1);
    found.complete = finishes_within(std::nullopt, [&] {
      try {
        run_outer_problem(programme, outer);
      } catch (const SolverError& error) {
        found.failure = error.what();
      }
    });
  }
  found.complete = found.complete && found.failure.empty();
  if (!outer.has_proof()) return found;
  found.value = outer.proof().bound;
  found.certificate = make_certificate(programme, outer.proof());
  found.durations = programme.durations(outer.combination());
  found.durations.resize(instance.jobs());
  found.trade_off_durations = programme.asked_durations();
  return found;
}

double heads_and_tails(const Instance& instance, double low) {
  const HeadTailWindows windows(instance);
  low = std::max(low, windows.longest());
  if (low <= 0 || !windows.has_overfull_window(low)) return low;
  double high = 2 * low;
  for (; windows.has_overfull_window(high); high *= 2) low = high;
  while (high > low * (1 + kNear)) {
    check_interrupt();
    const double middle = low + (high - low) / 2;
    (windows.has_overfull_window(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace cosched::moldable::graph
