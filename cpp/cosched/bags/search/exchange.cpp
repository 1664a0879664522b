#include "cosched/bags/search/exchange.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kMostPartners = 720;  // machines that one scan looks at

}  // namespace

// What makes an exchange good: loads up to `limit`, and a low score.
struct Shop::Goal {
  double limit;
  const std::vector<double>& price;  // joules a second on each machine type
  double penalty;                    // joules a second above the limit on `from`
};

Shop::Shop(const Instance& instance, const std::vector<Run>& runs) : instance_(&instance) {
  const std::vector<int> first = list_machines(instance, kind_, number_);
  load_.assign(kind_.size(), 0);
  held_.resize(kind_.size());
  for (const Run& run : runs) {
    add(first[run.machine_type] + run.machine, run.task_type, run.count);
    joules_ += static_cast<double>(run.count) * instance.joules(run.task_type, run.machine_type);
  }
  for (int m = 0; m < machines(); ++m)
    for (const Holding& held : held_[m])
      load_[m] += static_cast<double>(held.count) * instance.etc(held.task_type, kind_[m]);
}

double Shop::makespan() const { return *std::max_element(load_.begin(), load_.end()); }

std::vector<Run> Shop::runs() const {
  std::vector<Run> all;
  for (int m = 0; m < machines(); ++m) {
    const std::size_t begin = all.size();
    for (const Holding& held : held_[m])
      all.push_back({held.task_type, kind_[m], number_[m], held.count});
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
              [&](const Run& a, const Run& b) {
                const double x = instance_->etc(a.task_type, kind_[m]);
                const double y = instance_->etc(b.task_type, kind_[m]);
                return x != y ? x > y : a.task_type < b.task_type;
              });
  }
  return all;
}

void Shop::add(int machine, int task_type, std::int64_t count) {
  std::vector<Holding>& held = held_[machine];
  const auto place = std::find_if(held.begin(), held.end(), [&](const Holding& holding) {
    return holding.task_type == task_type;
  });
  if (place == held.end()) {
    held.push_back({task_type, count});
  } else {
    place->count += count;
    if (place->count == 0) held.erase(place);
  }
}

double Shop::seconds_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->etc(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->etc(bundle.second, j);
  return sum;
}

double Shop::joules_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->joules(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->joules(bundle.second, j);
  return sum;
}

// Nothing, each task type, and with `most` = 2 each pair of tasks.
std::vector<Shop::Bundle> Shop::bundles(int machine, int most) const {
  std::vector<Bundle> all{{}};
  const std::vector<Holding>& held = held_[machine];
  for (const Holding& a : held) all.push_back({a.task_type, -1, 0, 0});
  if (most > 1)
    for (std::size_t a = 0; a < held.size(); ++a)
      for (std::size_t b = a; b < held.size(); ++b)
        if (a != b || held[a].count > 1)
          all.push_back({held[a].task_type, held[b].task_type, 0, 0});
  for (Bundle& bundle : all) {
    bundle.seconds = seconds_on(bundle, kind_[machine]);
    bundle.joules = joules_on(bundle, kind_[machine]);
  }
  return all;
}

// Improves `best` with the exchanges of `given` against what machine `to` holds.
void Shop::consider(int from, int to, const std::vector<Bundle>& given, int most, const Goal& goal,
                    Exchange& best) const {
  const int j = kind_[from], k = kind_[to];
  Poll poll;
  for (const Bundle& in : bundles(to, most)) {
    poll.count(8 * static_cast<std::int64_t>(given.size()));
    const double in_seconds = seconds_on(in, j);
    if (!(in_seconds < kInfinity)) continue;
    const double in_joules = joules_on(in, j) - in.joules;
    for (const Bundle& out : given) {
      const double new_from = load_[from] - out.seconds + in_seconds;
      if (new_from >= load_[from]) continue;
      const double new_to = load_[to] - in.seconds + seconds_on(out, k);
      if (!(new_to <= goal.limit)) continue;
      const double joules = in_joules + joules_on(out, k) - out.joules;
      const double over = std::max(new_from - goal.limit, 0.0);
      const double score = joules + goal.price[j] * (new_from - load_[from]) +
                           goal.price[k] * (new_to - load_[to]) + goal.penalty * over;
      // Ties (all exchanges within a machine type): move no more load than is needed.
      if (score < best.score || (score == best.score && new_from > best.new_from))
        best = {from, to, out, in, score, new_from, new_to};
    }
  }
}

Shop::Exchange Shop::best_exchange(int from, int most, const Goal& goal, std::int64_t& work) {
  const std::vector<Bundle> given = bundles(from, most);
  Exchange best;
  const int partners = std::min(machines(), kMostPartners);
  for (int n = 0; n < partners && work > 0; ++n) {
    const int to = (cursor_ + n) % machines();
    if (to == from) continue;
    consider(from, to, given, most, goal, best);
    work -= static_cast<std::int64_t>(given.size() * (held_[to].size() + 1));
  }
  if (partners < machines()) cursor_ = (cursor_ + partners) % machines();
  check_interrupt();
  return best;
}

void Shop::apply(const Exchange& exchange) {
  const auto move = [&](const Bundle& bundle, int source, int target) {
    for (const int i : {bundle.first, bundle.second}) {
      if (i < 0) continue;
      add(source, i, -1);
      add(target, i, 1);
      joules_ += instance_->joules(i, kind_[target]) - instance_->joules(i, kind_[source]);
    }
  };
  move(exchange.given, exchange.from, exchange.to);
  move(exchange.taken, exchange.to, exchange.from);
  load_[exchange.from] = exchange.new_from;
  load_[exchange.to] = exchange.new_to;
}

bool Shop::squeeze(double limit, const std::vector<double>& price, double penalty,
                   std::int64_t& work) {
  limit *= 1 + kFit;
  const Goal goal{limit, price, penalty};
  std::priority_queue<std::pair<double, int>> over;
  for (int m = 0; m < machines(); ++m)
    if (load_[m] > limit) over.emplace(load_[m], -m);
  while (!over.empty()) {
    if (work <= 0) return false;
    const int m = -over.top().second;
    over.pop();
    Exchange best = best_exchange(m, 1, goal, work);
    if (best.from < 0 || best.new_from > limit) best = best_exchange(m, 2, goal, work);
    if (best.from < 0 || best.score >= penalty * (load_[m] - limit)) return false;
    apply(best);
    if (load_[m] > limit) over.emplace(load_[m], -m);
  }
  return true;
}

}  // namespace cosched::bags::search
