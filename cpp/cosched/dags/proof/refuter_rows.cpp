// The rows of a Refuter's linear programme: what they say of each choice, which ones are broken, and
// their sum.
#include <algorithm>
#include <map>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/proof/refuter.hpp"

namespace cosched::dags::proof {
namespace {

constexpr int kMostRows = 48;  // of the programme

constexpr std::size_t kRowsAtOnce = 2;  // new rows of a type
constexpr std::size_t kHot = 10;        // begins that are looked at first

}  // namespace

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
    for (std::size_t k = 0; k < std::min(kRowsAtOnce, found.size()); ++k) {
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
      for (const hlp::EdgeFlow& edge : row.edge_flow)
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

}  // namespace cosched::dags::proof
