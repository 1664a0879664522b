#include "cosched/dags/check/windows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/parts.hpp"
#include "cosched/dags/check/relaxation.hpp"
#include "cosched/dags/model/grain.hpp"

namespace cosched::dags::check {
namespace {

const Parts kWindows("windows");

void require_flow(const Instance& instance, const proof::RefutationStage& stage) {
  if (!stage.task_flow.empty())
    kWindows.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
  else if (!stage.edge_flow.empty())
    kWindows.breach("flow on edges without flow through tasks");
  for (const hlp::EdgeFlow& flow : stage.edge_flow) kWindows.require_edge(instance, flow);
}

// Numbers, shapes and edges of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::RefutationStage& stage) {
  const int types = instance.types();
  if (!stage.raise.empty()) kWindows.require_raise(stage.raise, types);
  if (stage.raise.empty() || !stage.loads.empty())
    kWindows.require_amounts(stage.loads, types, "prices of the loads");
  require_flow(instance, stage);
  kWindows.require_intervals(stage.intervals, types);
}

class Checker {
 public:
  Checker(const Instance& instance, double makespan)
      : instance_(instance),
        makespan_(makespan),
        head_(instance.tasks(), 0.0),
        tail_(instance.tasks(), 0.0),
        open_(instance.tasks(), std::vector<char>(instance.types())) {
    for (int task = 0; task < instance.tasks(); ++task)
      for (int type = 0; type < instance.types(); ++type)
        open_[task][type] = instance.can_run(task, type);
  }

  /// Whether nothing is left after the stages.
  bool refutes(const std::vector<proof::RefutationStage>& stages) {
    if (!prune()) return true;
    for (const proof::RefutationStage& stage : stages) {
      check_interrupt();
      if (stage.raise.empty() ? combine(stage) : !raise(stage.raise)) return true;
      if (!prune()) return true;
    }
    return false;
  }

 private:
  double least(int task) const {
    double time = kInfinity;
    for (int type = 0; type < instance_.types(); ++type)
      if (open_[task][type]) time = std::min(time, instance_.time(task, type));
    return time;
  }

  void longest_paths() {
    const auto& order = instance_.graph().order();
    for (const int task : order)
      for (const int before : instance_.graph().predecessors(task))
        head_[task] = std::max(head_[task], head_[before] + least(before));
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      for (const int after : instance_.graph().successors(*task))
        tail_[*task] = std::max(tail_[*task], tail_[after] + least(after));
  }

  // False: a task can run nowhere in time.
  bool prune() {
    for (bool changed = true; changed;) {
      check_interrupt();
      changed = false;
      longest_paths();
      for (int task = 0; task < instance_.tasks(); ++task) {
        for (int type = 0; type < instance_.types(); ++type)
          if (open_[task][type] && head_[task] + instance_.time(task, type) + tail_[task] >
                                       makespan_ * (1 + proof::kProofSlack)) {
            open_[task][type] = 0;
            changed = true;
          }
        if (least(task) == kInfinity) return false;
      }
    }
    return true;
  }

  bool raise(const std::vector<double>& weights) {
    const auto& order = instance_.graph().order();
    for (const int task : order) head_[task] = raised(task, weights, head_, false);
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      tail_[*task] = raised(*task, weights, tail_, true);
    return true;
  }

  // Head (tail) of a task by its predecessors and by the loads of its ancestors.
  double raised(int task, const std::vector<double>& weights, const std::vector<double>& bound,
                bool backward) const {
    const auto before = [&](int other) {
      return backward ? instance_.graph().successors(other) : instance_.graph().predecessors(other);
    };
    double best = bound[task];
    for (const int other : before(task)) best = std::max(best, bound[other] + least(other));
    std::vector<char> seen(instance_.tasks(), 0);
    std::vector<int> ancestors{task};
    for (std::size_t k = 0; k < ancestors.size(); ++k)
      for (const int other : before(ancestors[k]))
        if (!seen[other]) {
          seen[other] = 1;
          ancestors.push_back(other);
        }
    ancestors.erase(ancestors.begin());
    std::sort(ancestors.begin(), ancestors.end(),
              [&](int a, int b) { return bound[a] > bound[b]; });
    double sum = 0;
    for (const int other : ancestors) {
      double work = kInfinity;
      for (int type = 0; type < instance_.types(); ++type)
        if (open_[other][type])
          work =
              std::min(work, weights[type] * instance_.time(other, type) / instance_.units(type));
      sum += work;
      best = std::max(best, bound[other] + sum);
    }
    return best;
  }

  // What a pair needs of the combined row.
  double need(const proof::RefutationStage& stage, const std::vector<double>& flow, int task,
              int type) const {
    const double p = instance_.time(task, type);
    double sum = stage.loads[type] * p / instance_.units(type) + flow[task] * p;
    for (const auto& [interval, price] : stage.intervals) {
      if (interval.type != type) continue;
      const double early = head_[task] + p - interval.begin;
      const double late = interval.end - (makespan_ - tail_[task] - p);
      const double inside =
          std::min(std::min(p, interval.end - interval.begin), std::min(early, late));
      if (inside > 0) sum += price * inside;
    }
    return sum;
  }

  // Flow through each task: what the edges bring or take, and at least task_flow.  It begins where
  // more runs through than comes, after the head, and ends before the tail.
  std::vector<double> through(const proof::RefutationStage& stage, double& left,
                              double& right) const {
    const int n = instance_.tasks();
    std::vector<double> flow(n, 0.0), in(n, 0.0), out(n, 0.0);
    for (const auto& [from, to, amount] : stage.edge_flow) {
      out[from] += amount;
      in[to] += amount;
    }
    for (int task = 0; task < n && !stage.task_flow.empty(); ++task) {
      flow[task] = std::max(stage.task_flow[task], std::max(in[task], out[task]));
      right += (flow[task] - in[task]) * makespan_;
      left += (flow[task] - in[task]) * head_[task] + (flow[task] - out[task]) * tail_[task];
    }
    return flow;
  }

  // True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
  bool combine(const proof::RefutationStage& stage) {
    const int n = instance_.tasks();
    double left = 0, right = 0;
    for (const double load : stage.loads) right += load * makespan_;
    std::vector<double> flow = through(stage, left, right);
    for (const auto& [interval, price] : stage.intervals)
      right += price * instance_.units(interval.type) * (interval.end - interval.begin);
    std::vector<std::vector<double>> needs(n, std::vector<double>(instance_.types(), kInfinity));
    for (int task = 0; task < n; ++task) {
      for (int type = 0; type < instance_.types(); ++type)
        if (open_[task][type]) needs[task][type] = need(stage, flow, task, type);
      left += *std::min_element(needs[task].begin(), needs[task].end());
    }
    const double allowed = right * (1 + proof::kProofSlack);
    if (left > allowed) return true;
    for (int task = 0; task < n; ++task) {
      const double cheapest = *std::min_element(needs[task].begin(), needs[task].end());
      for (int type = 0; type < instance_.types(); ++type)
        if (open_[task][type] && left - cheapest + needs[task][type] > allowed)
          open_[task][type] = 0;
    }
    return false;
  }

  const Instance& instance_;
  double makespan_;
  std::vector<double> head_, tail_;
  std::vector<std::vector<char>> open_;
};

}  // namespace

double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate) {
  const double relaxation = certified_bound(instance, certificate.relaxation);
  const double makespan = certificate.refutation.makespan;
  double bound = relaxation;
  if (makespan != 0) {
    kWindows.require_makespan(makespan);
    for (const proof::RefutationStage& stage : certificate.refutation.stages)
      require_stage(instance, stage);
    if (!Checker(instance, makespan).refutes(certificate.refutation.stages))
      kWindows.not_refuted(makespan);
    bound = std::max(bound, makespan);
  }
  const double grain = time_grain(instance);
  if (grain <= 0) return bound;
  const double by_relaxation = std::ceil(relaxation * (1 - kExactTolerance) / grain) * grain;
  return makespan == 0 ? by_relaxation : std::max(by_relaxation, least_above(makespan, grain));
}

}  // namespace cosched::dags::check
