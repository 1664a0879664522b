// Three applications on three processors, at most two side by side.
#include <cosched/packs/exact/optimal.hpp>
#include <cstdio>

int main() {
  const cosched::Table times{{8.0, 4.4, 3.1}, {6.0, 3.2, 2.5}, {2.0, 1.2, 0.9}};
  const cosched::packs::Instance instance(cosched::Times(times), 2);
  const auto found = cosched::packs::exact::optimal(instance);
  std::printf("cost %g, proved %s\n", found.coschedule.cost, found.proved ? "yes" : "no");
  for (std::size_t i = 0; i < found.coschedule.procs.size(); ++i)
    std::printf("task %zu: pack %d, %d processors\n", i, found.coschedule.pack_of[i],
                found.coschedule.procs[i]);
}
