#include "cosched/dags/list/memory_profile.hpp"

namespace cosched::dags::list {

double MemoryProfile::earliest_start(double ready, double duration,
                                     const MemoryDemand& demand) const {
  if (capacity_ == kInfinity) return ready;
  const double longest_lead = demand.fetched.empty() ? 0 : demand.fetched.front().first;
  for (double start = ready;;) {
    double next = start;
    auto step = std::prev(used_bytes_.upper_bound(std::max(0.0, start - longest_lead)));
    for (; step != used_bytes_.end() && next == start; ++step)
      next = next_start(step, start, duration, demand);
    if (next == start || next == kInfinity) return next;
    start = next;
  }
}

void MemoryProfile::add_bytes(double from, double bytes, double to) {
  if (capacity_ == kInfinity || bytes == 0 || !(from < to)) return;
  const auto last = to < kInfinity ? split(to) : used_bytes_.end();
  const auto first = split(std::max(0.0, from));
  for (auto step = first; step != last; ++step) step->second += bytes;
  const auto merge = [&](Steps::iterator step) {
    if (step != used_bytes_.end() && step != used_bytes_.begin() &&
        std::prev(step)->second == step->second)
      used_bytes_.erase(step);
  };
  merge(first);
  merge(last);
}

MemoryProfile::Steps::iterator MemoryProfile::split(double time) {
  const auto after = used_bytes_.upper_bound(time);
  const auto step = std::prev(after);
  return step->first == time ? step : used_bytes_.emplace_hint(after, time, step->second);
}

// Returns `start` where the demand of a task that starts then fits into one step of the profile;
// otherwise the least later start for which it does.  The demand grows by what is fetched until the
// start, is constant until the end, and is the output from then on.
double MemoryProfile::next_start(Steps::const_iterator step, double start, double duration,
                                 const MemoryDemand& demand) const {
  const auto after = std::next(step);
  const double begin = step->first, end = after == used_bytes_.end() ? kInfinity : after->first;
  const double room = capacity_ * (1 + kByteTolerance) - step->second;
  const auto fetched_before = [&](double lead) {  // fetched earlier than `lead` before the start
    double bytes = 0;
    for (const auto& [seconds, amount] : demand.fetched)
      if (seconds > lead) bytes += amount;
    return bytes;
  };
  const bool runs = begin < start + duration && start < end;
  const double need = runs             ? demand.fetched_bytes + demand.output_bytes
                      : begin >= start ? demand.output_bytes
                                       : fetched_before(start - end);
  if (need <= room) return start;
  if (end == kInfinity) return kInfinity;
  if (fetched_before(0) <= room) return end;
  double lead = kInfinity;
  for (const auto& [seconds, amount] : demand.fetched)
    if (fetched_before(seconds) <= room) lead = std::min(lead, seconds);
  return end + lead;
}

}  // namespace cosched::dags::list
