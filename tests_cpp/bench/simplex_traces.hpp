// What the library's four simplex methods are asked for, recorded from the algorithms that ask.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cosched/bags/energy/walk.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/hlp/slice_model.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/moldable/minsum/basis.hpp"
#include "cosched/opt/matrix_game.hpp"
#include "cosched/packs/columns/column_relaxation.hpp"
#include "cosched/packs/columns/dominance.hpp"
#include "cosched/packs/columns/fractional.hpp"
#include "cosched/packs/columns/initial_columns.hpp"
#include "cosched/packs/columns/pricing.hpp"
#include "support/lp_trace.hpp"
#include "support/warm_glpk.hpp"

namespace cosched::testing {

/// opt::CoverLp: the masters of packs/relaxation.hpp for the column bound, from the artificial
/// columns on.  (At the sizes of the benchmark the relaxation forgets no column.)
inline LpTrace record_cover(const packs::Instance& instance) {
  const auto dominates = packs::columns::compute_dominance(instance.times());
  packs::columns::Restrictions restrictions;
  restrictions.counts = packs::columns::least_count_rows(instance, 64);
  packs::columns::ColumnRelaxation relaxation(instance, dominates, restrictions,
                                              packs::columns::initial_columns(instance));
  const opt::CoverLp& master = relaxation.master();
  LpTrace trace;
  trace.lower.assign(instance.tasks(), 1.0);
  for (const packs::columns::CountRow& row : restrictions.counts) trace.lower.push_back(row.packs);
  trace.upper.assign(trace.lower.size(), kInfinity);
  for (int i = 0; i < trace.rows(); ++i) {
    trace.basic_columns.push_back(i);
    trace.tight_rows.push_back(i);
  }
  int recorded = 0;
  for (std::int64_t work = -1; work != relaxation.work();) {
    if (master.columns() < recorded) throw SolverError("the relaxation forgot columns");
    TraceRound round;
    for (; recorded < master.columns(); ++recorded) {
      const int *begin = master.begin(recorded), *end = master.end(recorded);
      const double* values = master.values(recorded);
      round.add.push_back(
          {master.cost(recorded), 0, {begin, end}, {values, values + (end - begin)}});
    }
    if (!round.add.empty()) trace.rounds.push_back(std::move(round));
    // Goes on until some work is done: the first master, or one pricing and the master after it.
    packs::columns::ColumnRelaxation::SolveOptions options;
    options.max_operations = work = relaxation.work();
    relaxation.solve(options);
  }
  return trace;
}

/// opt::MatrixGame: the masters of dags/hlp_structured.cpp, with its smoothing at a middling gap
/// throughout.
inline LpTrace record_game(const dags::Instance& instance) {
  const int rows = instance.types() + 1;
  dags::hlp::TradeOff trade_off(instance);
  opt::MatrixGame game(rows);
  LpTrace trace;
  trace.lower.assign(rows, 0.0);
  trace.lower.push_back(1);
  trace.upper.assign(rows, kInfinity);
  trace.upper.push_back(1);
  std::vector<double> weights(rows, 1.0 / rows), best = weights;
  double bound = -kInfinity, scale = 0;
  for (int query = 0; query < 300; ++query) {
    const dags::hlp::TradeOff::RelaxationOptimum optimum = trade_off.minimise(weights);
    const std::vector<double>& measures = optimum.point.measures;
    if (optimum.bound > bound) {
      bound = optimum.bound;
      best = weights;
    }
    game.add_column(measures);
    game.solve();
    TraceRound round;
    TraceColumn value{1, -kInfinity, {}, {}}, column{0, 0, {}, {}};
    if (query == 0) scale = *std::max_element(measures.begin(), measures.end());
    for (int r = 0; r < rows; ++r) {
      value.rows.push_back(r);
      value.values.push_back(1);
      column.rows.push_back(r);
      column.values.push_back(-measures[r] / scale);
    }
    column.rows.push_back(rows);
    column.values.push_back(1);
    if (query == 0) {
      const auto top = std::max_element(measures.begin(), measures.end()) - measures.begin();
      trace.tight_rows = {static_cast<int>(top), rows};
      trace.basic_columns = {0, 1};
      round.add.push_back(std::move(value));
    }
    round.add.push_back(std::move(column));
    trace.rounds.push_back(std::move(round));
    if (leq(game.value(), bound, 0.1 * kExactTolerance)) break;
    const double smoothing = game.value() > bound * (1 + 1e-7) ? 0.85 : 0;
    for (int r = 0; r < rows; ++r)
      weights[r] = smoothing * best[r] + (1 - smoothing) * game.prices()[r];
  }
  return trace;
}

/// bags::energy::Walk: the relaxation at every makespan where the walk turns.  Finding those is not
/// asked of the others.
inline LpTrace record_walk(const bags::Instance& instance) {
  const int types = instance.types(), machines = instance.machine_types();
  bags::energy::Walk walk(instance, bags::energy::Cut::long_tasks);
  const double unit = walk.low();
  LpTrace trace;
  trace.dual = true;
  trace.lower.assign(types, 1.0);
  trace.lower.resize(types + machines, -kInfinity);
  trace.upper.assign(types + machines, 1.0);
  TraceRound round;
  std::vector<std::pair<double, int>> times;  // (ETC_ij, column), longest last
  for (int i = 0; i < types; ++i) {
    const auto n = static_cast<double>(instance.count(i));
    trace.tight_rows.push_back(i);
    for (int j = 0; j < machines; ++j) {
      if (!instance.is_allowed(i, j)) continue;
      const auto number = static_cast<int>(round.add.size());
      if (j == instance.thriftiest_machine_type(i)) trace.basic_columns.push_back(number);
      times.emplace_back(instance.etc(i, j), number);
      round.add.push_back({n * instance.joules(i, j) / instance.least_joules(),
                           0,
                           {i, types + j},
                           {1, n * instance.etc(i, j) / (instance.machines(j) * unit)}});
    }
  }
  std::sort(times.begin(), times.end());
  do {
    for (; !times.empty() && times.back().first > walk.low(); times.pop_back())
      round.close.push_back(times.back().second);
    for (int j = 0; j < machines; ++j)
      round.rows.push_back({types + j, -kInfinity, walk.low() / unit});
    trace.rounds.push_back(std::exchange(round, {}));
  } while (walk.go_to_next_piece());
  return trace;
}

/// moldable::minsum::solve: the programme in differences of neighbouring surface rows
/// (basis.hpp), part rows first, from the first basis of its Basis.  Either whole, or by
/// column generation with GLPK: the best column a job and round, until none improves.
class MinsumRecorder {
 public:
  MinsumRecorder(const moldable::minsum::IntervalModel& model, bool generate)
      : model_(model), jobs_(model.jobs()), intervals_(model.intervals()) {
    double capacity = 0;
    for (int j = 0; j < intervals_; ++j) capacity += model.capacity(j);
    area_scale_ = jobs_ / capacity;
    for (int i = 0; i < jobs_; ++i) unit_ = std::max(unit_, model.cost(i)[intervals_]);
    trace_.lower.assign(jobs_, 1.0);
    for (int j = 0; j < intervals_; ++j) trace_.lower.push_back(model.capacity(j) * area_scale_);
    trace_.upper = trace_.lower;
    for (int r = 0; r < trace_.rows(); ++r) trace_.tight_rows.push_back(r);
    begin(generate);
    if (generate) grow();
  }

  const LpTrace& trace() const { return trace_; }
  double unit() const { return unit_; }  // of the costs

 private:
  TraceColumn part(int i, int j) const {
    TraceColumn column{model_.cost(i)[j] / unit_, 0, {i}, {1}};
    if (j < intervals_) {
      column.rows.push_back(jobs_ + j);
      column.values.push_back(model_.area(i)[j] * area_scale_);
    }
    return column;
  }

  void begin(bool generate) {
    TraceRound round;
    const auto add = [&](TraceColumn column, bool basic) {
      if (basic) trace_.basic_columns.push_back(static_cast<int>(round.add.size()));
      round.add.push_back(std::move(column));
    };
    for (int j = 0; j < intervals_; ++j) {
      TraceColumn remaining_column{0, 0, {jobs_ + j}, {1}};
      if (j + 1 < intervals_) {
        remaining_column.rows.push_back(jobs_ + j + 1);
        remaining_column.values.push_back(-1);
      }
      add(std::move(remaining_column), true);
    }
    const moldable::minsum::IntervalBasis basis(model_);
    for (int i = 0; i < jobs_; ++i)
      for (int j = model_.first_interval(i); j <= intervals_; ++j)
        if (!generate || j == basis.key_interval(i) || j == intervals_)
          add(part(i, j), j == basis.key_interval(i));
    trace_.rounds.push_back(std::move(round));
  }

  void grow() {
    constexpr double kImproving = 2e-9;  // above GLPK's tolerance, or the column would not enter
    WarmGlpk glpk(trace_);
    for (;;) {
      glpk.advance();
      TraceRound round;
      for (int i = 0; i < jobs_; ++i) {
        double least_cost = glpk.row_price(i) - kImproving;
        int best = -1;
        for (int j = model_.first_interval(i); j < intervals_; ++j) {
          const double price = glpk.row_price(jobs_ + j) * area_scale_;
          const double cost = model_.cost(i)[j] / unit_ - model_.area(i)[j] * price;
          if (cost >= least_cost) continue;
          least_cost = cost;
          best = j;
        }
        if (best >= 0) round.add.push_back(part(i, best));
      }
      if (round.add.empty()) return;
      trace_.rounds.push_back(std::move(round));
    }
  }

  const moldable::minsum::IntervalModel& model_;
  int jobs_, intervals_;
  double area_scale_ = 1, unit_ = 0;
  LpTrace trace_;
};

}  // namespace cosched::testing
