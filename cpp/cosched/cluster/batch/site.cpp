#include "cosched/cluster/batch/site.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "cosched/core/assert.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {
namespace {

constexpr double kKbPerGb = 1024.0 * 1024.0;

// The need of a job whose distribution over nodes is not known.
Need undistributed_need(const SiteRequests& requests, std::size_t job) {
  const auto memory = static_cast<std::int64_t>(requests.memory[job]);
  return {.part_count = 0,
          .larger_part_count = 0,
          .part_amounts = {memory, requests.tasks[job], requests.gpus[job]},
          .cells = requests.cells[job],
          .gpu_types = requests.gpu_types[job]};
}

// In equal parts but for a core, if the request allows it.
Need need_of(const SiteRequests& requests, std::size_t job) {
  Need need = undistributed_need(requests, job);
  const int parts = requests.parts[job];
  const ResourceAmounts whole_job = need.part_amounts;
  if (parts < 1 || parts > whole_job.cores || whole_job.gpus % parts != 0) return need;
  need.part_count = parts;
  need.larger_part_count = whole_job.cores % parts;
  need.part_amounts = {whole_job.memory / parts, whole_job.cores / parts, whole_job.gpus / parts};
  return need;
}

auto shape_key(const Need& need) {
  return std::tuple(need.part_count, need.larger_part_count, need.part_amounts.memory,
                    need.part_amounts.cores, need.part_amounts.gpus, need.cells, need.gpu_types);
}

// Divides memory and GPUs among the pieces in equal shares; what is left over goes to the first.
void divide_memory_and_gpus(std::int64_t memory, int gpus, NodePlacement& placement) {
  for (std::size_t k = 0; k < placement.size(); ++k) {
    const auto shares = static_cast<std::int64_t>(placement.size() - k);
    ResourceAmounts& amounts = placement[k].amounts;
    amounts.memory = (memory + shares - 1) / shares;
    amounts.gpus = static_cast<int>((gpus + shares - 1) / shares);
    memory -= amounts.memory;
    gpus -= amounts.gpus;
  }
}

}  // namespace

ResourceAmounts minimum_of(const ResourceAmounts& a, const ResourceAmounts& b) {
  return {std::min(a.memory, b.memory), std::min(a.cores, b.cores), std::min(a.gpus, b.gpus)};
}

ResourceAmounts Need::larger_part_amounts() const {
  ResourceAmounts amounts = part_amounts;
  ++amounts.cores;
  return amounts;
}

Site::Site(std::vector<SiteNode> nodes, const SiteRequests& requests) : nodes_(std::move(nodes)) {
  const std::size_t jobs = requests.tasks.size();
  for (const std::size_t rows :
       {requests.parts.size(), requests.gpus.size(), requests.memory.size(), requests.cells.size(),
        requests.gpu_types.size()})
    if (rows != jobs) throw InvalidInstance("the needs of jobs have different lengths");
  std::vector<Need> needs_of_jobs;
  needs_of_jobs.reserve(jobs);
  for (std::size_t job = 0; job < jobs; ++job) needs_of_jobs.push_back(need_of(requests, job));
  number_shapes(needs_of_jobs);
  forget_unequal_parts(requests, needs_of_jobs);
  set_initial_placements(requests);
  find_oversized_jobs();
}

namespace {

// Which needs fit on the empty machine; equal needs are tested once.
class EmptyMachineTest {
 public:
  explicit EmptyMachineTest(const Site& site)
      : site_(site), capacities_(site.capacities()), answers_(site.shape_count(), kUnknown) {}

  // Whether the need fits on the empty machine.
  bool run(const Need& need) {
    char& answer = answers_[need.shape];
    if (answer == kUnknown) answer = site_.has_room_for(need, capacities_) ? kYes : kNo;
    return answer == kYes;
  }

 private:
  static constexpr char kUnknown = 0;
  static constexpr char kNo = 1;
  static constexpr char kYes = 2;

  const Site& site_;
  FreeAmounts capacities_;
  std::vector<char> answers_;  // by shape
};

}  // namespace

void Site::forget_unequal_parts(const SiteRequests& requests, std::vector<Need>& needs_of_jobs) {
  EmptyMachineTest empty_machine(*this);
  bool has_changed = false;
  for (std::size_t job = 0; job < needs_of_jobs.size(); ++job) {
    const Need& shared_need = need(static_cast<int>(job));
    if (shared_need.part_count <= 1 || empty_machine.run(shared_need)) continue;
    needs_of_jobs[job] = undistributed_need(requests, job);
    has_changed = true;
  }
  if (has_changed) number_shapes(needs_of_jobs);
}

void Site::find_oversized_jobs() {
  EmptyMachineTest empty_machine(*this);
  for (int job = 0; job < job_count(); ++job)
    if (!has_initial_placement(job) && !empty_machine.run(need(job)))
      oversized_jobs_.push_back(job);
}

void Site::set_initial_placements(const SiteRequests& requests) {
  initial_cores_ = requests.initial_cores;
  if (initial_cores_.empty()) return;
  if (initial_cores_.size() != shapes_.size())
    throw InvalidInstance("the needs of jobs have different lengths");
  initial_placements_.resize(shapes_.size());
  for (std::size_t job = 0; job < shapes_.size(); ++job) {
    if (initial_cores_[job].empty()) continue;
    initial_placements_[job] = initial_placement_on(initial_cores_[job]);
    divide_memory_and_gpus(static_cast<std::int64_t>(requests.memory[job]), requests.gpus[job],
                           initial_placements_[job]);
  }
}

// A piece on each node of which the job has cores, with these cores alone.
NodePlacement Site::initial_placement_on(const std::vector<int>& cores) const {
  NodePlacement placement;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const int first_core = nodes_[node].first_core;
    const int end_core = first_core + nodes_[node].capacity.cores;
    const auto core_count = std::count_if(cores.begin(), cores.end(), [&](int core) {
      return first_core <= core && core < end_core;
    });
    if (core_count > 0)
      placement.push_back({static_cast<int>(node), {0, static_cast<int>(core_count), 0}});
  }
  return placement;
}

void Site::number_shapes(const std::vector<Need>& needs_of_jobs) {
  needs_.clear();
  shapes_.clear();
  shapes_.reserve(needs_of_jobs.size());
  std::map<decltype(shape_key(needs_[0])), int> numbers;
  for (const Need& need : needs_of_jobs) {
    const auto [entry, is_new] = numbers.emplace(shape_key(need), shape_count());
    if (is_new) {
      needs_.push_back(need);
      needs_.back().shape = entry->second;
    }
    shapes_.push_back(entry->second);
  }
}

FreeAmounts Site::capacities() const {
  FreeAmounts free;
  for (const SiteNode& node : nodes_) free.push_back(node.capacity);
  return free;
}

bool Site::find_placement(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                          BitSet64 avoided_cells, NodePlacement* placement) const {
  COSCHED_ASSERT(free.size() == nodes_.size());
  if (placement) placement->clear();
  return need.part_count > 0 ? place_parts(need, free, open_cells, avoided_cells, placement)
                             : place_anywhere(need, free, open_cells, avoided_cells, placement);
}

bool Site::place_parts(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                       BitSet64 avoided_cells, NodePlacement* placement) const {
  const ResourceAmounts larger_part = need.larger_part_amounts();
  int unplaced_larger_parts = need.larger_part_count;
  int unplaced_parts = need.part_count - need.larger_part_count;  // those that are not larger
  for (const BitSet64 cells : {open_cells & ~avoided_cells, open_cells & avoided_cells}) {
    if (cells == 0) continue;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const bool lacks_gpu_type =
          need.part_amounts.gpus > 0 && !has_bit(need.gpu_types, nodes_[node].gpu_type);
      if (lacks_gpu_type || !free[node].can_hold(need.part_amounts)) continue;
      if (!has_bit(cells, nodes_[node].cell)) continue;
      const bool is_larger = unplaced_larger_parts > 0 && free[node].cores >= larger_part.cores;
      int& unplaced = is_larger ? unplaced_larger_parts : unplaced_parts;
      if (unplaced == 0) continue;
      --unplaced;
      if (placement)
        placement->push_back({static_cast<int>(node), is_larger ? larger_part : need.part_amounts});
      if (unplaced_parts + unplaced_larger_parts == 0) return true;
    }
  }
  return false;
}

bool Site::place_anywhere(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                          BitSet64 avoided_cells, NodePlacement* placement) const {
  ResourceAmounts unplaced = need.part_amounts;
  for (const BitSet64 cells : {open_cells & ~avoided_cells, open_cells & avoided_cells}) {
    if (cells == 0) continue;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (!has_bit(cells, nodes_[node].cell)) continue;
      ResourceAmounts piece = minimum_of(unplaced, free[node]);
      if (!has_bit(need.gpu_types, nodes_[node].gpu_type)) piece.gpus = 0;
      if (piece.is_zero()) continue;
      unplaced -= piece;
      if (placement) placement->push_back({static_cast<int>(node), piece});
      if (unplaced.is_zero()) return true;
    }
  }
  return false;
}

void require_site_fits(const Instance& instance, const Site& site) {
  if (site.job_count() != instance.size())
    throw InvalidInstance("the machine's nodes are those of another instance");
  if (site.oversized_jobs().empty()) return;
  const int job = site.oversized_jobs().front();
  const Need& need = site.need(job);
  const ResourceAmounts part =
      need.larger_part_count > 0 ? need.larger_part_amounts() : need.part_amounts;
  std::string text = std::to_string(part.cores) + " cores";
  if (part.memory > 0) text += ", " + to_text(static_cast<double>(part.memory) / kKbPerGb) + " GB";
  if (part.gpus > 0) text += ", " + std::to_string(part.gpus) + " GPUs";
  if (need.part_count > 0) text += " on each of " + std::to_string(need.part_count) + " nodes";
  throw InfeasibleError(instance.jobs().location_of(job) + ": needs " + text +
                        ": no empty nodes that it may use have that; drop it with --drop too-wide");
}

}  // namespace cosched::cluster::batch
