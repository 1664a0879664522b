#include "cosched/cluster/dfrs/average_yields.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/cluster/dfrs/full_nodes.hpp"
#include "cosched/core/assert.hpp"
#include "cosched/lp/glpk.hpp"

// LP (2) of the paper in the gains x_j = y_j - lower_j: maximise sum weight_j x_j,
// 0 <= x_j <= max_gain_j, each full node's gains at most its room.
namespace cosched::cluster::dfrs {
namespace {

// A node with less room than this has none.
constexpr double kNoRoom = kSumTolerance;

// The constraint of one node.
struct RoomRow {
  double room;
  std::vector<CpuShare> shares;  // by increasing job
};

using RoomRows = std::vector<RoomRow>;

// Nodes that the greatest gains would overfill.  Jobs on a node without room gain nothing:
// their max_gain becomes 0.
RoomRows find_binding_rows(const FullNodes& full, const std::vector<double>& lower,
                           std::vector<double>& max_gain) {
  std::vector<double> room(full.rows(), 1.0);
  for (int r = 0; r < full.rows(); ++r) {
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k)
      room[r] -= full.shares[k].amount * lower[full.shares[k].job];
    if (room[r] > kNoRoom) continue;
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k) max_gain[full.shares[k].job] = 0;
  }
  RoomRows rows;
  for (int r = 0; r < full.rows(); ++r) {
    RoomRow row{room[r], {}};
    double greatest_use = 0;
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k) {
      const CpuShare& share = full.shares[k];
      if (!(max_gain[share.job] > 0)) continue;
      row.shares.push_back(share);
      greatest_use += share.amount * max_gain[share.job];
    }
    if (!row.shares.empty() && greatest_use > row.room) rows.push_back(std::move(row));
  }
  return rows;
}

// An order of rows by their shares alone.
bool has_smaller_shares(const RoomRow& a, const RoomRow& b) {
  const auto is_smaller = [](const CpuShare& s, const CpuShare& t) {
    return s.job != t.job ? s.job < t.job : s.amount < t.amount;
  };
  return std::lexicographical_compare(a.shares.begin(), a.shares.end(), b.shares.begin(),
                                      b.shares.end(), is_smaller);
}

// Parallel jobs share many nodes with the same other jobs: of rows with the same shares only
// the one with the least room matters.
void drop_dominated_rows(RoomRows& rows) {
  std::sort(rows.begin(), rows.end(), [](const RoomRow& a, const RoomRow& b) {
    if (has_smaller_shares(a, b)) return true;
    return !has_smaller_shares(b, a) && a.room < b.room;
  });
  rows.erase(
      std::unique(rows.begin(), rows.end(),
                  [](const RoomRow& a, const RoomRow& b) { return !has_smaller_shares(a, b); }),
      rows.end());
}

// Of a union-find structure; halves the path.
int find_root(std::vector<int>& parent, int element) {
  while (parent[element] != element) {
    parent[element] = parent[parent[element]];
    element = parent[element];
  }
  return element;
}

// Groups of rows that share jobs, in order of their first row.
std::vector<RoomRows> split_into_components(RoomRows rows, int jobs) {
  std::vector<int> parent(jobs);
  std::iota(parent.begin(), parent.end(), 0);
  for (const RoomRow& row : rows)
    for (const CpuShare& share : row.shares) {
      const int root = find_root(parent, share.job);
      parent[root] = find_root(parent, row.shares[0].job);
    }
  std::vector<RoomRows> components;
  std::vector<int> component_of_root(jobs, -1);
  for (RoomRow& row : rows) {
    int& component = component_of_root[find_root(parent, row.shares[0].job)];
    if (component < 0) {
      component = static_cast<int>(components.size());
      components.emplace_back();
    }
    components[component].push_back(std::move(row));
  }
  return components;
}

// One node: fractional knapsack, greatest weight per CPU first, ties by job.
void solve_knapsack(const RoomRow& row, const std::vector<double>& weight,
                    const std::vector<double>& max_gain, std::vector<double>& gain) {
  std::vector<CpuShare> shares = row.shares;
  std::stable_sort(shares.begin(), shares.end(), [&](const CpuShare& a, const CpuShare& b) {
    return weight[a.job] * b.amount > weight[b.job] * a.amount;
  });
  double room = row.room;
  for (const auto& [job, amount] : shares) {
    gain[job] = std::min(max_gain[job], room / amount);
    room = std::max(0.0, room - amount * gain[job]);
  }
}

void solve_lp(const RoomRows& rows, const std::vector<double>& weight,
              const std::vector<double>& max_gain, std::vector<double>& gain) {
  std::vector<int> jobs;
  for (const RoomRow& row : rows)
    for (const CpuShare& share : row.shares) jobs.push_back(share.job);
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  lp::Model model;
  for (const int job : jobs) model.add_column(-weight[job], 0, max_gain[job]);
  for (const RoomRow& row : rows) {
    const int model_row = model.add_row(-kInfinity, row.room);
    for (const auto& [job, amount] : row.shares) {
      const auto column = std::lower_bound(jobs.begin(), jobs.end(), job) - jobs.begin();
      model.add_entry(model_row, static_cast<int>(column), amount);
    }
  }
  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::primal;  // x = 0 is feasible
  options.presolve = false;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "opt=avg");
  for (std::size_t k = 0; k < jobs.size(); ++k) gain[jobs[k]] = solution.x[k];
}

// The solver's answer may exceed a node by its tolerance: that node's gains are scaled down.
void repair_gains(const RoomRows& rows, const std::vector<double>& max_gain,
                  std::vector<double>& gain) {
  for (const RoomRow& row : rows) {
    double use = 0;
    for (const auto& [job, amount] : row.shares) {
      gain[job] = std::clamp(gain[job], 0.0, max_gain[job]);
      use += amount * gain[job];
    }
    if (use <= row.room) continue;
    for (const auto& [job, amount] : row.shares) gain[job] *= row.room / use;
  }
}

}  // namespace

std::vector<double> best_average_yields(const Mapping& mapping, const std::vector<double>& lower,
                                        const std::vector<double>& weight) {
  COSCHED_ASSERT(std::all_of(weight.begin(), weight.end(), [](double value) { return value > 0; }));
  std::vector<double> max_gain(mapping.jobs());
  for (int j = 0; j < mapping.jobs(); ++j) max_gain[j] = std::max(0.0, 1 - lower[j]);
  RoomRows rows = find_binding_rows(find_full_nodes(mapping), lower, max_gain);
  drop_dominated_rows(rows);
  std::vector<double> gain = max_gain;
  for (const RoomRows& component : split_into_components(std::move(rows), mapping.jobs())) {
    if (component.size() == 1) {
      solve_knapsack(component[0], weight, max_gain, gain);
    } else {
      solve_lp(component, weight, max_gain, gain);
      repair_gains(component, max_gain, gain);
    }
  }
  std::vector<double> yields(mapping.jobs());
  for (int j = 0; j < mapping.jobs(); ++j) yields[j] = std::min(1.0, lower[j] + gain[j]);
  return yields;
}

}  // namespace cosched::cluster::dfrs
