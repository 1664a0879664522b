#include "cosched/packs/exact/fill_packs.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/core/interrupt.hpp"

namespace cosched::packs::exact {
namespace {

class Filler {
 public:
  Filler(const std::vector<int>& needs, int packs, int procs, int max_tasks, std::int64_t steps)
      : needs_(needs),
        order_(needs.size()),
        free_(packs, procs),
        room_(packs, max_tasks),
        packs_(packs),
        steps_(steps) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return needs_[a] > needs_[b]; });
  }

  Filling run() {
    std::int64_t asked = std::accumulate(needs_.begin(), needs_.end(), std::int64_t{0});
    std::int64_t there = std::accumulate(free_.begin(), free_.end(), std::int64_t{0});
    Filling filling;
    if (asked > there) {
      filling.answer = Filling::Answer::no;
    } else if (place(0)) {
      filling.answer = Filling::Answer::yes;
      filling.packs = packs_;
    } else {
      filling.answer = steps_ > 0 ? Filling::Answer::no : Filling::Answer::unknown;
    }
    return filling;
  }

 private:
  // Places the tasks of order_[position..]; false when impossible or out of steps.
  bool place(std::size_t position) {
    if (position == order_.size()) return true;
    const int task = order_[position], need = needs_[task];
    for (std::size_t b = 0; b < packs_.size(); ++b) {
      if (free_[b] < need || room_[b] == 0 || like_an_earlier(b)) continue;
      if (--steps_ <= 0) return false;
      if (steps_ % 65536 == 0) check_interrupt();
      free_[b] -= need;
      --room_[b];
      packs_[b].push_back(task);
      if (place(position + 1)) return true;
      packs_[b].pop_back();
      ++room_[b];
      free_[b] += need;
    }
    return false;
  }

  bool like_an_earlier(std::size_t b) const {
    for (std::size_t a = 0; a < b; ++a)
      if (free_[a] == free_[b] && room_[a] == room_[b]) return true;
    return false;
  }

  const std::vector<int>& needs_;
  std::vector<int> order_, free_, room_;
  std::vector<std::vector<int>> packs_;
  std::int64_t steps_;
};

}  // namespace

Filling fill_packs(const std::vector<int>& needs, int packs, int procs, int max_tasks,
                   std::int64_t most_steps) {
  return Filler(needs, packs, procs, max_tasks, most_steps).run();
}

}  // namespace cosched::packs::exact
