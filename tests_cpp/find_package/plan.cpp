#include <cosched/core/errors.hpp>
#include <cosched/packs/check/validate.hpp>
#include <cosched/packs/exact/optimal.hpp>
#include <cstdio>

int main() {
  try {
    // Task x processors, seconds.
    const cosched::Table times{{8.0, 4.4, 3.1}, {6.0, 3.2, 2.5}, {2.0, 1.2, 0.9}};
    const cosched::packs::Instance instance(cosched::Times(times), 2);
    const double seconds = 10;  // it proves the optimum, or stops with the best so far
    const auto result = cosched::packs::exact::optimal(instance, seconds);
    std::printf("cost %g, at least %g\n", result.coschedule.cost, result.bound);
    for (int i = 0; i < instance.tasks(); ++i)
      std::printf("task %d: pack %d, %d processors\n", i, result.coschedule.pack_of[i],
                  result.coschedule.procs[i]);
    cosched::packs::check::validate(instance,
                                    cosched::packs::to_schedule(instance, result.coschedule));
  } catch (const cosched::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
