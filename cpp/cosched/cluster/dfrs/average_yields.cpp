#include "cosched/cluster/dfrs/average_yields.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/cluster/dfrs/yields.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::cluster::dfrs {
// LP (2) of the paper in the gains x_j = y_j - lower_j: maximise sum weight_j x_j,
// 0 <= x_j <= most_j, each full node's gains at most its room.
namespace {

constexpr double kNoRoom = 1e-12;

struct Row {
  double room;
  std::vector<CpuShare> shares;  // by increasing job
};

using Rows = std::vector<Row>;

// Nodes that the greatest gains would overfill.  Jobs on a node without room gain nothing:
// their `most` becomes 0.
Rows binding_rows(const FullNodes& full, const std::vector<double>& lower,
                  std::vector<double>& most) {
  std::vector<double> room(full.rows(), 1.0);
  for (int r = 0; r < full.rows(); ++r) {
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k)
      room[r] -= full.shares[k].amount * lower[full.shares[k].job];
    if (room[r] > kNoRoom) continue;
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k) most[full.shares[k].job] = 0;
  }
  Rows rows;
  for (int r = 0; r < full.rows(); ++r) {
    Row row{room[r], {}};
    double greatest = 0;
    for (int k = full.begin[r]; k < full.begin[r + 1]; ++k)
      if (most[full.shares[k].job] > 0) {
        row.shares.push_back(full.shares[k]);
        greatest += full.shares[k].amount * most[full.shares[k].job];
      }
    if (!row.shares.empty() && greatest > row.room) rows.push_back(std::move(row));
  }
  return rows;
}

// Parallel jobs share many nodes with the same company: of rows with the same shares only
// the one with the least room matters.
void drop_repeated(Rows& rows) {
  const auto shares_less = [](const Row& a, const Row& b) {
    return std::lexicographical_compare(a.shares.begin(), a.shares.end(), b.shares.begin(),
                                        b.shares.end(), [](const CpuShare& s, const CpuShare& t) {
                                          return s.job != t.job ? s.job < t.job
                                                                : s.amount < t.amount;
                                        });
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (shares_less(a, b)) return true;
    return !shares_less(b, a) && a.room < b.room;
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [&](const Row& a, const Row& b) { return !shares_less(a, b); }),
             rows.end());
}

int root(std::vector<int>& parent, int x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

// Groups of rows that share jobs, in order of their first row.
std::vector<Rows> pieces(Rows rows, int jobs) {
  std::vector<int> parent(jobs);
  std::iota(parent.begin(), parent.end(), 0);
  for (const Row& row : rows)
    for (const CpuShare& share : row.shares)
      parent[root(parent, share.job)] = root(parent, row.shares[0].job);
  std::vector<Rows> result;
  std::vector<int> piece_of(jobs, -1);
  for (Row& row : rows) {
    int& piece = piece_of[root(parent, row.shares[0].job)];
    if (piece < 0) {
      piece = static_cast<int>(result.size());
      result.emplace_back();
    }
    result[piece].push_back(std::move(row));
  }
  return result;
}

// One node: fractional knapsack, greatest weight per CPU first, ties by job.
void fill_one(const Row& row, const std::vector<double>& weight, const std::vector<double>& most,
              std::vector<double>& gain) {
  std::vector<CpuShare> order = row.shares;
  std::stable_sort(order.begin(), order.end(), [&](const CpuShare& a, const CpuShare& b) {
    return weight[a.job] * b.amount > weight[b.job] * a.amount;
  });
  double room = row.room;
  for (const auto& [job, amount] : order) {
    gain[job] = std::min(most[job], room / amount);
    room = std::max(0.0, room - amount * gain[job]);
  }
}

void solve_lp(const Rows& rows, const std::vector<double>& weight, const std::vector<double>& most,
              std::vector<double>& gain) {
  std::vector<int> jobs;
  for (const Row& row : rows)
    for (const CpuShare& share : row.shares) jobs.push_back(share.job);
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  lp::Model model;
  for (const int job : jobs) model.add_column(-weight[job], 0, most[job]);
  for (const Row& row : rows) {
    const int r = model.add_row(-kInfinity, row.room);
    for (const auto& [job, amount] : row.shares) {
      const auto at = std::lower_bound(jobs.begin(), jobs.end(), job);
      model.add_entry(r, static_cast<int>(at - jobs.begin()), amount);
    }
  }
  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::primal;  // x = 0 is feasible
  options.presolve = false;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "opt=avg");
  for (std::size_t k = 0; k < jobs.size(); ++k) gain[jobs[k]] = solution.x[k];
}

// The solver's answer may exceed a node by its tolerance: shrink that node's gains.
void repair(const Rows& rows, const std::vector<double>& most, std::vector<double>& gain) {
  for (const Row& row : rows) {
    double used = 0;
    for (const auto& [job, amount] : row.shares) {
      gain[job] = std::clamp(gain[job], 0.0, most[job]);
      used += amount * gain[job];
    }
    if (used > row.room)
      for (const auto& [job, amount] : row.shares) gain[job] *= row.room / used;
  }
}

}  // namespace

std::vector<double> best_average_yields(const Mapping& mapping, const std::vector<double>& lower,
                                        const std::vector<double>& weight) {
  std::vector<double> most(mapping.jobs());
  for (int j = 0; j < mapping.jobs(); ++j) most[j] = std::max(0.0, 1 - lower[j]);
  Rows rows = binding_rows(full_nodes(mapping), lower, most);
  drop_repeated(rows);
  std::vector<double> gain = most;
  for (const Rows& piece : pieces(std::move(rows), mapping.jobs())) {
    if (piece.size() == 1) {
      fill_one(piece[0], weight, most, gain);
    } else {
      solve_lp(piece, weight, most, gain);
      repair(piece, most, gain);
    }
  }
  for (int j = 0; j < mapping.jobs(); ++j) gain[j] = std::min(1.0, lower[j] + gain[j]);
  return gain;
}

}  // namespace cosched::cluster::dfrs
