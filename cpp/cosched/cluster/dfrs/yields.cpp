#include "cosched/cluster/dfrs/yields.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/cluster/dfrs/by_decreasing.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

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

}  // namespace cosched::cluster::dfrs
