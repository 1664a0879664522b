#include "cosched/cluster/dfrs/yields.hpp"

#include <functional>
#include <numeric>
#include <queue>

#include "cosched/cluster/dfrs/by_decreasing.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::cluster::dfrs {

FullNodes full_nodes(const Mapping& mapping) {
  struct Part {  // of a node, by a job
    int node;
    CpuShare share;
  };
  std::vector<Part> parts;
  parts.reserve(4 * mapping.cpu.size());
  struct Total {
    double load = 0;
    int jobs = 0;
  };
  std::vector<Total> total(mapping.nodes);
  for (int j = 0; j < mapping.jobs(); ++j) {
    const double cpu = mapping.cpu[j];
    const int *at = mapping.where[j]->begin(), *const end = mapping.where[j]->end();
    while (at != end) {
      const int node = *at, *const begin = at;
      for (; at != end && *at == node; ++at) total[node].load += cpu;
      ++total[node].jobs;
      parts.push_back({node, {j, static_cast<double>(at - begin) * cpu}});
    }
  }
  FullNodes full;
  full.node.reserve(mapping.nodes);
  full.begin.reserve(mapping.nodes + 1);
  std::vector<int> next(mapping.nodes, -1);  // share of the node's row
  for (int node = 0; node < mapping.nodes; ++node)
    if (total[node].load > 1 + kLoadTolerance) {
      next[node] = full.begin.back();
      full.node.push_back(node);
      full.begin.push_back(full.begin.back() + total[node].jobs);
    }
  full.shares.resize(full.begin.back());
  for (const Part& part : parts)
    if (next[part.node] >= 0) full.shares[next[part.node]++] = part.share;
  return full;
}

namespace {

// Progressive filling: z rises, each row (full node, or a job's own limit of 1) stops it
// for its jobs.  A row's limit only rises while others are frozen below it, so a queue of
// possibly outdated limits is enough.
class Filling {
 public:
  Filling(const Mapping& mapping, const std::vector<double>& slope,
          const std::vector<double>& offset)
      : full_(full_nodes(mapping)),
        slope_(slope),
        offset_(offset),
        yield_(mapping.jobs(), 1.0),
        frozen_(mapping.jobs(), 1) {
    for (const CpuShare& share : full_.shares) frozen_[share.job] = 0;
  }

  std::vector<double> run() {
    for (int r = 0; r < full_.rows(); ++r) queue_.emplace(row_limit(r, 0), r);
    for (int j = 0; j < static_cast<int>(frozen_.size()); ++j)
      if (!frozen_[j]) queue_.emplace(own_limit(j), full_.rows() + j);
    Poll poll;
    while (!queue_.empty()) {
      poll.count(1000);
      const auto [limit, which] = queue_.top();
      queue_.pop();
      if (which >= full_.rows())
        freeze(which - full_.rows(), 1);
      else
        settle(which, limit);
    }
    return std::move(yield_);
  }

 private:
  double own_limit(int job) const { return (1 + offset_[job]) / slope_[job]; }

  double share(int job, double z) const {
    return std::clamp(slope_[job] * z - offset_[job], 0.0, 1.0);
  }

  void freeze(int job, double yield) {
    if (frozen_[job]) return;
    frozen_[job] = 1;
    yield_[job] = yield;
  }

  void settle(int row, double limit) {
    const double now = row_limit(row, limit);
    if (now == kInfinity) return;  // all its jobs are frozen
    if (now > limit) {
      queue_.emplace(now, row);
      return;
    }
    for (int k = full_.begin[row]; k < full_.begin[row + 1]; ++k)
      freeze(full_.shares[k].job, share(full_.shares[k].job, limit));
  }

  // Greatest z >= from at which the row's node is not above 1: the root of a convex,
  // piecewise linear function, by Newton's method from the right.
  double row_limit(int row, double from) const {
    double room = 1, slope = 0, offset = 0;
    const auto active = [&](double z, bool all) {
      slope = offset = 0;
      for (int k = full_.begin[row]; k < full_.begin[row + 1]; ++k) {
        const auto [job, amount] = full_.shares[k];
        if (frozen_[job] || !(all || slope_[job] * z > offset_[job])) continue;
        slope += amount * slope_[job];
        offset += amount * offset_[job];
      }
    };
    for (int k = full_.begin[row]; k < full_.begin[row + 1]; ++k)
      if (frozen_[full_.shares[k].job])
        room -= full_.shares[k].amount * yield_[full_.shares[k].job];
    room = std::max(room, 0.0);
    active(0, true);
    if (slope == 0) return kInfinity;
    double z = (room + offset) / slope;
    for (;;) {  // each step lowers z and drops at least one job
      active(z, false);
      const double next = slope > 0 ? (room + offset) / slope : z;
      if (!(next < z)) break;
      z = next;
    }
    return std::max(z, from);
  }

  using RowLimit = std::pair<double, int>;

  const FullNodes full_;
  const std::vector<double>& slope_;
  const std::vector<double>& offset_;
  std::vector<double> yield_;
  std::vector<char> frozen_;
  std::priority_queue<RowLimit, std::vector<RowLimit>, std::greater<>> queue_;
};

// The yield at which a row is full if its jobs that are not frozen rise from `from` together;
// infinite if all are frozen.
double limit_of_row(const FullNodes& full, int row, const std::vector<double>& yield,
                    const std::vector<char>& frozen, double from) {
  double room = 1, amount = 0;
  for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) {
    const CpuShare& share = full.shares[k];
    if (frozen[share.job])
      room -= share.amount * yield[share.job];
    else
      amount += share.amount;
  }
  return amount == 0 ? kInfinity : std::max(std::max(room, 0.0) / amount, from);
}

// The same for each row while none is frozen, negative.
std::vector<double> falling_limits(const FullNodes& full) {
  std::vector<double> falling(full.rows());
  for (int row = 0; row < full.rows(); ++row) {
    double amount = 0;
    for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) amount += full.shares[k].amount;
    falling[row] = -1 / amount;
  }
  return falling;
}

}  // namespace

std::vector<double> node_loads(const Mapping& mapping) {
  std::vector<double> load(mapping.nodes, 0.0);
  for (int j = 0; j < mapping.jobs(); ++j)
    for (const int node : *mapping.where[j]) load[node] += mapping.cpu[j];
  return load;
}

std::vector<double> base_yields(const Mapping& mapping) {
  double greatest = 1;
  for (const double load : node_loads(mapping)) greatest = std::max(greatest, load);
  if (greatest <= 1 + kLoadTolerance) greatest = 1;
  return std::vector<double>(mapping.jobs(), 1 / greatest);
}

// Filling with slope 1 and offset 0, which is called at every event: a row's limit is then a
// division, and at yield 1 all that is not frozen is done.
std::vector<double> max_min_yields(const Mapping& mapping) {
  const FullNodes full = full_nodes(mapping);
  std::vector<double> yield(mapping.jobs(), 1.0);
  std::vector<char> frozen(mapping.jobs(), 0);
  const auto limit_of = [&](int row, double from) {
    return limit_of_row(full, row, yield, frozen, from);
  };
  // By limit: the rows as they are at first, sorted, and those whose limit has risen since.
  using RowLimit = std::pair<double, int>;
  const std::vector<double> falling = falling_limits(full);
  const std::vector<int> initial = by_decreasing(falling);
  std::priority_queue<RowLimit, std::vector<RowLimit>, std::greater<>> risen;
  Poll poll;
  for (auto next = initial.begin(); next != initial.end() || !risen.empty();) {
    const RowLimit first =
        next != initial.end() ? RowLimit{-falling[*next], *next} : RowLimit{kInfinity, 0};
    const bool old = risen.empty() || (next != initial.end() && first < risen.top());
    const auto [limit, row] = old ? first : risen.top();
    if (!(limit < 1)) break;
    if (old)
      ++next;
    else
      risen.pop();
    poll.count(20 + 10 * (full.begin[row + 1] - full.begin[row]));
    const double now = limit_of(row, limit);
    if (now > limit) {  // infinite: all its jobs are frozen
      if (now < 1) risen.emplace(now, row);
      continue;
    }
    for (int k = full.begin[row]; k < full.begin[row + 1]; ++k) {
      const int job = full.shares[k].job;
      if (!frozen[job]) yield[job] = limit;
      frozen[job] = 1;
    }
  }
  return yield;
}

std::vector<double> max_min_shares(const Mapping& mapping, const std::vector<double>& slope,
                                   const std::vector<double>& offset) {
  return Filling(mapping, slope, offset).run();
}

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
