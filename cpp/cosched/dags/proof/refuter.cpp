#include "cosched/dags/proof/refuter.hpp"

#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/proof/combination.hpp"

namespace cosched::dags::proof {
Refuter::Refuter(const Instance& instance, const hlp::Certificate& relaxation, const Effort& effort)
    : instance_(instance), relaxation_(relaxation), effort_(effort) {}

Attempt<Refutation> Refuter::refute(const Question& question) {
  proof_ = {question.makespan, {}};
  TimeWindows windows(instance_, question.makespan);
  const auto decide = [&] {
    if (!prune(windows)) return true;
    for (int pass = 0; pass < effort_.passes; ++pass) {
      if (pass < effort_.load_heads && raise_heads(windows)) return true;
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
  if (!refuted) return {};
  return {std::move(proof_), 0};
}

bool Refuter::prune(TimeWindows& windows) { return windows.prune(kSearchSlack); }

// True: T is refuted.
bool Refuter::raise_heads(TimeWindows& windows) {
  const int types = instance_.types();
  std::vector<std::vector<double>> mixtures;
  for (int type = 0; type < types && (effort_.each_type || types == 1); ++type) {
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
  for (int repeat = 0; repeat < (effort_.each_type ? 2 : 1); ++repeat) {
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
      if (found.amount <= 2 * kSearchSlack * right) continue;
      RefutationStage stage;
      stage.loads.assign(instance_.types(), 0.0);
      stage.intervals.push_back({found.interval, 1});
      if (Combination(windows, stage).excess(kSearchSlack) <= 0) continue;
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
  if (combination.excess(kSearchSlack) <= 0) {
    for (int task = 0; task < instance_.tasks(); ++task)
      for (int type = 0; type < instance_.types(); ++type)
        if (windows.only_type(task) < 0 && windows.open(task, type) &&
            combination.closes(task, type, kSearchSlack))
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

RefutationStage Refuter::solve_programme(const TimeWindows& windows) {
  const double enough = windows.makespan() * (1 + 4 * kSearchSlack);
  for (int round = 0; round < effort_.rounds; ++round) {
    check_interrupt();
    const bool done = programme_->solve(enough, 20 * (programme_->rows() + 5));
    if (!done || programme_->value() > enough || !price_rows(windows)) break;
  }
  programme_->solve(enough, 20 * (programme_->rows() + 5));
  return priced_rows();
}

}  // namespace cosched::dags::proof
