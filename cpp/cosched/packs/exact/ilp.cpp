#include "cosched/packs/exact/ilp.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::exact {
namespace {

constexpr double kMaxColumns = 2e6;

// Columns: x_{i,q,b} = 1 when task i runs on q processors in pack b; then y_b, the pack's cost.
class IntegerProgramme {
 public:
  // Costs are divided by that of the sequential co-schedule, so that the optimum is at most 1
  // and a task can be on q processors only where t_i(q) is.
  explicit IntegerProgramme(const Instance& instance)
      : instance_(instance), scale_(heuristic::sequential(instance).cost) {
    add_columns();
    add_assignments();  // (i)
    for (int b = 0; b < packs(); ++b) {
      add_size(b);   // (ii)
      add_procs(b);  // (iii)
      add_costs(b);  // (iv)
    }
  }

  const lp::Model& model() const { return model_; }
  double scale() const { return scale_; }

  Coschedule coschedule(const std::vector<double>& x) const {
    Packs tasks(packs());
    std::vector<int> procs(instance_.tasks(), 0);
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int b = 0; b < packs(); ++b)
        for (int q = 1; q <= instance_.procs(); ++q)
          if (x[column(i, q, b)] > 0.5) {
            tasks[b].push_back(i);
            procs[i] = q;
          }
    std::erase_if(tasks, [](const std::vector<int>& pack) { return pack.empty(); });
    return with_procs(instance_, tasks, procs);
  }

 private:
  int packs() const { return instance_.tasks(); }
  int column(int i, int q, int b) const { return (i * instance_.procs() + q - 1) * packs() + b; }
  double time(int i, int q) const { return instance_.times().measured_time(i, q) / scale_; }

  void add_columns() {
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q)
        for (int b = 0; b < packs(); ++b)
          model_.add_column(0, 0, time(i, q) <= 1 + kExactTolerance ? 1 : 0, true);
    first_cost_ = model_.columns();
    for (int b = 0; b < packs(); ++b) model_.add_column(1);
  }

  void add_assignments() {
    for (int i = 0; i < instance_.tasks(); ++i) {
      const int row = model_.add_row(1, 1);
      for (int q = 1; q <= instance_.procs(); ++q)
        for (int b = 0; b < packs(); ++b) model_.add_entry(row, column(i, q, b), 1);
    }
  }

  void add_size(int b) {
    const int row = model_.add_row(-kInfinity, instance_.max_tasks());
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) model_.add_entry(row, column(i, q, b), 1);
  }

  void add_procs(int b) {
    const int row = model_.add_row(-kInfinity, instance_.procs());
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) model_.add_entry(row, column(i, q, b), q);
  }

  void add_costs(int b) {
    check_interrupt();
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) {
        if (time(i, q) > 1 + kExactTolerance) continue;  // fixed to 0 above
        const int row = model_.add_row(-kInfinity, 0);
        model_.add_entry(row, column(i, q, b), time(i, q));
        model_.add_entry(row, first_cost_ + b, -1);
      }
  }

  const Instance& instance_;
  double scale_;
  int first_cost_ = 0;
  lp::Model model_;
};

void require_size(const Instance& instance) {
  const double n = instance.tasks();
  const double columns = n * n * instance.procs() + n;
  if (columns > kMaxColumns)
    throw SolverError("the integer programme of " + std::to_string(instance.tasks()) +
                      " tasks on " + std::to_string(instance.procs()) + " processors has " +
                      to_text(columns) + " columns: more than " + to_text(kMaxColumns));
}

}  // namespace

ExactResult ilp(const Instance& instance, std::optional<double> time_limit) {
  require_unshared(instance, "packs::exact::ilp");
  require_size(instance);
  ExactResult result;
  result.coschedule = heuristic::best_pack_by_pack(instance).coschedule;
  result.bound = std::max(area_bound(instance), longest_bound(instance));
  result.is_complete = finishes_within(time_limit, [&] {
    const IntegerProgramme programme(instance);
    const lp::Solution solution = solve_glpk(programme.model());
    result.is_proved = solution.status == lp::Status::optimal;
    if (!solution.x.empty()) {
      Coschedule coschedule = programme.coschedule(solution.x);
      if (coschedule.cost <= result.coschedule.cost) result.coschedule = std::move(coschedule);
    }
    // GLPK's bounds, and what it calls optimal, hold up to its tolerances, which are 1e-7 relative:
    // ten times that is taken off.
    constexpr double kGlpkError = 1e-6;
    result.bound = std::max(result.bound, solution.bound * programme.scale() * (1 - kGlpkError));
    lp::require_optimal(solution, "the integer programme");
  });
  result.bound = std::min(result.bound, result.coschedule.cost);
  return result;
}

}  // namespace cosched::packs::exact
