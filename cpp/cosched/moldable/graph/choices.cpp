#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr int kAll = 64;
constexpr double kWorthwhile = 0.95;

bool is_no_worse(const JobChoice& a, const JobChoice& b) {
  if (a.time > b.time) return false;
  for (std::size_t r = 0; r < a.share.size(); ++r)
    if (a.share[r] > b.share[r]) return false;
  return true;
}

JobChoice make_choice(const Instance& instance, int i, int q) {
  JobChoice made{q, instance.exact_time(i, q), {static_cast<double>(q) / instance.machines()}};
  const Sharing* sharing = instance.sharing();
  for (int r = 0; sharing && r < sharing->resources(); ++r) {
    const double need = sharing->need(r, i, q);
    made.share.push_back(need > 0 ? need / sharing->capacity(r) : 0);
  }
  return made;
}

std::vector<JobChoice> choices_of_job(const Instance& instance, int i, Counts counts) {
  std::vector<JobChoice> kept;
  double last = kInfinity;  // time of the last one beyond kAll
  for (int q = 1; q <= instance.useful_machines(); ++q) {
    if (!(instance.exact_time(i, q) < kInfinity)) continue;
    if (instance.sharing() && !instance.sharing()->fits_alone(i, q)) continue;
    if (counts == Counts::worthwhile && q > kAll &&
        instance.exact_time(i, q) > kWorthwhile * last && q < instance.useful_machines())
      continue;
    JobChoice made = make_choice(instance, i, q);
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const JobChoice& other) { return is_no_worse(other, made); }))
      continue;
    last = std::min(last, made.time);
    kept.push_back(std::move(made));
  }
  return kept;
}

}  // namespace

JobChoices::JobChoices(const Instance& instance, Counts counts)
    : measures_(1 + (instance.sharing() ? instance.sharing()->resources() : 0)) {
  for (int i = 0; i < instance.jobs(); ++i) {
    job_choices_.push_back(choices_of_job(instance, i, counts));
    const auto least =
        std::min_element(job_choices_.back().begin(), job_choices_.back().end(),
                         [](const JobChoice& a, const JobChoice& b) { return a.time < b.time; });
    fastest_choice_.push_back(static_cast<int>(least - job_choices_.back().begin()));
  }
}

int JobChoices::fastest_within(int i, int q) const {
  int best = 0;
  for (int k = 1; k < static_cast<int>(job_choices_[i].size()); ++k)
    if (job_choices_[i][k].procs <= q && job_choices_[i][k].time < job_choices_[i][best].time)
      best = k;
  return best;
}

std::vector<double> durations(const JobChoices& choices, const ChoiceNumbers& chosen) {
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
