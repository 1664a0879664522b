#include "cosched/cluster/batch/need_tally.hpp"

namespace cosched::cluster::batch {

NeedTally::NeedTally(const Site& site, const Need& need, const FreeAmounts& free)
    : site_(site), need_(need) {
  for (std::size_t node = 0; node < free.size(); ++node)
    add_node(static_cast<int>(node), free[node], +1);
}

void NeedTally::add_node(int node, const ResourceAmounts& free, int sign) {
  const SiteNode& properties = site_.nodes()[node];
  if (!has_bit(need_.cells, properties.cell)) return;
  const bool has_gpu_type = has_bit(need_.gpu_types, properties.gpu_type);
  if (need_.part_count == 0) {
    total_free_.cores += sign * free.cores;
    total_free_.memory += sign * free.memory;
    if (has_gpu_type) total_free_.gpus += sign * free.gpus;
  } else if (free.can_hold(need_.part_amounts) && (need_.part_amounts.gpus == 0 || has_gpu_type)) {
    part_nodes_ += sign;
    if (free.cores > need_.part_amounts.cores) larger_part_nodes_ += sign;
  }
}

bool NeedTally::has_room() const {
  if (need_.part_count == 0) return total_free_.can_hold(need_.part_amounts);
  return part_nodes_ >= need_.part_count && larger_part_nodes_ >= need_.larger_part_count;
}

}  // namespace cosched::cluster::batch
