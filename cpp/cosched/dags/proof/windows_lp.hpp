// The linear programme of the bound `windows` (windows.hpp) over the shares of what is open: few
// rows, found as they are needed, and as many choices as open pairs, for choice_lp.hpp.
#pragma once

#include "cosched/dags/proof/choice_lp.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

/// A row, to be tried again at the next T: loads and a flow of paths, or one interval.
struct KeptRow {
  RefutationStage row;
  std::vector<KeptInterval> interval;  // none or one: where it is at another T
};

class WindowsLp {
 public:
  /// Begins with what proves LP*, the loads one by one, and `kept` up to the first whose interval
  /// has no length at this T.
  WindowsLp(const TimeWindows& windows, const hlp::Certificate& relaxation,
            const std::vector<KeptRow>& kept, const Effort& effort)
      : windows_(windows),
        instance_(windows.instance()),
        effort_(effort),
        programme_(group_begins(windows)),
        hot_(windows.instance().types()) {
    add_choices();
    RefutationStage first;
    first.loads.assign(relaxation.weights.begin(), relaxation.weights.end() - 1);
    if (relaxation.weights.back() > 0) {
      first.task_flow = relaxation.task_flow;
      first.edge_flow = relaxation.edge_flow;
    }
    add_row(std::move(first));
    for (int type = 0; type < instance_.types(); ++type) {
      RefutationStage load;
      load.loads.assign(instance_.types(), 0.0);
      load.loads[type] = 1;
      add_row(std::move(load));
    }
    for (const KeptRow& earlier : kept) {
      RefutationStage row = earlier.row;
      if (!earlier.interval.empty()) {
        const std::optional<Interval> now = earlier.interval.front().at(windows.makespan());
        if (!now) return;
        row.intervals.front().interval = *now;
      }
      add_row(std::move(row));
    }
  }

  /// Adds rows that are broken while that helps; then all rows by their prices, as one.
  RefutationStage solve() {
    const double enough = windows_.makespan() * (1 + 4 * kSearchSlack);
    const auto pivots = [&] { return 20 * (programme_.rows() + 5); };
    for (int round = 0; round < effort_.rounds; ++round) {
      check_interrupt();
      const bool done = programme_.solve(enough, pivots());
      if (!done || programme_.value() > enough || !price_rows()) break;
    }
    programme_.solve(enough, pivots());
    return sum_of_rows();
  }

  /// Found or kept rows with a price: likely to matter for the next T.
  std::vector<KeptRow> rows_that_mattered() const {
    constexpr std::size_t kMostKept = 24;
    const std::vector<double> price = programme_.prices();
    std::vector<KeptRow> kept;
    for (std::size_t k = 1 + instance_.types(); k < rows_.size() && kept.size() < kMostKept; ++k) {
      if (price[k] <= 0) continue;
      KeptRow row{rows_[k], {}};
      for (const PricedInterval& priced : rows_[k].intervals)
        row.interval.emplace_back(priced.interval, windows_.makespan());
      kept.push_back(std::move(row));
    }
    return kept;
  }

 private:
  static constexpr int kMostRows = 48;           // of the programme
  static constexpr std::size_t kRowsAtOnce = 2;  // new rows of a type
  static constexpr std::size_t kHot = 10;        // begins that are looked at first

  // Groups: the undecided tasks.
  static std::vector<int> group_begins(const TimeWindows& windows) {
    std::vector<int> begins{0};
    for (int task = 0; task < windows.instance().tasks(); ++task) {
      if (windows.only_type(task) >= 0) continue;
      int open = 0;
      for (int type = 0; type < windows.instance().types(); ++type)
        open += windows.open(task, type);
      begins.push_back(begins.back() + open);
    }
    return begins;
  }

  void add_choices() {
    for (int task = 0; task < instance_.tasks(); ++task)
      for (int type = 0; type < instance_.types() && windows_.only_type(task) < 0; ++type)
        if (windows_.open(task, type)) {
          task_of_.push_back(task);
          type_of_.push_back(type);
        }
  }

  // What the combination says with price 1 for this row, as a row of the programme.
  void add_row(RefutationStage row) {
    const int n = instance_.tasks();
    std::vector<double> coefficients(type_of_.size());
    double limit = 0, weight = 0;
    for (const double load : row.loads) weight += load;
    std::vector<double> flow(row.task_flow);
    if (!flow.empty()) {
      std::vector<double> in(n, 0.0), out(n, 0.0);
      for (const auto& [from, to, amount] : row.edge_flow) {
        out[from] += amount;
        in[to] += amount;
      }
      for (int task = 0; task < n; ++task) {
        flow[task] = std::max({flow[task], in[task], out[task]});
        weight += flow[task] - in[task];
        limit -= (flow[task] - in[task]) * windows_.head(task) +
                 (flow[task] - out[task]) * windows_.tail(task);
      }
    }
    for (const PricedInterval& priced : row.intervals)
      limit += priced.price * instance_.units(priced.interval.type) *
               (priced.interval.end - priced.interval.begin);
    for (int task = 0; task < n; ++task)
      if (windows_.only_type(task) >= 0) limit -= need(row, flow, task, windows_.only_type(task));
    for (std::size_t c = 0; c < type_of_.size(); ++c)
      coefficients[c] = need(row, flow, task_of_[c], type_of_[c]);
    programme_.add_row(std::move(coefficients), weight, limit);
    rows_.push_back(std::move(row));
  }

  // What a pair needs of a row.  `flow` empty: the row has none.
  double need(const RefutationStage& row, const std::vector<double>& flow, int task,
              int type) const {
    const double rate = row.loads[type] / instance_.units(type) + (flow.empty() ? 0 : flow[task]);
    double sum = rate > 0 ? rate * instance_.time(task, type) : 0;
    for (const PricedInterval& priced : row.intervals)
      if (priced.interval.type == type)
        sum += priced.price * energy(windows_, task, priced.interval);
    return sum;
  }

  bool price_rows() {
    if (programme_.rows() > kMostRows) {
      std::vector<RefutationStage> rows;
      for (const int k : programme_.drop_loose_rows(kMostRows * 2 / 3))
        rows.push_back(std::move(rows_[k]));
      rows_ = std::move(rows);
    }
    const Table share = shares();
    const bool path = price_path(share);
    return price_energy(share) || path;
  }

  // The longest path under the shares' times.
  bool price_path(const Table& share) {
    const int n = instance_.tasks();
    std::vector<double> end(n), begin(n);
    std::vector<int> from(n, -1);
    int last = 0;
    for (const int task : instance_.graph().order()) {
      begin[task] = windows_.head(task);
      for (const int before : instance_.graph().predecessors(task))
        if (end[before] > begin[task] * (1 + 1e-12)) {
          begin[task] = end[before];
          from[task] = before;
        }
      double duration = 0;
      for (int type = 0; type < instance_.types(); ++type)
        if (share(task, type) > 0) duration += share(task, type) * instance_.time(task, type);
      end[task] = begin[task] + duration;
      if (end[task] + windows_.tail(task) > end[last] + windows_.tail(last)) last = task;
    }
    if (end[last] + windows_.tail(last) <= programme_.value() + kWorthwhile * windows_.makespan())
      return false;
    RefutationStage row;
    row.loads.assign(instance_.types(), 0.0);
    row.task_flow.assign(n, 0.0);
    for (int task = last; task >= 0; task = from[task]) {
      row.task_flow[task] = 1;
      if (from[task] >= 0) row.edge_flow.push_back({from[task], task, 1});
    }
    add_row(std::move(row));
    return true;
  }

  // For each type the intervals that are broken most, from different begins.  Begins that were good
  // the last time are looked at first: all of them only where these have nothing.
  bool price_energy(const Table& share) {
    bool any = false;
    for (int type = 0; type < instance_.types(); ++type) {
      const EnergySweep sweep = sweep_of(windows_, type, share);
      std::vector<EnergySweep::Excess> found = worst(sweep, hot_[type]);
      if (found.empty()) {
        found = worst(sweep, sweep.begins(effort_.begins));
        hot_[type].clear();
        for (std::size_t k = 0; k < std::min(kHot, found.size()); ++k)
          hot_[type].push_back(found[k].interval.begin);
      }
      for (std::size_t k = 0; k < std::min(kRowsAtOnce, found.size()); ++k) {
        RefutationStage row;
        row.loads.assign(instance_.types(), 0.0);
        row.intervals.push_back({found[k].interval, 1.0 / instance_.units(type)});
        add_row(std::move(row));
        any = true;
      }
    }
    return any;
  }

  // Intervals that need too much, one from each begin at most, the worst first.
  std::vector<EnergySweep::Excess> worst(const EnergySweep& sweep,
                                         const std::vector<double>& begins) const {
    std::vector<EnergySweep::Excess> found = sweep.broken(begins, windows_.makespan());
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.amount > b.amount; });
    return found;
  }

  Table shares() const {
    Table share = windows_.decided();
    const std::vector<double> x = programme_.shares();
    for (std::size_t c = 0; c < x.size(); ++c)
      share(task_of_[c], type_of_[c]) = std::clamp(x[c], 0.0, 1.0);
    return share;
  }

  // The rows, weighted with the programme's prices, as one.
  RefutationStage sum_of_rows() const {
    RefutationStage sum;
    sum.loads.assign(instance_.types(), 0.0);
    std::map<std::pair<int, int>, double> edges;
    const std::vector<double> price = programme_.prices();
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (price[k] <= 0) continue;
      const RefutationStage& row = rows_[k];
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

  const TimeWindows& windows_;
  const Instance& instance_;
  Effort effort_;
  std::vector<int> task_of_, type_of_;  // of each choice
  ChoiceLp programme_;
  std::vector<RefutationStage> rows_;     // of the programme
  std::vector<std::vector<double>> hot_;  // of each type: begins of intervals that were good
};

}  // namespace cosched::dags::proof
