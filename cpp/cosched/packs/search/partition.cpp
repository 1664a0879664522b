#include "cosched/packs/search/partition.hpp"

#include <algorithm>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::packs::search {

Partition::Partition(const Times& times, const Packs& packs)
    : times_(&times),
      procs_(times.procs()),
      width_(static_cast<std::size_t>(procs_) + 1),
      tasks_(times.tasks() + 1),
      pack_of_(times.tasks()),
      cost_(times.tasks() + 1, 0),
      full_(tasks_.size() * width_),
      hole_(times.tasks() * width_) {
  for (int place = times.tasks(); place >= static_cast<int>(packs.size()); --place)
    empty_.push_back(place);
  for (std::size_t pack = 0; pack < packs.size(); ++pack) {
    tasks_[pack] = packs[pack];
    for (const int i : packs[pack]) pack_of_[i] = static_cast<int>(pack);
    rebuild(static_cast<int>(pack));
    check_interrupt();
  }
}

Packs Partition::packs() const {
  Packs packs;
  for (const std::vector<int>& tasks : tasks_) {
    if (tasks.empty()) continue;
    packs.push_back(tasks);
    std::sort(packs.back().begin(), packs.back().end());
  }
  return packs;
}

void Partition::move(int i, int pack) {
  const int from = pack_of_[i];
  take(i);
  put(i, pack);
  rebuild(from);
  rebuild(pack);
}

void Partition::exchange(int i, int j) {
  const int pack_i = pack_of_[i], pack_j = pack_of_[j];
  take(i);
  take(j);
  put(i, pack_j);
  put(j, pack_i);
  rebuild(pack_i);
  rebuild(pack_j);
}

void Partition::take(int i) {
  std::vector<int>& tasks = tasks_[pack_of_[i]];
  *std::find(tasks.begin(), tasks.end(), i) = tasks.back();
  tasks.pop_back();
  if (tasks.empty()) empty_.push_back(pack_of_[i]);
}

void Partition::put(int i, int pack) {
  if (tasks_[pack].empty()) empty_.erase(std::find(empty_.begin(), empty_.end(), pack));
  tasks_[pack].push_back(i);
  pack_of_[i] = pack;
}

// min over q of max(t_j(q), others(p - q)), q = 1..p - count: the first falls with q, the second
// rises, so the least is at the first q where t_j(q) <= others(p - q), or just before.
double Partition::crossing(const double* others, int count, int j) const {
  const double* t = times_->row(j);
  if (count == 0) return t[procs_ - 1];
  const int most = procs_ - count;
  int before = 0;  // t_j(q) > others(p - q) for q <= before
  for (int length = most; length > 0;) {
    const int half = length / 2, q = before + half + 1;
    const bool larger = t[q - 1] > others[procs_ - q];
    before = larger ? q : before;
    length = larger ? length - half - 1 : half;
  }
  double cost = before < most ? others[procs_ - before - 1] : kInfinity;
  if (before > 0) cost = std::min(cost, t[before - 1]);
  return cost;
}

// Curve of `count` tasks with curve `others` and one more task.
void Partition::append(const double* others, int count, int task, double* to) {
  const double* t = times_->row(task) - 1;  // t[q]
  if (count == 0) {
    std::copy(t + 1, t + 1 + procs_, to + 1);
  } else {
    for (int q = count + 1, own = 1; q <= procs_; ++q) {
      const double a = others[q - own], b = t[own];
      to[q] = a < b ? b : a;
      own += a < b;
    }
  }
  operations_ += procs_ - count;
}

void Partition::merge(const double* a, int count_a, const double* b, int count_b, double* to) {
  if (count_a == 0 || count_b == 0) {
    std::copy_n(count_a == 0 ? b : a, width_, to);
  } else {
    for (int q = count_a + count_b, own = count_a; q <= procs_; ++q) {
      const double x = a[own], y = b[q - own];
      to[q] = x < y ? y : x;
      own += !(x < y);
    }
  }
  operations_ += procs_ - count_a - count_b;
}

void Partition::rebuild(int pack) {
  const std::vector<int>& tasks = tasks_[pack];
  const int count = static_cast<int>(tasks.size());
  cost_[pack] = 0;
  if (count == 0) return;
  before_.resize(std::max(before_.size(), (tasks.size() + 1) * width_));
  after_.resize(before_.size());
  for (int k = 0; k < count; ++k) append(curve(before_, k), k, tasks[k], curve(before_, k + 1));
  for (int k = count - 1; k > 0; --k)
    append(curve(after_, k + 1), count - 1 - k, tasks[k], curve(after_, k));
  for (int k = 0; k < count; ++k)
    merge(curve(before_, k), k, curve(after_, k + 1), count - 1 - k, curve(hole_, tasks[k]));
  std::copy_n(curve(before_, count), width_, curve(full_, pack));
  cost_[pack] = curve(full_, pack)[procs_];
}

}  // namespace cosched::packs::search
