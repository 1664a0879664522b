#include "cosched/cluster/batch/site.hpp"

#include <map>
#include <tuple>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {
namespace {

constexpr double kKbOfGb = 1024.0 * 1024.0;

bool has(std::uint64_t bits, int number) { return bits >> number & 1; }

Need need_of(const Site::Asked& asked, std::size_t job) {
  const auto memory = static_cast<std::int64_t>(asked.memory[job]);
  const int tasks = asked.tasks[job], gpus = asked.gpus[job], parts = asked.parts[job];
  const std::uint64_t cells = asked.cells[job], types = asked.gpu_types[job];
  if (parts < 1 || parts > tasks || gpus % parts != 0)
    return {0, 0, {memory, tasks, gpus}, cells, types};
  return {parts, tasks % parts, {memory / parts, tasks / parts, gpus / parts}, cells, types};
}

Need anywhere(const Site::Asked& asked, std::size_t job) {
  const auto memory = static_cast<std::int64_t>(asked.memory[job]);
  return {
      0, 0, {memory, asked.tasks[job], asked.gpus[job]}, asked.cells[job], asked.gpu_types[job]};
}

auto key_of(const Need& need) {
  return std::tuple(need.parts, need.larger, need.each.memory, need.each.cores, need.each.gpus,
                    need.cells, need.gpu_types);
}

}  // namespace

Amounts least(const Amounts& a, const Amounts& b) {
  return {std::min(a.memory, b.memory), std::min(a.cores, b.cores), std::min(a.gpus, b.gpus)};
}

Site::Site(std::vector<Node> nodes, const Asked& asked) : nodes_(std::move(nodes)) {
  const std::size_t jobs = asked.tasks.size();
  for (const std::size_t rows : {asked.parts.size(), asked.gpus.size(), asked.memory.size(),
                                 asked.cells.size(), asked.gpu_types.size()})
    if (rows != jobs) throw InvalidInstance("the needs of jobs have different lengths");
  for (std::size_t job = 0; job < jobs; ++job) needs_.push_back(need_of(asked, job));
  hold(asked);
  number_shapes();
  std::vector<char> known(shapes_, 0), fits(shapes_, 0);
  const Free empty = all();
  const auto fits_empty = [&](const Need& need) {
    if (!known[need.shape]) fits[need.shape] = holds(need, empty);
    known[need.shape] = 1;
    return fits[need.shape] != 0;
  };
  bool changed = false;
  for (std::size_t job = 0; job < jobs; ++job)
    if (needs_[job].parts > 1 && !fits_empty(needs_[job])) {
      needs_[job] = anywhere(asked, job);
      changed = true;
    }
  if (changed) {
    number_shapes();
    known.assign(shapes_, 0);
    fits.assign(shapes_, 0);
  }
  for (std::size_t job = 0; job < jobs; ++job)
    if (held_[job].empty() && !fits_empty(needs_[job])) unfit_.push_back(static_cast<int>(job));
}

void Site::hold(const Asked& asked) {
  held_.resize(needs_.size());
  held_cores_ = asked.held;
  if (held_cores_.empty()) return;
  if (held_cores_.size() != needs_.size())
    throw InvalidInstance("the needs of jobs have different lengths");
  for (std::size_t job = 0; job < needs_.size(); ++job) {
    if (held_cores_[job].empty()) continue;
    Placement& own = held_[job];
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const int first = nodes_[k].first_core, last = first + nodes_[k].all.cores;
      const auto inside = std::count_if(held_cores_[job].begin(), held_cores_[job].end(),
                                        [&](int core) { return first <= core && core < last; });
      if (inside > 0) own.push_back({static_cast<int>(k), {0, static_cast<int>(inside), 0}});
    }
    // Equal parts of the rest, the last ones smaller.
    auto memory = static_cast<std::int64_t>(asked.memory[job]);
    int gpus = asked.gpus[job];
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto left = static_cast<std::int64_t>(own.size() - k);
      own[k].held.memory = (memory + left - 1) / left;
      own[k].held.gpus = static_cast<int>((gpus + left - 1) / left);
      memory -= own[k].held.memory;
      gpus -= own[k].held.gpus;
    }
  }
}

void Site::number_shapes() {
  std::map<decltype(key_of(needs_[0])), int> numbers;
  for (Need& need : needs_)
    need.shape = numbers.emplace(key_of(need), static_cast<int>(numbers.size())).first->second;
  shapes_ = static_cast<int>(numbers.size());
}

Free Site::all() const {
  Free free;
  for (const Node& node : nodes_) free.push_back(node.all);
  return free;
}

bool Site::place(const Need& need, const Free& free, std::uint64_t open, std::uint64_t last,
                 Placement* found) const {
  if (found) found->clear();
  return need.parts > 0 ? place_parts(need, free, open, last, found)
                        : place_anywhere(need, free, open, last, found);
}

bool Site::place_parts(const Need& need, const Free& free, std::uint64_t open, std::uint64_t last,
                       Placement* found) const {
  Amounts part[] = {need.each, need.each};  // a smaller one, a larger one
  ++part[1].cores;
  int left[] = {need.parts - need.larger, need.larger};
  for (const std::uint64_t cells : {open & ~last, open & last}) {
    if (cells == 0) continue;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const bool no_gpus = need.each.gpus > 0 && !has(need.gpu_types, nodes_[k].gpu_type);
      if (no_gpus || !free[k].holds(need.each) || !has(cells, nodes_[k].cell)) continue;
      const int large = left[1] > 0 && free[k].cores >= part[1].cores;
      if (left[large] == 0) continue;
      --left[large];
      if (found) found->push_back({static_cast<int>(k), part[large]});
      if (left[0] + left[1] == 0) return true;
    }
  }
  return false;
}

bool Site::place_anywhere(const Need& need, const Free& free, std::uint64_t open,
                          std::uint64_t last, Placement* found) const {
  Amounts left = need.each;
  for (const std::uint64_t cells : {open & ~last, open & last}) {
    if (cells == 0) continue;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (!has(cells, nodes_[k].cell)) continue;
      Amounts taken = least(left, free[k]);
      if (!has(need.gpu_types, nodes_[k].gpu_type)) taken.gpus = 0;
      if (taken.cores == 0 && taken.memory == 0 && taken.gpus == 0) continue;
      left -= taken;
      if (found) found->push_back({static_cast<int>(k), taken});
      if (left.cores == 0 && left.memory == 0 && left.gpus == 0) return true;
    }
  }
  return false;
}

Tally::Tally(const Site& site, const Need& need, const Free& free) : site_(site), need_(need) {
  for (std::size_t k = 0; k < free.size(); ++k) add(static_cast<int>(k), free[k], +1);
}

void Tally::add(int number, const Amounts& free, int sign) {
  const Node& node = site_.nodes()[number];
  if (!has(need_.cells, node.cell)) return;
  const bool typed = has(need_.gpu_types, node.gpu_type);
  if (need_.parts == 0) {
    total_.cores += sign * free.cores;
    total_.memory += sign * free.memory;
    if (typed) total_.gpus += sign * free.gpus;
  } else if (free.holds(need_.each) && (need_.each.gpus == 0 || typed)) {
    fitting_ += sign;
    if (free.cores > need_.each.cores) larger_ += sign;
  }
}

bool Tally::holds() const {
  return need_.parts == 0 ? total_.holds(need_.each)
                          : fitting_ >= need_.parts && larger_ >= need_.larger;
}

void require_site_fits(const Instance& instance, const Site& site) {
  if (site.jobs() != instance.size())
    throw InvalidInstance("the machine's nodes are those of another instance");
  if (site.unfit().empty()) return;
  const int job = site.unfit().front();
  const Need& need = site.need(job);
  const std::string memory = to_text(static_cast<double>(need.each.memory) / kKbOfGb) + " GB";
  const std::string each =
      std::to_string(need.each.cores + (need.larger > 0)) + " cores" +
      (need.each.memory > 0 ? ", " + memory : "") +
      (need.each.gpus > 0 ? ", " + std::to_string(need.each.gpus) + " GPUs" : "");
  const std::string where =
      need.parts > 0 ? " on each of " + std::to_string(need.parts) + " nodes" : "";
  throw InfeasibleError(instance.jobs().place(job) + ": needs " + each + where +
                        ": no empty nodes that it may use have that; drop it with --drop too-wide");
}

}  // namespace cosched::cluster::batch
