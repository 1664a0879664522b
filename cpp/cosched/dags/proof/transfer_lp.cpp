#include "cosched/dags/proof/transfer_lp.hpp"

namespace cosched::dags::proof {

TransferLp::TransferLp(const TransferWindows& windows, std::vector<TypeInterval> intervals,
                       double scale)
    : windows_(windows),
      costs_(windows.costs()),
      types_(windows.instance().types()),
      intervals_(std::move(intervals)),
      scale_(scale) {
  add_columns();
  const int n = windows.instance().tasks();
  enter_row_.resize(n);
  leave_row_.resize(n);
  for (int task = 0; task < n; ++task) add_windows(task);
  path_row_.resize(costs_.edges());
  plan_row_.assign(static_cast<std::size_t>(costs_.edges()) * types_, -1);
  for (int edge = 0; edge < costs_.edges(); ++edge) add_edge(edge);
  add_loads();
}

std::vector<double> TransferLp::interior_point() const {
  const Instance& instance = windows_.instance();
  std::vector<double> point(programme_.columns(), 0.0);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int k = 0; k < free_shares_[task]; ++k)
      point[share_begin_[task] + k] = 1.0 / (free_shares_[task] + 1);
  for (int edge = 0; edge < costs_.edges(); ++edge) {
    const int i = free_shares_[costs_.from(edge)], j = free_shares_[costs_.to(edge)];
    for (int k = 0; k < i * j && has_plan(edge); ++k)
      point[plan_begin_[edge] + k] = 1.0 / ((i + 1) * (j + 1));
  }
  // How far inside its rows the point lies, in T; spread over the tasks, because ends add up.
  constexpr double kMargin = 0.1;
  double lambda = 0;
  const auto shortfall = [&](int row) {
    return programme_.right[row] - programme_.row_value(row, point);
  };
  for (const int task : instance.graph().order()) {
    double end = shortfall(enter_row_[task]);
    for (const int edge : costs_.in_edges(task)) end = std::max(end, shortfall(path_row_[edge]));
    point[end_column(task)] = end + kMargin / instance.tasks();
    lambda = std::max(lambda, shortfall(leave_row_[task]));
  }
  for (const int row : load_row_) lambda = std::max(lambda, shortfall(row));
  for (std::size_t k = 0; k < interval_row_.size(); ++k)
    lambda = std::max(lambda, shortfall(interval_row_[k]) * windows_.makespan() /
                                  (intervals_[k].end - intervals_[k].begin));
  point[0] = lambda + kMargin;
  return point;
}

Table TransferLp::shares(const std::vector<double>& point) const {
  const int n = windows_.instance().tasks();
  Table shares(n, types_);
  for (int task = 0; task < n; ++task) {
    double key_share = 1;
    for (int type = 0; type < types_; ++type) {
      const int rank = rank_[static_cast<std::size_t>(task) * types_ + type];
      if (rank < 0) continue;
      shares(task, type) = std::clamp(point[share_begin_[task] + rank], 0.0, 1.0);
      key_share -= shares(task, type);
    }
    shares(task, key_type_[task]) = std::max(0.0, key_share);
    shares.row(task) /= shares.row(task).sum();
  }
  return shares;
}

std::vector<double> TransferLp::ends(const std::vector<double>& point) const {
  std::vector<double> ends;
  for (int task = 0; task < windows_.instance().tasks(); ++task)
    ends.push_back(point[end_column(task)] * scale_);
  return ends;
}

TransferStage TransferLp::stage(const std::vector<double>& prices) const {
  const Instance& instance = windows_.instance();
  const auto price = [&](int row) { return std::max(0.0, prices[row]); };
  TransferStage stage;
  for (const int row : load_row_) stage.loads.push_back(price(row));
  for (std::size_t k = 0; k < intervals_.size(); ++k)
    if (price(interval_row_[k]) > 0)
      stage.intervals.push_back(
          {intervals_[k], price(interval_row_[k]) / instance.units(intervals_[k].type)});
  stage.edge_flow.resize(costs_.edges());
  stage.shift.assign(static_cast<std::size_t>(costs_.edges()) * types_, 0.0);
  stage.task_flow.assign(instance.tasks(), 0.0);
  for (int edge = 0; edge < costs_.edges(); ++edge) {
    const int i = costs_.from(edge), j = costs_.to(edge);
    const double flow = price(path_row_[edge]);
    stage.edge_flow[edge] = flow;
    stage.task_flow[j] += flow;
    for (int q = 0; q < types_; ++q) {
      if (!windows_.is_open(i, q)) continue;
      const std::size_t index = static_cast<std::size_t>(edge) * types_ + q;
      const double entry_price = plan_row_[index] < 0 ? 0 : price(plan_row_[index]);
      stage.shift[index] = flow * cost(edge, q, key_type_[j]) * scale_ - entry_price * scale_;
    }
  }
  for (int task = 0; task < instance.tasks(); ++task)
    stage.task_flow[task] += price(enter_row_[task]);
  return stage;
}

TransferLp::Expression TransferLp::share(int task, int type) const {
  if (type == key_type_[task]) {
    Expression key_share{1, {}};
    for (int k = 0; k < free_shares_[task]; ++k)
      key_share.entries.emplace_back(share_begin_[task] + k, -1.0);
    return key_share;
  }
  const int rank = rank_[static_cast<std::size_t>(task) * types_ + type];
  return {0, {{share_begin_[task] + rank, 1.0}}};
}

// y_e[q][r] as an expression.  An edge without columns of its own has a task with one open type:
// then the entry is a share of the other task.
TransferLp::Expression TransferLp::plan_entry(int edge, int q, int r) const {
  const int i = costs_.from(edge), j = costs_.to(edge);
  if (free_shares_[i] == 0) return share(j, r);
  if (free_shares_[j] == 0) return share(i, q);
  const int first_rank = rank_[static_cast<std::size_t>(i) * types_ + q];
  const int second_rank = rank_[static_cast<std::size_t>(j) * types_ + r];
  const auto column = [&](int a, int b) { return plan_begin_[edge] + a * free_shares_[j] + b; };
  if (first_rank >= 0 && second_rank >= 0) return {0, {{column(first_rank, second_rank), 1.0}}};
  Expression entry;
  if (first_rank >= 0) {
    entry = share(i, q);
    for (int b = 0; b < free_shares_[j]; ++b)
      entry.entries.emplace_back(column(first_rank, b), -1.0);
  } else if (second_rank >= 0) {
    entry = share(j, r);
    for (int a = 0; a < free_shares_[i]; ++a)
      entry.entries.emplace_back(column(a, second_rank), -1.0);
  } else {
    entry = share(i, q);
    entry.add(1, share(j, r));
    entry.constant -= 1;
    for (int k = 0; k < free_shares_[i] * free_shares_[j]; ++k)
      entry.entries.emplace_back(plan_begin_[edge] + k, 1.0);
  }
  return entry;
}

double TransferLp::cost(int edge, int q, int r) const {
  const double open = windows_.least_open_cost(edge, q, r);
  if (open < kInfinity) return open / scale_;
  return std::max(costs_.least_cost(edge, q, r), kClosedCost * windows_.makespan()) / scale_;
}

void TransferLp::add_columns() {
  const Instance& instance = windows_.instance();
  const int n = instance.tasks();
  programme_.cost.assign(1 + n, 0.0);
  programme_.cost[0] = 1;
  key_type_.assign(n, -1);
  free_shares_.assign(n, 0);
  rank_.assign(instance.times().size(), -1);
  for (int task = 0; task < n; ++task) {
    share_begin_.push_back(programme_.columns());
    for (int type = 0; type < types_; ++type) {
      if (!windows_.is_open(task, type)) continue;
      if (key_type_[task] < 0) {
        key_type_[task] = type;
        continue;
      }
      rank_[static_cast<std::size_t>(task) * types_ + type] = free_shares_[task]++;
      programme_.cost.push_back(0);
    }
  }
  plan_begin_.assign(costs_.edges(), -1);
  for (int edge = 0; edge < costs_.edges(); ++edge) {
    const int i = costs_.from(edge), j = costs_.to(edge);
    if (free_shares_[i] == 0 || free_shares_[j] == 0) continue;
    bool any_cost = false;
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r)
        any_cost =
            any_cost || (windows_.is_open(i, q) && windows_.is_open(j, r) && cost(edge, q, r) > 0);
    if (!any_cost) continue;
    plan_begin_[edge] = programme_.columns();
    programme_.cost.resize(programme_.columns() + free_shares_[i] * free_shares_[j], 0.0);
  }
}

// Adds the row `expression` >= 0; returns its number.
int TransferLp::add_row(Expression expression) {
  std::sort(expression.entries.begin(), expression.entries.end());
  std::size_t merged = 0;
  for (const auto& [column, value] : expression.entries) {
    if (merged > 0 && expression.entries[merged - 1].first == column)
      expression.entries[merged - 1].second += value;
    else
      expression.entries[merged++] = {column, value};
  }
  expression.entries.resize(merged);
  return programme_.add_row(expression.entries, -expression.constant);
}

void TransferLp::add_windows(int task) {
  const Instance& instance = windows_.instance();
  Expression enter{0, {{end_column(task), 1.0}}}, leave{0, {{0, 1.0}, {end_column(task), -1.0}}};
  for (int type = 0; type < types_; ++type) {
    if (!windows_.is_open(task, type)) continue;
    enter.add(-(windows_.head(task, type) + instance.time(task, type)) / scale_, share(task, type));
    leave.add(-windows_.tail(task, type) / scale_, share(task, type));
    if (free_shares_[task] > 0) add_row(share(task, type));
  }
  enter_row_[task] = add_row(std::move(enter));
  leave_row_[task] = add_row(std::move(leave));
}

void TransferLp::add_edge(int edge) {
  const Instance& instance = windows_.instance();
  const int i = costs_.from(edge), j = costs_.to(edge);
  Expression path{0, {{end_column(j), 1.0}, {end_column(i), -1.0}}};
  for (int r = 0; r < types_; ++r)
    if (windows_.is_open(j, r)) path.add(-instance.time(j, r) / scale_, share(j, r));
  for (int q = 0; q < types_; ++q)
    for (int r = 0; r < types_; ++r) {
      if (!windows_.is_open(i, q) || !windows_.is_open(j, r)) continue;
      const double price = cost(edge, q, r);
      if (!has_plan(edge) && price == 0) continue;
      const Expression entry = plan_entry(edge, q, r);
      if (price > 0) path.add(-price, entry);
      if (!has_plan(edge)) continue;
      const int row = add_row(entry);
      if (r == key_type_[j]) plan_row_[static_cast<std::size_t>(edge) * types_ + q] = row;
    }
  path_row_[edge] = add_row(std::move(path));
}

void TransferLp::add_loads() {
  const Instance& instance = windows_.instance();
  for (int type = 0; type < types_; ++type) {
    Expression load{0, {{0, 1.0}}};
    for (int task = 0; task < instance.tasks(); ++task)
      if (windows_.is_open(task, type))
        load.add(-instance.time(task, type) / (instance.units(type) * scale_), share(task, type));
    load_row_.push_back(add_row(std::move(load)));
  }
  for (const TypeInterval& interval : intervals_) {
    const double length = interval.end - interval.begin;
    Expression row{0, {{0, length / windows_.makespan()}}};
    for (int task = 0; task < instance.tasks(); ++task) {
      if (!windows_.is_open(task, interval.type)) continue;
      const double inside_time = energy_inside(windows_, task, interval);
      if (inside_time > 0)
        row.add(-inside_time / (instance.units(interval.type) * scale_),
                share(task, interval.type));
    }
    interval_row_.push_back(add_row(std::move(row)));
  }
}

}  // namespace cosched::dags::proof
