// The linear programme of the bound `transfers` (transfers_bound.hpp), for any solver.
//
//   minimise lambda
//   C_i + sum_qr c_e[q][r] y_e[q][r] + P_j(x) <= C_j        for every edge e = (i, j)
//   sum_q x_jq (head_jq + p_jq) <= C_j,   C_j + sum_q x_jq tail_jq <= lambda
//   (1/m_q) sum_j p_jq x_jq <= lambda,    (1/m_q) sum_j x_jq energy(j, [a, b)) <= (b - a) lambda /
//   T sum_r y_e[q][r] = x_iq,  sum_q y_e[q][r] = x_jr,  sum_q x_jq = 1,  x, y >= 0.
//
// Shares of one type a task, and one row and column of each plan, are expressed by the others: what
// remains has inequalities only (Q = 2: a column and up to five rows an edge, and none but its path
// where its plan is decided or costs nothing).  A closed pair of an edge costs many times T.  Times
// are divided by `scale`.
//
// Three tasks, two types: a and c can run on both, b on the GPU only; edges (a, c) and (b, c) cost.
//  The shares are x_a and x_c on the GPU, those on the CPU 1 - x_a and 1 - x_c; b has none.  The
//  plan of (a, c)
// is one column y = y[GPU][GPU], of which the other three entries are x_a - y, x_c - y and
// 1 - x_a - x_c + y; that of (b, c) is c's share.  So there are lambda, three C, two shares and one
// entry: 7 columns, where the programme above has 1 + 3 + 5 + 6 and 10 equations.
#pragma once

#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/transfer_windows.hpp"
#include "cosched/opt/interior_point.hpp"

namespace cosched::dags::proof {

class TransferLp {
 public:
  /// `intervals`: for rows of energy; they need a finite makespan.
  TransferLp(const TransferWindows& windows, std::vector<Interval> intervals, double scale)
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

  const opt::InequalityLp& programme() const { return programme_; }

  /// A point with all rows strictly satisfied: equal shares.
  std::vector<double> inside() const {
    const Instance& instance = windows_.instance();
    std::vector<double> point(programme_.columns(), 0.0);
    for (int task = 0; task < instance.tasks(); ++task)
      for (int k = 0; k < count_[task]; ++k)
        point[share_begin_[task] + k] = 1.0 / (count_[task] + 1);
    for (int edge = 0; edge < costs_.edges(); ++edge) {
      const int i = count_[costs_.from(edge)], j = count_[costs_.to(edge)];
      for (int k = 0; k < i * j && planned(edge); ++k)
        point[plan_begin_[edge] + k] = 1.0 / ((i + 1) * (j + 1));
    }
    constexpr double kSpare = 0.1;
    double lambda = 0;
    const auto missing = [&](int row) { return programme_.right[row] - programme_.at(row, point); };
    for (const int task : instance.graph().order()) {
      double end = missing(enter_row_[task]);
      for (const int edge : costs_.in(task)) end = std::max(end, missing(path_row_[edge]));
      point[end_of(task)] = end + kSpare / instance.tasks();
      lambda = std::max(lambda, missing(leave_row_[task]));
    }
    for (const int row : load_row_) lambda = std::max(lambda, missing(row));
    for (std::size_t k = 0; k < interval_row_.size(); ++k)
      lambda = std::max(lambda, missing(interval_row_[k]) * windows_.makespan() /
                                    (intervals_[k].end - intervals_[k].begin));
    point[0] = lambda + kSpare;
    return point;
  }

  /// (n, Q) shares of a point, clamped to 0..1, rows sum to 1.
  Table shares(const std::vector<double>& point) const {
    const int n = windows_.instance().tasks();
    Table shares(n, types_);
    for (int task = 0; task < n; ++task) {
      double rest = 1;
      for (int type = 0; type < types_; ++type) {
        const int rank = rank_[static_cast<std::size_t>(task) * types_ + type];
        if (rank < 0) continue;
        shares(task, type) = std::clamp(point[share_begin_[task] + rank], 0.0, 1.0);
        rest -= shares(task, type);
      }
      shares(task, key_[task]) = std::max(0.0, rest);
      shares.row(task) /= shares.row(task).sum();
    }
    return shares;
  }

  /// Earliest ends C_j under them, seconds, as the point has them.
  std::vector<double> ends(const std::vector<double>& point) const {
    std::vector<double> ends;
    for (int task = 0; task < windows_.instance().tasks(); ++task)
      ends.push_back(point[end_of(task)] * scale_);
    return ends;
  }

  /// The combination of rows with these prices.
  TransferStage stage(const std::vector<double>& prices) const {
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
        if (!windows_.open(i, q)) continue;
        const std::size_t at = static_cast<std::size_t>(edge) * types_ + q;
        const double spare = plan_row_[at] < 0 ? 0 : price(plan_row_[at]);
        stage.shift[at] = flow * cost(edge, q, key_[j]) * scale_ - spare * scale_;
      }
    }
    for (int task = 0; task < instance.tasks(); ++task)
      stage.task_flow[task] += price(enter_row_[task]);
    return stage;
  }

 private:
  static constexpr double kClosed = 20;  // times T: cost of a pair of an edge that is closed

  // A share or a plan's entry: constant + sum of value x column.
  struct Expression {
    double constant = 0;
    std::vector<std::pair<int, double>> entries;

    void add(double factor, const Expression& other) {
      constant += factor * other.constant;
      for (const auto& [column, value] : other.entries)
        entries.emplace_back(column, factor * value);
    }
  };
  int end_of(int task) const { return 1 + task; }

  Expression share(int task, int type) const {
    if (type == key_[task]) {
      Expression rest{1, {}};
      for (int k = 0; k < count_[task]; ++k)
        rest.entries.emplace_back(share_begin_[task] + k, -1.0);
      return rest;
    }
    const int rank = rank_[static_cast<std::size_t>(task) * types_ + type];
    return {0, {{share_begin_[task] + rank, 1.0}}};
  }

  // y_e[q][r]; where the edge has no plan of its own one of the two tasks is decided.
  Expression plan(int edge, int q, int r) const {
    const int i = costs_.from(edge), j = costs_.to(edge);
    if (count_[i] == 0) return share(j, r);
    if (count_[j] == 0) return share(i, q);
    const int mine = rank_[static_cast<std::size_t>(i) * types_ + q];
    const int its = rank_[static_cast<std::size_t>(j) * types_ + r];
    const auto column = [&](int a, int b) { return plan_begin_[edge] + a * count_[j] + b; };
    if (mine >= 0 && its >= 0) return {0, {{column(mine, its), 1.0}}};
    Expression entry;
    if (mine >= 0) {
      entry = share(i, q);
      for (int b = 0; b < count_[j]; ++b) entry.entries.emplace_back(column(mine, b), -1.0);
    } else if (its >= 0) {
      entry = share(j, r);
      for (int a = 0; a < count_[i]; ++a) entry.entries.emplace_back(column(a, its), -1.0);
    } else {
      entry = share(i, q);
      entry.add(1, share(j, r));
      entry.constant -= 1;
      for (int k = 0; k < count_[i] * count_[j]; ++k)
        entry.entries.emplace_back(plan_begin_[edge] + k, 1.0);
    }
    return entry;
  }

  bool planned(int edge) const { return plan_begin_[edge] >= 0; }

  double cost(int edge, int q, int r) const {
    const double open = windows_.cost(edge, q, r);
    if (open < kInfinity) return open / scale_;
    return std::max(costs_.least(edge, q, r), kClosed * windows_.makespan()) / scale_;
  }

  void add_columns() {
    const Instance& instance = windows_.instance();
    const int n = instance.tasks();
    programme_.cost.assign(1 + n, 0.0);
    programme_.cost[0] = 1;
    key_.assign(n, -1);
    count_.assign(n, 0);
    rank_.assign(instance.times().size(), -1);
    for (int task = 0; task < n; ++task) {
      share_begin_.push_back(programme_.columns());
      for (int type = 0; type < types_; ++type) {
        if (!windows_.open(task, type)) continue;
        if (key_[task] < 0) {
          key_[task] = type;
          continue;
        }
        rank_[static_cast<std::size_t>(task) * types_ + type] = count_[task]++;
        programme_.cost.push_back(0);
      }
    }
    plan_begin_.assign(costs_.edges(), -1);
    for (int edge = 0; edge < costs_.edges(); ++edge) {
      const int i = costs_.from(edge), j = costs_.to(edge);
      if (count_[i] == 0 || count_[j] == 0) continue;
      bool any = false;
      for (int q = 0; q < types_; ++q)
        for (int r = 0; r < types_; ++r)
          any = any || (windows_.open(i, q) && windows_.open(j, r) && cost(edge, q, r) > 0);
      if (!any) continue;
      plan_begin_[edge] = programme_.columns();
      programme_.cost.resize(programme_.columns() + count_[i] * count_[j], 0.0);
    }
  }

  // The row expression >= 0.
  int add_row(Expression expression) {
    std::sort(expression.entries.begin(), expression.entries.end());
    std::size_t used = 0;
    for (const auto& [column, value] : expression.entries) {
      if (used > 0 && expression.entries[used - 1].first == column)
        expression.entries[used - 1].second += value;
      else
        expression.entries[used++] = {column, value};
    }
    expression.entries.resize(used);
    return programme_.add_row(expression.entries, -expression.constant);
  }

  void add_windows(int task) {
    const Instance& instance = windows_.instance();
    Expression enter{0, {{end_of(task), 1.0}}}, leave{0, {{0, 1.0}, {end_of(task), -1.0}}};
    for (int type = 0; type < types_; ++type) {
      if (!windows_.open(task, type)) continue;
      enter.add(-(windows_.head(task, type) + instance.time(task, type)) / scale_,
                share(task, type));
      leave.add(-windows_.tail(task, type) / scale_, share(task, type));
      if (count_[task] > 0) add_row(share(task, type));
    }
    enter_row_[task] = add_row(std::move(enter));
    leave_row_[task] = add_row(std::move(leave));
  }

  void add_edge(int edge) {
    const Instance& instance = windows_.instance();
    const int i = costs_.from(edge), j = costs_.to(edge);
    Expression path{0, {{end_of(j), 1.0}, {end_of(i), -1.0}}};
    for (int r = 0; r < types_; ++r)
      if (windows_.open(j, r)) path.add(-instance.time(j, r) / scale_, share(j, r));
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        if (!windows_.open(i, q) || !windows_.open(j, r)) continue;
        const double price = cost(edge, q, r);
        if (!planned(edge) && price == 0) continue;
        const Expression entry = plan(edge, q, r);
        if (price > 0) path.add(-price, entry);
        if (!planned(edge)) continue;
        const int row = add_row(entry);
        if (r == key_[j]) plan_row_[static_cast<std::size_t>(edge) * types_ + q] = row;
      }
    path_row_[edge] = add_row(std::move(path));
  }

  void add_loads() {
    const Instance& instance = windows_.instance();
    for (int type = 0; type < types_; ++type) {
      Expression load{0, {{0, 1.0}}};
      for (int task = 0; task < instance.tasks(); ++task)
        if (windows_.open(task, type))
          load.add(-instance.time(task, type) / (instance.units(type) * scale_), share(task, type));
      load_row_.push_back(add_row(std::move(load)));
    }
    for (const Interval& interval : intervals_) {
      const double length = interval.end - interval.begin;
      Expression row{0, {{0, length / windows_.makespan()}}};
      for (int task = 0; task < instance.tasks(); ++task) {
        if (!windows_.open(task, interval.type)) continue;
        const double inside = energy(windows_, task, interval);
        if (inside > 0)
          row.add(-inside / (instance.units(interval.type) * scale_), share(task, interval.type));
      }
      interval_row_.push_back(add_row(std::move(row)));
    }
  }

  const TransferWindows& windows_;
  const TypeCosts& costs_;
  int types_;
  std::vector<Interval> intervals_;
  double scale_;
  opt::InequalityLp programme_;
  std::vector<int> key_;          // of each task: the type whose share the others leave
  std::vector<int> share_begin_;  // of each task: column of its first share
  std::vector<int> rank_;         // (n, Q): of an open type among those but the key, -1
  std::vector<int> count_;        // of each task: open types but the key
  std::vector<int> plan_begin_;   // of each edge: column of its plan, -1
  std::vector<int> enter_row_, leave_row_, path_row_;
  std::vector<int> plan_row_;  // (e, Q): row of the plan's entry (q, key of the second), -1
  std::vector<int> load_row_, interval_row_;
};

}  // namespace cosched::dags::proof
