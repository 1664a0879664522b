#include "cosched/packs/search/pack_partition.hpp"

namespace cosched::packs::search {

PackPartition::PackPartition(const Times& times, const Packs& packs)
    : times_(&times),
      procs_(times.procs()),
      width_(static_cast<std::size_t>(procs_) + 1),
      pack_tasks_(times.tasks() + 1),
      pack_of_(times.tasks()),
      cost_(times.tasks() + 1, 0),
      pack_curve_(pack_tasks_.size() * width_),
      curve_without_(times.tasks() * width_) {
  for (int place = times.tasks(); place >= static_cast<int>(packs.size()); --place)
    empty_places_.push_back(place);
  for (std::size_t pack = 0; pack < packs.size(); ++pack) {
    pack_tasks_[pack] = packs[pack];
    for (const int i : packs[pack]) pack_of_[i] = static_cast<int>(pack);
    rebuild_curves(static_cast<int>(pack));
    check_interrupt();
  }
}

Packs PackPartition::packs() const {
  Packs packs;
  for (const std::vector<int>& tasks : pack_tasks_) {
    if (tasks.empty()) continue;
    packs.push_back(tasks);
    std::sort(packs.back().begin(), packs.back().end());
  }
  return packs;
}

void PackPartition::move_task(int i, int pack) {
  const int from = pack_of_[i];
  remove_task(i);
  insert_task(i, pack);
  rebuild_curves(from);
  rebuild_curves(pack);
}

void PackPartition::exchange_tasks(int i, int j) {
  const int pack_i = pack_of_[i], pack_j = pack_of_[j];
  remove_task(i);
  remove_task(j);
  insert_task(i, pack_j);
  insert_task(j, pack_i);
  rebuild_curves(pack_i);
  rebuild_curves(pack_j);
}

// min over q of max(t_j(q), others(p - q)), q = 1..p - count: the first falls with q, the second
// rises, so the least is at the first q where t_j(q) <= others(p - q), or just before.
double PackPartition::crossing_cost(const double* other_curve, int count, int j) const {
  const double* t = times_->row(j);
  if (count == 0) return t[procs_ - 1];
  const int max_procs = procs_ - count;
  int longer_counts = 0;  // t_j(q) > others(p - q) for q <= before
  for (int length = max_procs; length > 0;) {
    const int half = length / 2, q = longer_counts + half + 1;
    const bool larger = t[q - 1] > other_curve[procs_ - q];
    longer_counts = larger ? q : longer_counts;
    length = larger ? length - half - 1 : half;
  }
  double cost = longer_counts < max_procs ? other_curve[procs_ - longer_counts - 1] : kInfinity;
  if (longer_counts > 0) cost = std::min(cost, t[longer_counts - 1]);
  return cost;
}

// Curve of `count` tasks with curve `others` and one more task.
void PackPartition::append_curve(const double* other_curve, int count, int task, double* to) {
  const double* t = times_->row(task) - 1;  // t[q]
  if (count == 0) {
    std::copy(t + 1, t + 1 + procs_, to + 1);
  } else {
    for (int q = count + 1, task_procs = 1; q <= procs_; ++q) {
      const double a = other_curve[q - task_procs], b = t[task_procs];
      to[q] = a < b ? b : a;
      task_procs += a < b;
    }
  }
  operations_ += procs_ - count;
}

void PackPartition::merge_curves(const double* a, int count_a, const double* b, int count_b,
                                 double* to) {
  if (count_a == 0 || count_b == 0) {
    std::copy_n(count_a == 0 ? b : a, width_, to);
  } else {
    for (int q = count_a + count_b, procs_a = count_a; q <= procs_; ++q) {
      const double x = a[procs_a], y = b[q - procs_a];
      to[q] = x < y ? y : x;
      procs_a += !(x < y);
    }
  }
  operations_ += procs_ - count_a - count_b;
}

void PackPartition::remove_task(int i) {
  std::vector<int>& tasks = pack_tasks_[pack_of_[i]];
  *require_found(std::find(tasks.begin(), tasks.end(), i), tasks.end(), "a task of a pack") =
      tasks.back();
  tasks.pop_back();
  if (tasks.empty()) empty_places_.push_back(pack_of_[i]);
}

void PackPartition::insert_task(int i, int pack) {
  if (pack_tasks_[pack].empty()) erase_found(empty_places_, pack, "an empty pack");
  pack_tasks_[pack].push_back(i);
  pack_of_[i] = pack;
}

void PackPartition::rebuild_curves(int pack) {
  const std::vector<int>& tasks = pack_tasks_[pack];
  const int count = static_cast<int>(tasks.size());
  cost_[pack] = 0;
  if (count == 0) return;
  prefix_curves_.resize(std::max(prefix_curves_.size(), (tasks.size() + 1) * width_));
  suffix_curves_.resize(prefix_curves_.size());
  for (int k = 0; k < count; ++k)
    append_curve(curve(prefix_curves_, k), k, tasks[k], curve(prefix_curves_, k + 1));
  for (int k = count - 1; k > 0; --k)
    append_curve(curve(suffix_curves_, k + 1), count - 1 - k, tasks[k], curve(suffix_curves_, k));
  for (int k = 0; k < count; ++k)
    merge_curves(curve(prefix_curves_, k), k, curve(suffix_curves_, k + 1), count - 1 - k,
                 curve(curve_without_, tasks[k]));
  std::copy_n(curve(prefix_curves_, count), width_, curve(pack_curve_, pack));
  cost_[pack] = curve(pack_curve_, pack)[procs_];
}

}  // namespace cosched::packs::search
