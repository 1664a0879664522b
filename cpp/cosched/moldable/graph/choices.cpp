#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr int kAll = 64;
constexpr double kWorthwhile = 0.95;

bool no_worse(const Choice& a, const Choice& b) {
  if (a.time > b.time) return false;
  for (std::size_t r = 0; r < a.share.size(); ++r)
    if (a.share[r] > b.share[r]) return false;
  return true;
}

Choice make_choice(const Instance& instance, int i, int q) {
  Choice made{q, instance.given(i, q), {static_cast<double>(q) / instance.machines()}};
  const Sharing* sharing = instance.sharing();
  for (int r = 0; sharing && r < sharing->resources(); ++r) {
    const double need = sharing->need(r, i, q);
    made.share.push_back(need > 0 ? need / sharing->capacity(r) : 0);
  }
  return made;
}

std::vector<Choice> choices_of(const Instance& instance, int i, Counts counts) {
  std::vector<Choice> kept;
  double last = kInfinity;  // time of the last one beyond kAll
  for (int q = 1; q <= instance.useful_machines(); ++q) {
    if (!(instance.given(i, q) < kInfinity)) continue;
    if (instance.sharing() && !instance.sharing()->fits_alone(i, q)) continue;
    if (counts == Counts::worthwhile && q > kAll && instance.given(i, q) > kWorthwhile * last &&
        q < instance.useful_machines())
      continue;
    Choice made = make_choice(instance, i, q);
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const Choice& other) { return no_worse(other, made); }))
      continue;
    last = std::min(last, made.time);
    kept.push_back(std::move(made));
  }
  return kept;
}

}  // namespace

Choices::Choices(const Instance& instance, Counts counts)
    : measures_(1 + (instance.sharing() ? instance.sharing()->resources() : 0)) {
  for (int i = 0; i < instance.jobs(); ++i) {
    of_.push_back(choices_of(instance, i, counts));
    const auto least =
        std::min_element(of_.back().begin(), of_.back().end(),
                         [](const Choice& a, const Choice& b) { return a.time < b.time; });
    fastest_.push_back(static_cast<int>(least - of_.back().begin()));
  }
}

int Choices::within(int i, int q) const {
  int best = 0;
  for (int k = 1; k < static_cast<int>(of_[i].size()); ++k)
    if (of_[i][k].procs <= q && of_[i][k].time < of_[i][best].time) best = k;
  return best;
}

std::vector<double> durations(const Choices& choices, const Chosen& chosen) {
  std::vector<double> duration;
  for (int i = 0; i < choices.jobs(); ++i) duration.push_back(choices[i][chosen[i]].time);
  return duration;
}

std::vector<double> bottom_levels(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> level(duration);
  for (auto at = graph.order().rbegin(); at != graph.order().rend(); ++at) {
    double after = 0;
    for (const int k : graph.successors(*at)) after = std::max(after, level[k]);
    level[*at] += after;
  }
  return level;
}

std::vector<double> heads(const TaskGraph& graph, const std::vector<double>& duration,
                          const std::vector<double>& release) {
  std::vector<double> head(release);
  for (const int i : graph.order())
    for (const int k : graph.successors(i)) head[k] = std::max(head[k], head[i] + duration[i]);
  return head;
}

}  // namespace cosched::moldable::graph
