#include "cosched/packs/exact/pack_filling.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::packs::exact {
namespace {

class PackFiller {
 public:
  PackFiller(const std::vector<int>& proc_needs, int packs, int procs, int max_tasks,
             std::int64_t steps)
      : proc_needs_(proc_needs),
        order_(proc_needs.size()),
        free_procs_(packs, procs),
        free_slots_(packs, max_tasks),
        packs_(packs),
        steps_(steps) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return proc_needs_[a] > proc_needs_[b]; });
  }

  PackFilling run() {
    std::int64_t requested_procs =
        std::accumulate(proc_needs_.begin(), proc_needs_.end(), std::int64_t{0});
    std::int64_t available_procs =
        std::accumulate(free_procs_.begin(), free_procs_.end(), std::int64_t{0});
    PackFilling filling;
    if (requested_procs > available_procs) {
      filling.answer = PackFilling::FillingAnswer::no;
    } else if (place_all_tasks()) {
      filling.answer = PackFilling::FillingAnswer::yes;
      filling.packs = packs_;
    } else {
      filling.answer =
          steps_ > 0 ? PackFilling::FillingAnswer::no : PackFilling::FillingAnswer::unknown;
    }
    return filling;
  }

 private:
  // Places all tasks; returns false where that is impossible, or the steps are used up.  Depth
  // first, with an explicit stack, because there are as many levels as tasks.
  bool place_all_tasks() {
    std::vector<std::size_t> pack_of_position;  // packs of the tasks placed so far
    std::size_t first_pack = 0;                 // the first pack to try for the next task
    while (pack_of_position.size() < order_.size()) {
      const int task = order_[pack_of_position.size()];
      const std::size_t pack = next_pack(first_pack, proc_needs_[task]);
      if (pack < packs_.size()) {
        --steps_;
        if (steps_ <= 0) return false;
        if (steps_ % 65536 == 0) check_interrupt();
        insert_task(task, pack);
        pack_of_position.push_back(pack);
        first_pack = 0;
        continue;
      }
      if (pack_of_position.empty()) return false;
      const std::size_t last_pack = pack_of_position.back();
      pack_of_position.pop_back();
      remove_task(order_[pack_of_position.size()], last_pack);
      first_pack = last_pack + 1;
    }
    return true;
  }

  std::size_t next_pack(std::size_t first, int need) const {
    std::size_t b = first;
    while (b < packs_.size() &&
           (free_procs_[b] < need || free_slots_[b] == 0 || is_like_an_earlier(b)))
      ++b;
    return b;
  }

  void insert_task(int task, std::size_t pack) {
    free_procs_[pack] -= proc_needs_[task];
    --free_slots_[pack];
    packs_[pack].push_back(task);
  }

  void remove_task(int task, std::size_t pack) {
    packs_[pack].pop_back();
    ++free_slots_[pack];
    free_procs_[pack] += proc_needs_[task];
  }

  bool is_like_an_earlier(std::size_t b) const {
    for (std::size_t a = 0; a < b; ++a)
      if (free_procs_[a] == free_procs_[b] && free_slots_[a] == free_slots_[b]) return true;
    return false;
  }

  const std::vector<int>& proc_needs_;
  std::vector<int> order_, free_procs_, free_slots_;
  std::vector<std::vector<int>> packs_;
  std::int64_t steps_;
};

}  // namespace

PackFilling fill_packs(const std::vector<int>& proc_needs, int packs, int procs, int max_tasks,
                       std::int64_t max_steps) {
  COSCHED_ASSERT(std::all_of(proc_needs.begin(), proc_needs.end(),
                             [&](int need) { return 1 <= need && need <= procs; }));
  return PackFiller(proc_needs, packs, procs, max_tasks, max_steps).run();
}

}  // namespace cosched::packs::exact
