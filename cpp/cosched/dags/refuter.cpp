#include "cosched/dags/refuter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/combination.hpp"

namespace cosched::dags {
namespace {

// More than a check asks for, so that its rounding does not matter.
constexpr double kSlack = 2 * kProofSlack;

// A row that is broken by less (relative to T) is not worth its pivots.
constexpr double kWorthwhile = 1e-6;

constexpr int kMostRows = 48;  // of the programme

constexpr std::size_t kAtOnce = 2;  // new rows of a type
constexpr std::size_t kHot = 10;    // begins that are looked at first

}  // namespace

Refuter::Refuter(const Instance& instance, const Certificate& relaxation,
                 const RefuterEffort& effort)
    : instance_(instance), relaxation_(relaxation), effort_(effort) {}

bool Refuter::refute(double makespan) {
  proof_ = {makespan, {}};
  TimeWindows windows(instance_, makespan);
  const auto decide = [&] {
    if (!prune(windows)) return true;
    for (int pass = 0; pass < effort_.passes; ++pass) {
      if (effort_.load_heads && raise_heads(windows)) return true;
      if (energy_alone(windows)) return true;
      if (windows.undecided() == 0) return false;
      start_programme(windows);
      RefutationStage stage = solve_programme(windows);
      keep_rows();
      bool closed = false;
      if (combine(windows, std::move(stage), closed)) return true;
      if (!closed) return false;
      if (!prune(windows)) return true;
    }
    return energy_alone(windows);
  };
  const bool refuted = decide();
  steps_ += windows.steps();
  return refuted;
}

bool Refuter::prune(TimeWindows& windows) { return windows.prune(kSlack); }

// True: T is refuted.
bool Refuter::raise_heads(TimeWindows& windows) {
  const int types = instance_.types();
  std::vector<std::vector<double>> mixtures;
  for (int type = 0; type < types; ++type) {
    mixtures.emplace_back(types, 0.0);
    mixtures.back()[type] = 1;
  }
  double sum = 0;
  for (int type = 0; type < types; ++type) sum += relaxation_.weights[type];
  if (types > 1 && sum > 1e-6) {
    mixtures.emplace_back(types);
    for (int type = 0; type < types; ++type)
      mixtures.back()[type] = relaxation_.weights[type] / sum;
  }
  for (int repeat = 0; repeat < 2; ++repeat) {
    bool any = false;
    for (const std::vector<double>& mixture : mixtures) {
      const bool heads = windows.raise(mixture, false), tails = windows.raise(mixture, true);
      if (!heads && !tails) continue;
      proof_.stages.push_back({mixture, {}, {}, {}, {}});
      if (!prune(windows)) return true;
      any = true;
    }
    if (!any) break;
  }
  return false;
}

// Intervals in which tasks without a choice need too much.
bool Refuter::energy_alone(const TimeWindows& windows) {
  std::vector<double> share(instance_.tasks());
  for (int type = 0; type < instance_.types(); ++type) {
    for (int task = 0; task < instance_.tasks(); ++task)
      share[task] = windows.only_type(task) == type ? 1 : 0;
    const EnergySweep sweep(windows, type, share);
    steps_ += 60LL * sweep.tasks() + instance_.tasks();
    Poll poll;
    for (const double begin : sweep.begins(effort_.begins)) {
      const EnergySweep::Excess found = sweep.worst_from(begin);
      steps_ += 12LL * sweep.tasks();
      poll.count(12LL * sweep.tasks());
      const double right = instance_.units(type) * (found.interval.end - found.interval.begin);
      if (found.amount <= 2 * kSlack * right) continue;
      RefutationStage stage;
      stage.loads.assign(instance_.types(), 0.0);
      stage.intervals.push_back({found.interval, 1});
      if (Combination(windows, stage).excess(kSlack) <= 0) continue;
      proof_.stages.push_back(std::move(stage));
      return true;
    }
  }
  return false;
}

// True: the combined row refutes T.  Otherwise closes pairs by it.
bool Refuter::combine(TimeWindows& windows, RefutationStage stage, bool& closed) {
  const Combination combination(windows, stage);
  std::vector<std::pair<int, int>> pairs;
  if (combination.excess(kSlack) <= 0) {
    for (int task = 0; task < instance_.tasks(); ++task)
      for (int type = 0; type < instance_.types(); ++type)
        if (windows.only_type(task) < 0 && windows.open(task, type) &&
            combination.closes(task, type, kSlack))
          pairs.emplace_back(task, type);
    closed = !pairs.empty();
    if (!closed) return false;
  }
  proof_.stages.push_back(std::move(stage));
  for (const auto& [task, type] : pairs) windows.close(task, type);
  return pairs.empty();
}

void Refuter::start_programme(const TimeWindows& windows) {
  const int n = instance_.tasks(), types = instance_.types();
  group_of_.assign(n, -1);
  choice_begin_.assign(1, 0);
  type_of_.clear();
  task_of_.clear();
  for (int task = 0; task < n; ++task) {
    if (windows.only_type(task) >= 0) continue;
    group_of_[task] = static_cast<int>(choice_begin_.size()) - 1;
    for (int type = 0; type < types; ++type)
      if (windows.open(task, type)) {
        type_of_.push_back(type);
        task_of_.push_back(task);
      }
    choice_begin_.push_back(static_cast<int>(type_of_.size()));
  }
  programme_ = std::make_unique<ChoiceLp>(choice_begin_);
  rows_.clear();
  hot_.assign(types, {});
  Row first;
  first.content.loads.assign(relaxation_.weights.begin(), relaxation_.weights.end() - 1);
  if (relaxation_.weights.back() > 0) {
    first.content.task_flow = relaxation_.task_flow;
    first.content.edge_flow = relaxation_.edge_flow;
  }
  add_row(windows, std::move(first));
  for (int type = 0; type < types; ++type) {
    Row load;
    load.content.loads.assign(types, 0.0);
    load.content.loads[type] = 1;
    add_row(windows, std::move(load));
  }
  for (const Kept& kept : pool_) {
    Row row = kept.row;
    for (PricedInterval& priced : row.content.intervals) {
      priced.interval.end = windows.makespan() - kept.from_end;
      if (priced.interval.end <= priced.interval.begin) return;
    }
    add_row(windows, std::move(row));
  }
}

// What the combination says with price 1 for this row, as a row of the programme.
void Refuter::add_row(const TimeWindows& windows, Row row) {
  const Instance& instance = instance_;
  const int n = instance.tasks();
  const RefutationStage& content = row.content;
  std::vector<double> coefficients(type_of_.size());
  double limit = 0, weight = 0;
  for (const double load : content.loads) weight += load;
  std::vector<double> flow(content.task_flow);
  if (!flow.empty()) {
    std::vector<double> in(n, 0.0), out(n, 0.0);
    for (const auto& [from, to, amount] : content.edge_flow) {
      out[from] += amount;
      in[to] += amount;
    }
    for (int task = 0; task < n; ++task) {
      flow[task] = std::max({flow[task], in[task], out[task]});
      weight += flow[task] - in[task];
      limit -= (flow[task] - in[task]) * windows.head(task) +
               (flow[task] - out[task]) * windows.tail(task);
    }
  }
  const auto need = [&](int task, int type) {
    const double rate =
        content.loads[type] / instance.units(type) + (flow.empty() ? 0 : flow[task]);
    double sum = rate > 0 ? rate * instance.time(task, type) : 0;
    for (const PricedInterval& priced : content.intervals)
      if (priced.interval.type == type)
        sum += priced.price * energy(windows, task, priced.interval);
    return sum;
  };
  for (const PricedInterval& priced : content.intervals)
    limit += priced.price * instance.units(priced.interval.type) *
             (priced.interval.end - priced.interval.begin);
  for (int task = 0; task < n; ++task)
    if (windows.only_type(task) >= 0) limit -= need(task, windows.only_type(task));
  for (std::size_t c = 0; c < type_of_.size(); ++c)
    coefficients[c] = need(task_of_[c], type_of_[c]);
  steps_ += 6LL * n * instance.types();
  programme_->add_row(std::move(coefficients), weight, limit);
  rows_.push_back(std::move(row));
}

std::vector<std::vector<double>> Refuter::shares(const TimeWindows& windows) const {
  std::vector<std::vector<double>> share(instance_.types(),
                                         std::vector<double>(instance_.tasks(), 0.0));
  for (int task = 0; task < instance_.tasks(); ++task)
    if (windows.only_type(task) >= 0) share[windows.only_type(task)][task] = 1;
  const std::vector<double> x = programme_->shares();
  for (std::size_t c = 0; c < x.size(); ++c)
    share[type_of_[c]][task_of_[c]] = std::clamp(x[c], 0.0, 1.0);
  return share;
}

// The longest path under the shares' times.
bool Refuter::price_path(const TimeWindows& windows,
                         const std::vector<std::vector<double>>& share) {
  const int n = instance_.tasks();
  std::vector<double> end(n), begin(n);
  std::vector<int> from(n, -1);
  int last = 0;
  for (const int task : instance_.graph().order()) {
    begin[task] = windows.head(task);
    for (const int before : instance_.graph().predecessors(task))
      if (end[before] > begin[task] * (1 + 1e-12)) {
        begin[task] = end[before];
        from[task] = before;
      }
    double duration = 0;
    for (int type = 0; type < instance_.types(); ++type)
      if (share[type][task] > 0) duration += share[type][task] * instance_.time(task, type);
    end[task] = begin[task] + duration;
    if (end[task] + windows.tail(task) > end[last] + windows.tail(last)) last = task;
  }
  steps_ += (4LL + instance_.types()) * n + instance_.graph().edges();
  if (end[last] + windows.tail(last) <= programme_->value() + kWorthwhile * windows.makespan())
    return false;
  Row row;
  row.content.loads.assign(instance_.types(), 0.0);
  row.content.task_flow.assign(n, 0.0);
  for (int task = last; task >= 0; task = from[task]) {
    row.content.task_flow[task] = 1;
    if (from[task] >= 0) row.content.edge_flow.push_back({from[task], task, 1});
  }
  add_row(windows, std::move(row));
  return true;
}

// For each type the intervals that are broken most, from different begins.  Begins that were good
// the last time are looked at first: all of them only where these have nothing.
bool Refuter::price_energy(const TimeWindows& windows,
                           const std::vector<std::vector<double>>& share) {
  bool any = false;
  for (int type = 0; type < instance_.types(); ++type) {
    const EnergySweep sweep(windows, type, share[type]);
    steps_ += 60LL * sweep.tasks() + instance_.tasks();
    std::vector<EnergySweep::Excess> found = broken(windows, sweep, hot_[type]);
    if (found.empty()) {
      found = broken(windows, sweep, sweep.begins(effort_.begins));
      hot_[type].clear();
      for (std::size_t k = 0; k < std::min(kHot, found.size()); ++k)
        hot_[type].push_back(found[k].interval.begin);
    }
    for (std::size_t k = 0; k < std::min(kAtOnce, found.size()); ++k) {
      Row row;
      row.content.loads.assign(instance_.types(), 0.0);
      row.content.intervals.push_back({found[k].interval, 1.0 / instance_.units(type)});
      add_row(windows, std::move(row));
      any = true;
    }
  }
  return any;
}

// Intervals that need too much, one from each begin at most, the worst first.
std::vector<EnergySweep::Excess> Refuter::broken(const TimeWindows& windows,
                                                 const EnergySweep& sweep,
                                                 const std::vector<double>& begins) {
  std::vector<EnergySweep::Excess> found;
  Poll poll;
  for (const double begin : begins) {
    steps_ += 12LL * sweep.tasks();
    poll.count(12LL * sweep.tasks());
    const EnergySweep::Excess excess = sweep.worst_from(begin);
    if (excess.amount > kWorthwhile * instance_.units(excess.interval.type) * windows.makespan())
      found.push_back(excess);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.amount > b.amount; });
  return found;
}

bool Refuter::price_rows(const TimeWindows& windows) {
  if (programme_->rows() > kMostRows) {
    const std::vector<int> kept = programme_->drop_loose_rows(kMostRows * 2 / 3);
    std::vector<Row> rows;
    for (const int k : kept) rows.push_back(std::move(rows_[k]));
    rows_ = std::move(rows);
  }
  const auto share = shares(windows);
  const bool path = price_path(windows, share);
  return price_energy(windows, share) || path;
}

RefutationStage Refuter::solve_programme(const TimeWindows& windows) {
  const double enough = windows.makespan() * (1 + 4 * kSlack);
  for (int round = 0; round < effort_.rounds; ++round) {
    check_interrupt();
    const bool done = programme_->solve(enough, 20 * (programme_->rows() + 5));
    if (!done || programme_->value() > enough || !price_rows(windows)) break;
  }
  programme_->solve(enough, 20 * (programme_->rows() + 5));
  return priced_rows();
}

// The rows, weighted with the programme's prices, as one.
RefutationStage Refuter::priced_rows() const {
  RefutationStage sum;
  sum.loads.assign(instance_.types(), 0.0);
  std::map<std::pair<int, int>, double> edges;
  const std::vector<double> price = programme_->prices();
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    if (price[k] <= 0) continue;
    const RefutationStage& row = rows_[k].content;
    for (int type = 0; type < instance_.types(); ++type)
      sum.loads[type] += price[k] * row.loads[type];
    if (!row.task_flow.empty()) {
      sum.task_flow.resize(instance_.tasks(), 0.0);
      for (int task = 0; task < instance_.tasks(); ++task)
        sum.task_flow[task] += price[k] * row.task_flow[task];
      for (const EdgeFlow& edge : row.edge_flow)
        edges[{edge.from, edge.to}] += price[k] * edge.amount;
    }
    for (const PricedInterval& priced : row.intervals)
      sum.intervals.push_back({priced.interval, price[k] * priced.price});
  }
  for (const auto& [edge, amount] : edges)
    sum.edge_flow.push_back({edge.first, edge.second, amount});
  return sum;
}

// Rows with a price are likely to matter for the next T.
void Refuter::keep_rows() {
  constexpr std::size_t kMostKept = 24;
  const std::vector<double> price = programme_->prices();
  std::vector<Kept> pool;
  for (std::size_t k = 1 + instance_.types(); k < rows_.size(); ++k) {
    if (price[k] <= 0) continue;
    Kept kept{rows_[k], 0};
    if (!kept.row.content.intervals.empty())
      kept.from_end = proof_.makespan - kept.row.content.intervals.front().interval.end;
    pool.push_back(std::move(kept));
  }
  if (pool.size() > kMostKept) pool.resize(kMostKept);
  pool_ = std::move(pool);
}

}  // namespace cosched::dags
