#include "cosched/packs/exact/questions.hpp"

namespace cosched::packs::exact {
namespace {

constexpr double kOpen = 1e-5;       // sums closer to a whole number are whole
constexpr double kCountFirst = 0.1;  // questions about counts this open come before tasks

// (length, value), longest first.
using Masses = std::vector<std::pair<double, double>>;

Masses masses(const std::vector<columns::FractionalPack>& packs, int task = -1) {
  Masses result;
  for (const columns::FractionalPack& f : packs)
    if (task < 0 || std::binary_search(f.pack.tasks.begin(), f.pack.tasks.end(), task))
      result.emplace_back(f.pack.length, f.value);
  std::sort(result.begin(), result.end(), std::greater<>());
  return result;
}

struct Question {
  double openness = kOpen;  // distance of a sum from whole numbers
  double length = 0;
  double sum = 0;  // value of the packs of at least this length
  int task = -1;
};

// The length at which the sum of the longer packs is least whole.
Question least_whole(const Masses& masses) {
  Question question;
  double sum = 0;
  for (std::size_t c = 0; c < masses.size(); ++c) {
    sum += masses[c].second;
    if (c + 1 < masses.size() && masses[c + 1].first == masses[c].first) continue;
    const double openness = std::abs(sum - std::round(sum));
    if (openness > question.openness + 1e-6) question = {openness, masses[c].first, sum, -1};
  }
  return question;
}

// Number of packs of length >= D: at most, at least.
columns::Restrictions with_count(columns::Restrictions restrictions, double length, int packs,
                                 bool at_least) {
  restrictions.counts.push_back({length, packs, at_least});
  return restrictions;
}

// The pack of `task` has a length in [least, below).
columns::Restrictions with_interval(columns::Restrictions restrictions, int task, double least,
                                    double below) {
  restrictions.least[task] = std::max(restrictions.least[task], least);
  restrictions.below[task] = std::min(restrictions.below[task], below);
  return restrictions;
}

Alternatives ask(const columns::Restrictions& restrictions, const Question& question) {
  if (question.task < 0) {
    const int packs = static_cast<int>(std::floor(question.sum));
    return {with_count(restrictions, question.length, packs, false),
            with_count(restrictions, question.length, packs + 1, true)};
  }
  return {with_interval(restrictions, question.task, question.length, kInfinity),
          with_interval(restrictions, question.task, 0, question.length)};
}

double just_above(double length) { return std::nextafter(length, kInfinity); }

bool count_pinned(const columns::Restrictions& restrictions, double length, int packs) {
  bool above = packs == 0, below = false;
  for (const columns::CountRow& row : restrictions.counts) {
    if (row.length >= length && row.at_least && row.packs >= packs) above = true;
    if (row.length <= length && !row.at_least && row.packs <= packs) below = true;
  }
  return above && below;
}

Alternatives pin_count(const columns::Restrictions& restrictions, double length, int packs) {
  Alternatives result{
      with_count(with_count(restrictions, length, packs, true), length, packs, false),
      with_count(restrictions, length, packs + 1, true)};
  if (packs > 0) result.push_back(with_count(restrictions, length, packs - 1, false));
  return result;
}

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
    } else if (place_all()) {
      filling.answer = Filling::Answer::yes;
      filling.packs = packs_;
    } else {
      filling.answer = steps_ > 0 ? Filling::Answer::no : Filling::Answer::unknown;
    }
    return filling;
  }

 private:
  // Places the tasks of order_; false when impossible or out of steps.  Depth first, on a stack of
  // its own: there are as many levels as tasks.
  bool place_all() {
    std::vector<std::size_t> pack_of_position;  // where the tasks so far are
    std::size_t first_pack = 0;                 // that the task at work may be in
    while (pack_of_position.size() < order_.size()) {
      const int task = order_[pack_of_position.size()];
      const std::size_t pack = next_pack(first_pack, needs_[task]);
      if (pack < packs_.size()) {
        if (--steps_ <= 0) return false;
        if (steps_ % 65536 == 0) check_interrupt();
        put(task, pack);
        pack_of_position.push_back(pack);
        first_pack = 0;
        continue;
      }
      if (pack_of_position.empty()) return false;
      const std::size_t last = pack_of_position.back();
      pack_of_position.pop_back();
      take_out(order_[pack_of_position.size()], last);
      first_pack = last + 1;
    }
    return true;
  }

  std::size_t next_pack(std::size_t first, int need) const {
    std::size_t b = first;
    while (b < packs_.size() && (free_[b] < need || room_[b] == 0 || like_an_earlier(b))) ++b;
    return b;
  }

  void put(int task, std::size_t pack) {
    free_[pack] -= needs_[task];
    --room_[pack];
    packs_[pack].push_back(task);
  }

  void take_out(int task, std::size_t pack) {
    packs_[pack].pop_back();
    ++room_[pack];
    free_[pack] += needs_[task];
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

std::optional<Alternatives> most_open_question(const columns::Restrictions& restrictions,
                                               const std::vector<columns::FractionalPack>& packs) {
  const Question count = least_whole(masses(packs));
  if (count.openness > kCountFirst) return ask(restrictions, count);
  Question best = count;
  for (std::size_t i = 0; i < restrictions.least.size(); ++i) {
    Question question = least_whole(masses(packs, static_cast<int>(i)));
    question.task = static_cast<int>(i);
    if (question.openness > best.openness) best = question;
  }
  if (best.openness <= kOpen) return std::nullopt;
  return ask(restrictions, best);
}

std::vector<Level> levels(const std::vector<columns::FractionalPack>& packs, int tasks) {
  std::vector<Level> result;
  double sum = 0;
  for (const auto& [length, value] : masses(packs)) {
    if (result.empty() || result.back().length != length) {
      result.push_back({length, 0, {}});
      sum = 0;
    }
    sum += value;
    result.back().packs = static_cast<int>(std::lround(sum));
  }
  for (int i = 0; i < tasks; ++i) {
    const Masses of_task = masses(packs, i);
    const auto largest =
        std::max_element(of_task.begin(), of_task.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (Level& level : result)
      if (largest != of_task.end() && level.length == largest->first) level.tasks.push_back(i);
  }
  result.erase(
      std::remove_if(result.begin(), result.end(),
                     [](const Level& level) { return level.packs == 0 && level.tasks.empty(); }),
      result.end());
  return result;
}

std::optional<Alternatives> pinning_question(const columns::Restrictions& restrictions,
                                             const std::vector<Level>& all, const Level& level) {
  const double above = just_above(level.length);
  for (const int i : level.tasks) {
    if (restrictions.least[i] == level.length && restrictions.below[i] == above) continue;
    Alternatives result{with_interval(restrictions, i, level.length, above)};
    if (restrictions.least[i] < level.length)
      result.push_back(with_interval(restrictions, i, 0, level.length));
    if (restrictions.below[i] > above)
      result.push_back(with_interval(restrictions, i, above, kInfinity));
    return result;
  }
  int longer = 0;
  for (const Level& other : all)
    if (other.length > level.length) longer += other.packs;
  if (!count_pinned(restrictions, above, longer)) return pin_count(restrictions, above, longer);
  if (!count_pinned(restrictions, level.length, longer + level.packs))
    return pin_count(restrictions, level.length, longer + level.packs);
  return std::nullopt;
}

Filling fill_packs(const std::vector<int>& needs, int packs, int procs, int max_tasks,
                   std::int64_t most_steps) {
  return Filler(needs, packs, procs, max_tasks, most_steps).run();
}

}  // namespace cosched::packs::exact
