// The check of a TransfersCertificate.  It shares no code with the solvers: heads, joins, load heads
// and combined rows are worked out here again, in the plainest way.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/transfers_bound.hpp"

namespace cosched::dags {
namespace {

[[noreturn]] void breach(const std::string& text) {
  throw SolverError("transfers certificate: " + text);
}

void require_finite(const std::vector<double>& amounts, std::size_t count, const char* name,
                    double least) {
  if (amounts.size() != count) breach(std::string(name) + " has the wrong length");
  for (const double amount : amounts)
    if (!(amount >= least && amount < kInfinity))
      breach(std::string(name) + " has " + to_text(amount) + ": expected a finite number" +
             (least == 0 ? " >= 0" : ""));
}

// Numbers and shapes of a stage, before anything is made of them.
void require_stage(const Instance& instance, const TransferStage& stage) {
  constexpr double kLeast = -std::numeric_limits<double>::max();
  const std::size_t types = instance.types(), edges = instance.graph().edges();
  if (!stage.guesses.empty()) {
    const int ways = instance.types() * (instance.types() + 1);
    for (const auto& [of_edge, item, choice] : stage.guesses)
      if (item < 0 || item >= (of_edge ? instance.graph().edges() : instance.tasks()) ||
          choice < 0 || choice >= (of_edge ? ways : instance.types()))
        breach("a guess of " + std::to_string(choice) + " for " + (of_edge ? "edge " : "task ") +
               std::to_string(item) + ", which there is not");
    return;
  }
  if (!stage.raise.empty()) {
    require_finite(stage.raise, types, "weights of load heads", 0);
    double sum = 0;
    for (const double weight : stage.raise) sum += weight;
    if (sum > 1 + 1e-15 * static_cast<double>(types))
      breach("weights of load heads sum to " + to_text(sum));
    return;
  }
  require_finite(stage.loads, types, "prices of the loads", 0);
  if (stage.task_flow.empty() != stage.edge_flow.empty() && edges > 0)
    breach("flow through tasks and on edges: expected both or neither");
  if (!stage.task_flow.empty()) {
    require_finite(stage.task_flow, instance.tasks(), "flow through tasks", 0);
    require_finite(stage.edge_flow, edges, "flow on edges", 0);
  }
  if (!stage.shift.empty()) require_finite(stage.shift, edges * types, "shifts", kLeast);
  for (const auto& [interval, price] : stage.intervals)
    if (interval.type < 0 || interval.type >= instance.types() || !(price >= 0) ||
        !(price < kInfinity) || !(interval.begin >= 0) || !(interval.end > interval.begin) ||
        !(interval.end < kInfinity))
      breach("a bad interval");
}

struct Joint {
  int from, to, edge;
};

class Checker {
 public:
  Checker(const Instance& instance, double makespan, bool clusters)
      : instance_(instance),
        types_(instance.types()),
        makespan_(makespan),
        head_(instance.tasks(), std::vector<double>(types_, 0.0)),
        tail_(head_),
        open_(instance.tasks(), std::vector<char>(types_)) {
    for (int task = 0; task < instance.tasks(); ++task) {
      for (int type = 0; type < types_; ++type) open_[task][type] = instance.can_run(task, type);
      for (const int next : instance.graph().successors(task))
        edges_.push_back({task, next, static_cast<int>(edges_.size())});
    }
    joint_.assign(edges_.size() * types_ * types_, 1);
    far_.assign(edges_.size() * types_, 0);
    before_.resize(instance.tasks());
    after_.resize(instance.tasks());
    for (const Joint& edge : edges_) {
      before_[edge.to].push_back(edge);
      after_[edge.from].push_back(edge);
    }
    if (!instance.transfers().given()) return;
    count_homes();
    if (clusters) find_paths();
    for (const Joint& edge : edges_)
      for (int type = 0; type < types_; ++type)
        far(edge.edge, type) = home_[type] > 0 && several_[type];
  }

  /// Whether nothing is left after the stages.
  bool refutes(const std::vector<TransferStage>& stages) {
    if (!prune()) return true;
    for (const TransferStage& stage : stages) {
      check_interrupt();
      if (!stage.raise.empty())
        raise(stage.raise);
      else if (!stage.guesses.empty())
        close(stage.guesses);
      else if (combine(stage))
        return true;
      if (!prune()) return true;
    }
    return false;
  }

 private:
  double time(int task, int type) const { return instance_.time(task, type); }
  char& joint(int edge, int q, int r) { return joint_[(edge * 1UL * types_ + q) * types_ + r]; }
  char& far(int edge, int type) { return far_[edge * 1UL * types_ + type]; }
  // Ends on two types, or on one in one memory; on one in two memories.
  bool near_allowed(const Joint& edge, int q, int r) {
    return joint(edge.edge, q, r) && open_[edge.from][q] && open_[edge.to][r];
  }
  bool far_allowed(const Joint& edge, int q, int r) {
    return q == r && far(edge.edge, r) && open_[edge.from][r] && open_[edge.to][r];
  }
  bool allowed(const Joint& edge, int q, int r) {
    return near_allowed(edge, q, r) || far_allowed(edge, q, r);
  }
  double near_cost(const Joint& edge, int q, int r) const {
    const Transfers& transfers = instance_.transfers();
    return transfers.given() ? transfers.type_cost(edge.edge, q, r) : 0;
  }
  double cost(const Joint& edge, int q, int r) {
    return near_allowed(edge, q, r) ? near_cost(edge, q, r)
                                    : instance_.transfers().remote(edge.edge, q, r);
  }

  // Each guess with which nothing is left.
  void close(const std::vector<TransferGuess>& guesses) {
    for (const auto& [of_edge, item, choice] : guesses) {
      Checker rest(*this);
      for (int other = 0; other < (of_edge ? types_ * (types_ + 1) : types_); ++other)
        if (other != choice) rest.close(of_edge, item, other);
      if (!rest.prune()) close(of_edge, item, choice);
    }
  }
  void close(bool of_edge, int item, int choice) {
    if (!of_edge)
      open_[item][choice] = 0;
    else if (choice < types_ * types_)
      joint(item, choice / types_, choice % types_) = 0;
    else
      far(item, choice - types_ * types_) = 0;
  }

  // Units of each type that may share a memory, 0: with other types too.
  void count_homes() {
    home_.assign(types_, 0);
    several_.assign(types_, 0);
    const Memories& memories = instance_.transfers().links().memories;
    if (memories.kind != Memories::Kind::given) {
      for (int type = 0; type < types_; ++type) {
        const bool shared = type == 0 && memories.kind == Memories::Kind::host;
        home_[type] = shared ? instance_.units(type) : 1;
        several_[type] = !shared && instance_.units(type) > 1;
      }
      return;
    }
    std::map<std::pair<int, int>, int> count;  // of (type, memory)
    std::map<int, int> of_memory;
    std::size_t unit = 0;
    for (int type = 0; type < types_; ++type)
      for (int k = 0; k < instance_.units(type); ++k, ++unit) {
        ++count[{type, memories.of_unit[unit]}];
        ++of_memory[memories.of_unit[unit]];
      }
    std::vector<char> mixed(types_, 0);
    for (const auto& [key, units] : count) {
      const auto& [type, memory] = key;
      if (of_memory[memory] > units) mixed[type] = 1;
      if (units < instance_.units(type)) several_[type] = 1;
      home_[type] = std::max(home_[type], units);
    }
    for (int type = 0; type < types_; ++type)
      if (mixed[type]) home_[type] = 0;
  }

  // Time until the units of a memory have done all these, of (head, time).
  static double done_at_home(std::vector<std::pair<double, double>> work, int units) {
    std::sort(work.begin(), work.end(), std::greater<>());
    double sum = 0, most = 0;
    for (const auto& [head, p] : work) most = std::max(most, head + (sum += p / units));
    return most;
  }

  // Head of a task on a type (tail, if backward).
  double start(int task, int type, bool backward) {
    const auto& bound = backward ? tail_ : head_;
    double best = bound[task][type];
    std::vector<std::pair<double, std::pair<double, double>>> far;  // (elsewhere, at home)
    for (const Joint& edge : backward ? after_[task] : before_[task]) {
      const int other = backward ? edge.to : edge.from;
      double least = kInfinity, apart = kInfinity;
      std::pair<double, double> home{kInfinity, 0};
      for (int its = 0; its < types_; ++its) {
        const int q = backward ? type : its, r = backward ? its : type;
        if (!allowed(edge, q, r)) continue;
        const double end = bound[other][its] + time(other, its);
        least = std::min(least, end + cost(edge, q, r));
        if (!instance_.transfers().given()) continue;
        if (q != r || far_allowed(edge, q, r))
          apart = std::min(apart, end + instance_.transfers().remote(edge.edge, q, r));
        if (q == r && near_allowed(edge, q, r)) home = {bound[other][its], time(other, its)};
      }
      best = std::max(best, least);
      far.emplace_back(apart, home);
    }
    if (home_.empty() || home_[type] == 0 || best == kInfinity) return best;
    std::sort(far.begin(), far.end(), std::greater<>());
    const auto join = [&](std::size_t stay) {  // the first stay at home, the rest may not
      std::vector<std::pair<double, double>> work;
      for (std::size_t k = 0; k < stay; ++k) work.push_back(far[k].second);
      const double next = stay < far.size() ? far[stay].first : 0;
      return std::make_pair(done_at_home(std::move(work), home_[type]), next);
    };
    std::size_t low = 0, high = far.size();  // the first count where home takes longer
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const auto [home, next] = join(middle);
      if (home >= next)
        high = middle;
      else
        low = middle + 1;
    }
    const auto longest = [&](std::size_t stay) {
      const auto [home, next] = join(stay);
      return std::max(home, next);
    };
    double least_join = longest(low);
    if (low > 0) least_join = std::min(least_join, longest(low - 1));
    return std::max(best, least_join);
  }

  void all_starts() {
    const auto& order = instance_.graph().order();
    for (const int task : order)
      for (int type = 0; type < types_; ++type)
        if (open_[task][type]) head_[task][type] = start(task, type, false);
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      for (int type = 0; type < types_; ++type)
        if (open_[*task][type]) tail_[*task][type] = start(*task, type, true);
  }

  // False: a task can run nowhere in time.
  bool prune() {
    const double limit = makespan_ * (1 + kProofSlack);
    for (bool changed = true; changed;) {
      check_interrupt();
      changed = false;
      all_starts();
      for (int task = 0; task < instance_.tasks(); ++task) {
        bool left = false;
        for (int type = 0; type < types_; ++type) {
          if (!open_[task][type]) continue;
          if (head_[task][type] + time(task, type) + tail_[task][type] <= limit) {
            left = true;
            continue;
          }
          open_[task][type] = 0;
          changed = true;
        }
        if (!left) return false;
      }
      for (const Joint& edge : edges_)
        for (int q = 0; q < types_; ++q)
          for (int r = 0; r < types_; ++r) {
            const double others =
                head_[edge.from][q] + time(edge.from, q) + time(edge.to, r) + tail_[edge.to][r];
            if (joint(edge.edge, q, r) &&
                !(near_allowed(edge, q, r) && others + near_cost(edge, q, r) <= limit)) {
              joint(edge.edge, q, r) = 0;
              changed = true;
            }
            if (q == r && far(edge.edge, r) &&
                !(far_allowed(edge, q, r) &&
                  others + instance_.transfers().remote(edge.edge, q, r) <= limit)) {
              far(edge.edge, r) = 0;
              changed = true;
            }
          }
      if (!changed && !reach_.empty()) changed = bind_clusters();
    }
    return true;
  }

  // reach_[i][j]: a path leads from i to j.
  void find_paths() {
    const int n = instance_.tasks();
    reach_.assign(n, std::vector<char>(n, 0));
    const auto& order = instance_.graph().order();
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      for (const Joint& edge : after_[*task]) {
        reach_[*task][edge.to] = 1;
        for (int other = 0; other < n; ++other)
          if (reach_[edge.to][other]) reach_[*task][other] = 1;
      }
  }

  // Tasks that must share a memory: what that closes, and the heads and tails it raises.  True: it
  // did so.
  bool bind_clusters() {
    const int n = instance_.tasks();
    std::vector<int> label(n, -1);
    bool changed = false;
    for (int first = 0; first < n; ++first) {
      if (label[first] >= 0) continue;
      std::vector<int> cluster{first};
      label[first] = first;
      for (std::size_t k = 0; k < cluster.size(); ++k) {
        const auto visit = [&](const Joint& edge, int other) {
          if (label[other] >= 0 || !binding(edge)) return;
          label[other] = first;
          cluster.push_back(other);
        };
        for (const Joint& edge : after_[cluster[k]]) visit(edge, edge.to);
        for (const Joint& edge : before_[cluster[k]]) visit(edge, edge.from);
      }
      for (int type = 0; type < types_ && cluster.size() > 1; ++type)
        changed = bind(cluster, type) || changed;
    }
    return changed;
  }

  bool binding(const Joint& edge) {
    for (int q = 0; q < types_; ++q)
      for (int r = 0; r < types_; ++r) {
        if (joint(edge.edge, q, r) && (q != r || home_[r] == 0)) return false;
        if (q == r && far(edge.edge, r)) return false;
      }
    return true;
  }

  bool bind(const std::vector<int>& cluster, int type) {
    bool fits = true;
    for (const int task : cluster) fits = fits && open_[task][type];
    bool changed = false;
    if (fits && intervals_fit(cluster, type) && pairs_fit(cluster, type, changed)) {
      for (const int task : cluster) {
        changed = ordered(cluster, task, type, false) || changed;
        changed = ordered(cluster, task, type, true) || changed;
      }
      return changed;
    }
    for (const int task : cluster) {
      changed = changed || open_[task][type];
      open_[task][type] = 0;
    }
    return changed;
  }

  bool intervals_fit(const std::vector<int>& cluster, int type) const {
    for (const int first : cluster)
      for (const int last : cluster) {
        const double begin = head_[first][type], end = makespan_ - tail_[last][type];
        double sum = 0;
        for (const int task : cluster)
          if (head_[task][type] >= begin && makespan_ - tail_[task][type] <= end)
            sum += time(task, type);
        if (sum > home_[type] * (end - begin + kProofSlack * makespan_) && sum > 0) return false;
      }
    return true;
  }

  bool lift(double& now, double bound) const {
    const bool rises = bound > now + 1e-10 * makespan_;
    now = std::max(now, bound);
    return rises;
  }

  bool pairs_fit(const std::vector<int>& cluster, int type, bool& changed) {
    if (home_[type] > 1) return true;
    const auto fits = [&](int a, int b) {
      return !reach_[b][a] && head_[a][type] + time(a, type) + time(b, type) + tail_[b][type] <=
                                  makespan_ * (1 + kProofSlack);
    };
    for (const int a : cluster)
      for (const int b : cluster) {
        if (a == b || fits(b, a)) continue;
        if (!fits(a, b)) return false;
        changed = lift(head_[b][type], head_[a][type] + time(a, type)) || changed;
        changed = lift(tail_[a][type], tail_[b][type] + time(b, type)) || changed;
      }
    return true;
  }

  bool ordered(const std::vector<int>& cluster, int task, int type, bool backward) {
    auto& bound = backward ? tail_ : head_;
    std::vector<std::pair<double, double>> work;
    for (const int other : cluster)
      if (backward ? reach_[task][other] : reach_[other][task])
        work.emplace_back(bound[other][type], time(other, type));
    return lift(bound[task][type], done_at_home(std::move(work), home_[type]));
  }

  double earliest(const std::vector<double>& bound, int task) const {
    double least = kInfinity;
    for (int type = 0; type < types_; ++type)
      if (open_[task][type]) least = std::min(least, bound[type]);
    return least;
  }

  void raise(const std::vector<double>& weights) {
    const auto& order = instance_.graph().order();
    for (const int task : order) raise(task, weights, head_, false);
    for (auto task = order.rbegin(); task != order.rend(); ++task)
      raise(*task, weights, tail_, true);
  }

  // Heads (tails) of a task by the loads of its ancestors.
  void raise(int task, const std::vector<double>& weights, std::vector<std::vector<double>>& bound,
             bool backward) {
    std::vector<char> seen(instance_.tasks(), 0);
    std::vector<int> ancestors{task};
    for (std::size_t k = 0; k < ancestors.size(); ++k)
      for (const Joint& edge : backward ? after_[ancestors[k]] : before_[ancestors[k]]) {
        const int other = backward ? edge.to : edge.from;
        if (seen[other]) continue;
        seen[other] = 1;
        ancestors.push_back(other);
      }
    std::vector<std::pair<double, double>> loads;
    for (std::size_t k = 1; k < ancestors.size(); ++k) {
      const int other = ancestors[k];
      double work = kInfinity;
      for (int type = 0; type < types_; ++type)
        if (open_[other][type])
          work = std::min(work, weights[type] * time(other, type) / instance_.units(type));
      loads.emplace_back(earliest(bound[other], other), work);
    }
    const double found = done_at_home(std::move(loads), 1);
    for (double& head : bound[task]) head = std::max(head, found);
  }

  // What a pair needs of the combined row, by its task alone.
  double need(const TransferStage& stage, double flow, double begun, double ended, int task,
              int type) const {
    const double p = time(task, type), head = head_[task][type], tail = tail_[task][type];
    double sum = stage.loads[type] * p / instance_.units(type) + flow * p;
    if (begun > 0) sum += begun * head;
    if (ended > 0) sum += ended * tail;
    for (const auto& [interval, price] : stage.intervals) {
      if (interval.type != type) continue;
      const double early = head + p - interval.begin;
      const double late = interval.end - (makespan_ - tail - p);
      const double inside =
          std::min(std::min(p, interval.end - interval.begin), std::min(early, late));
      if (inside > 0) sum += price * inside;
    }
    return sum;
  }

  // True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
  bool combine(const TransferStage& stage) {
    const int n = instance_.tasks();
    double left = 0, right = 0;
    for (const double load : stage.loads) right += load * makespan_;
    for (const auto& [interval, price] : stage.intervals)
      right += price * instance_.units(interval.type) * (interval.end - interval.begin);
    std::vector<std::vector<double>> needs(n, std::vector<double>(types_, kInfinity));
    for (int task = 0; task < n; ++task) {
      double in = 0, out = 0, flow = 0;
      if (!stage.task_flow.empty()) {
        for (const Joint& edge : before_[task]) in += stage.edge_flow[edge.edge];
        for (const Joint& edge : after_[task]) out += stage.edge_flow[edge.edge];
        flow = std::max(stage.task_flow[task], std::max(in, out));
        right += (flow - out) * makespan_;
      }
      for (int type = 0; type < types_; ++type)
        if (open_[task][type])
          needs[task][type] = need(stage, flow, flow - in, flow - out, task, type);
    }
    for (const Joint& edge : edges_) share(stage, edge, needs);
    std::vector<double> least(n);
    for (int task = 0; task < n; ++task) {
      least[task] = *std::min_element(needs[task].begin(), needs[task].end());
      left += least[task];
    }
    double rounding = 0;  // shifts add up to nothing, but for this
    for (const double amount : stage.shift) rounding += 1e-11 * std::abs(amount);
    const double allowed_most = right * (1 + kProofSlack) + rounding;
    if (!(left <= allowed_most)) return left > allowed_most;
    const double rest = allowed_most - left;
    std::vector<TransferGuess> broken;  // all by the same prices, before any is closed
    for (int task = 0; task < n; ++task)
      for (int type = 0; type < types_; ++type)
        if (open_[task][type] && needs[task][type] - least[task] > rest)
          broken.push_back({false, task, type});
    for (const Joint& edge : edges_)
      for (int q = 0; q < types_; ++q)
        for (int r = 0; r < types_; ++r) {
          const double ends =
              needs[edge.from][q] - least[edge.from] + needs[edge.to][r] - least[edge.to];
          if (near_allowed(edge, q, r) &&
              ends + spare(stage, edge, q, r, near_cost(edge, q, r)) > rest)
            broken.push_back({true, edge.edge, q * types_ + r});
          if (far_allowed(edge, q, r) &&
              ends + spare(stage, edge, q, r, instance_.transfers().remote(edge.edge, q, r)) > rest)
            broken.push_back({true, edge.edge, types_ * types_ + r});
        }
    for (const auto& [of_edge, item, choice] : broken) close(of_edge, item, choice);
    return false;
  }

  double shift(const TransferStage& stage, const Joint& edge, int q) const {
    return stage.shift.empty() ? 0 : stage.shift[edge.edge * 1UL * types_ + q];
  }
  // What remains of the price of an edge at a cost after the share of its first task, on q.
  double remaining(const TransferStage& stage, const Joint& edge, int q, double cost_of) const {
    const double flow = stage.edge_flow.empty() ? 0 : stage.edge_flow[edge.edge];
    return flow * cost_of - shift(stage, edge, q);
  }
  // The second task's share.
  double second(const TransferStage& stage, const Joint& edge, int r) {
    double least = kInfinity;
    for (int q = 0; q < types_; ++q)
      if (allowed(edge, q, r)) least = std::min(least, remaining(stage, edge, q, cost(edge, q, r)));
    return least;
  }
  double spare(const TransferStage& stage, const Joint& edge, int q, int r, double cost_of) {
    return remaining(stage, edge, q, cost_of) - second(stage, edge, r);
  }
  void share(const TransferStage& stage, const Joint& edge,
             std::vector<std::vector<double>>& needs) {
    for (int q = 0; q < types_; ++q)
      if (open_[edge.from][q]) needs[edge.from][q] += shift(stage, edge, q);
    for (int r = 0; r < types_; ++r)
      if (open_[edge.to][r]) needs[edge.to][r] += second(stage, edge, r);
  }

  const Instance& instance_;
  int types_;
  double makespan_;
  std::vector<std::vector<double>> head_, tail_;
  std::vector<std::vector<char>> open_;
  std::vector<Joint> edges_;
  std::vector<char> joint_, far_;
  std::vector<std::vector<Joint>> before_, after_;
  std::vector<std::vector<char>> reach_;  // empty: clusters are not looked at
  std::vector<int> home_;                 // empty: no transfers
  std::vector<char> several_;
};

}  // namespace

double certified_bound(const Instance& instance, const TransfersCertificate& certificate) {
  const double bound = certified_bound(instance, certificate.windows);
  const double makespan = certificate.refutation.makespan;
  if (makespan == 0) return bound;
  if (!(makespan > 0 && makespan < kInfinity)) breach("a makespan of " + to_text(makespan));
  for (const TransferStage& stage : certificate.refutation.stages) require_stage(instance, stage);
  const TransferRefutation& refutation = certificate.refutation;
  if (!Checker(instance, makespan, refutation.clusters).refutes(refutation.stages))
    breach("a makespan of " + to_text(makespan) + " is not refuted");
  return std::max(bound, makespan);
}

}  // namespace cosched::dags
