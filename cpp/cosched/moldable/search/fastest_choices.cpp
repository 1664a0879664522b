#include "cosched/moldable/search/fastest_choices.hpp"

namespace cosched::moldable::search {

std::vector<std::vector<Choice>> fastest_choices(const Instance& instance) {
  std::vector<std::vector<Choice>> choices(instance.jobs());
  for (int i = 0; i < instance.jobs(); ++i) {
    int procs = instance.fewest_procs(i);
    while (procs > 0 && procs <= instance.machines()) {
      choices[i].push_back({procs, instance.time(i, procs)});
      procs = instance.next_faster_procs(i, procs);
    }
  }
  return choices;
}

}  // namespace cosched::moldable::search
