#include "cosched/packs/local_search.hpp"

#include "cosched/packs/heuristics.hpp"

namespace cosched::packs {

Coschedule local_search(const Instance& instance, std::uint64_t, std::int64_t,
                        std::optional<double>) {
  return pack_by_pack(instance, nine_epsilons());
}

}  // namespace cosched::packs
