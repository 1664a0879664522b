#include "cosched/dags/proof/windows_lp.hpp"

namespace cosched::dags::proof {

WindowsLp::WindowsLp(const TimeWindows& windows, const hlp::HlpCertificate& relaxation,
                     const std::vector<ReusableRow>& earlier_rows, const RefuterParams& params)
    : windows_(windows),
      instance_(windows.instance()),
      params_(params),
      programme_(group_begins(windows)),
      good_begins_(windows.instance().types()) {
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
  for (const ReusableRow& earlier : earlier_rows) {
    RefutationStage row = earlier.row;
    if (!earlier.interval.empty()) {
      const std::optional<TypeInterval> interval_now =
          earlier.interval.front().interval_at(windows.makespan());
      if (!interval_now) return;
      row.intervals.front().interval = *interval_now;
    }
    add_row(std::move(row));
  }
}

RefutationStage WindowsLp::solve() {
  // A value that refutes T, with room for the rounding of the combined row.
  const double target_value = windows_.makespan() * (1 + 4 * kSearchSlack);
  // Pivots of one call at most: a few for each row are usual.
  constexpr int kPivotsPerRow = 20, kExtraRows = 5;
  const auto max_pivots = [&] { return kPivotsPerRow * (programme_.rows() + kExtraRows); };
  for (int round = 0; round < params_.max_rounds; ++round) {
    check_interrupt();
    const bool is_solved = programme_.solve(target_value, max_pivots());
    if (!is_solved || programme_.value() > target_value || !add_violated_rows()) break;
  }
  programme_.solve(target_value, max_pivots());
  return sum_of_rows();
}

std::vector<ReusableRow> WindowsLp::reusable_rows() const {
  const std::vector<double> price = programme_.prices();
  std::vector<ReusableRow> reusable;
  for (std::size_t k = 1 + instance_.types();
       k < rows_.size() && reusable.size() < params_.max_reusable_rows; ++k) {
    if (price[k] <= 0) continue;
    ReusableRow row{rows_[k], {}};
    for (const PricedInterval& priced : rows_[k].intervals)
      row.interval.emplace_back(priced.interval, windows_.makespan());
    reusable.push_back(std::move(row));
  }
  return reusable;
}

// Begins of the groups of choices: a group for each undecided task.
std::vector<int> WindowsLp::group_begins(const TimeWindows& windows) {
  std::vector<int> begins{0};
  for (int task = 0; task < windows.instance().tasks(); ++task) {
    if (windows.only_type(task) >= 0) continue;
    int open = 0;
    for (int type = 0; type < windows.instance().types(); ++type)
      open += windows.is_open(task, type);
    begins.push_back(begins.back() + open);
  }
  return begins;
}

void WindowsLp::add_choices() {
  for (int task = 0; task < instance_.tasks(); ++task)
    for (int type = 0; type < instance_.types() && windows_.only_type(task) < 0; ++type)
      if (windows_.is_open(task, type)) {
        choice_task_.push_back(task);
        choice_type_.push_back(type);
      }
}

// Adds a row to the programme: the combination (windows_combination.hpp) of this row alone.
void WindowsLp::add_row(RefutationStage row) {
  const int n = instance_.tasks();
  std::vector<double> coefficients(choice_type_.size());
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
    if (windows_.only_type(task) >= 0) limit -= row_need(row, flow, task, windows_.only_type(task));
  for (std::size_t c = 0; c < choice_type_.size(); ++c)
    coefficients[c] = row_need(row, flow, choice_task_[c], choice_type_[c]);
  programme_.add_row(std::move(coefficients), weight, limit);
  rows_.push_back(std::move(row));
}

// The coefficient of a task on a type in a row.  `flow` is empty where the row has none.
double WindowsLp::row_need(const RefutationStage& row, const std::vector<double>& flow, int task,
                           int type) const {
  const double rate = row.loads[type] / instance_.units(type) + (flow.empty() ? 0 : flow[task]);
  double sum = rate > 0 ? rate * instance_.time(task, type) : 0;
  for (const PricedInterval& priced : row.intervals)
    if (priced.interval.type == type)
      sum += priced.price * energy_inside(windows_, task, priced.interval);
  return sum;
}

bool WindowsLp::add_violated_rows() {
  if (programme_.rows() > params_.max_rows) {
    // A third of the rows is dropped at once, so that not every round drops some.
    std::vector<RefutationStage> rows;
    for (const int k : programme_.drop_loose_rows(params_.max_rows * 2 / 3))
      rows.push_back(std::move(rows_[k]));
    rows_ = std::move(rows);
  }
  const Table share = shares();
  const bool has_new_path = add_violated_path(share);
  const bool has_new_interval = add_violated_intervals(share);
  return has_new_path || has_new_interval;
}

// Adds the longest path under the times of the shares, if it is violated; returns whether it is.
bool WindowsLp::add_violated_path(const Table& share) {
  const int n = instance_.tasks();
  std::vector<double> end(n), begin(n);
  std::vector<int> from(n, -1);
  int last = 0;
  for (const int task : instance_.graph().order()) {
    begin[task] = windows_.head(task);
    for (const int before : instance_.graph().predecessors(task))
      if (end[before] > begin[task] * (1 + kSumTolerance)) {
        begin[task] = end[before];
        from[task] = before;
      }
    double duration = 0;
    for (int type = 0; type < instance_.types(); ++type)
      if (share(task, type) > 0) duration += share(task, type) * instance_.time(task, type);
    end[task] = begin[task] + duration;
    if (end[task] + windows_.tail(task) > end[last] + windows_.tail(last)) last = task;
  }
  if (end[last] + windows_.tail(last) <= programme_.value() + kLeastViolation * windows_.makespan())
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

// Adds for each type the intervals that are violated most, from different begins; returns whether
// there are any.  Tries begins that had violations the last time first, and all begins only where
// these have none.
bool WindowsLp::add_violated_intervals(const Table& share) {
  bool any_added = false;
  for (int type = 0; type < instance_.types(); ++type) {
    const EnergySweep sweep = make_sweep(windows_, type, share);
    std::vector<EnergySweep::Excess> violations = worst_first(sweep, good_begins_[type]);
    if (violations.empty()) {
      violations = worst_first(sweep, sweep.candidate_begins(params_.max_begins));
      good_begins_[type].clear();
      for (std::size_t k = 0; k < std::min(params_.good_begins, violations.size()); ++k)
        good_begins_[type].push_back(violations[k].interval.begin);
    }
    for (std::size_t k = 0; k < std::min(params_.new_rows_per_type, violations.size()); ++k) {
      RefutationStage row;
      row.loads.assign(instance_.types(), 0.0);
      row.intervals.push_back({violations[k].interval, 1.0 / instance_.units(type)});
      add_row(std::move(row));
      any_added = true;
    }
  }
  return any_added;
}

// The violated intervals, at most one from each begin, the worst first.
std::vector<EnergySweep::Excess> WindowsLp::worst_first(const EnergySweep& sweep,
                                                        const std::vector<double>& begins) const {
  std::vector<EnergySweep::Excess> violations =
      sweep.violated_intervals(begins, windows_.makespan());
  std::sort(violations.begin(), violations.end(),
            [](const auto& a, const auto& b) { return a.amount > b.amount; });
  return violations;
}

Table WindowsLp::shares() const {
  Table share = windows_.decided_shares();
  const std::vector<double> x = programme_.shares();
  for (std::size_t c = 0; c < x.size(); ++c)
    share(choice_task_[c], choice_type_[c]) = std::clamp(x[c], 0.0, 1.0);
  return share;
}

// All rows, weighted with the prices of the programme, as one.
RefutationStage WindowsLp::sum_of_rows() const {
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

}  // namespace cosched::dags::proof
