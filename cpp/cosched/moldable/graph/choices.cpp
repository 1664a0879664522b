#include "cosched/moldable/graph/choices.hpp"

namespace cosched::moldable::graph {
namespace {

// Counts up to this one are all choices; beyond, a count only if its time is at most this part of
// the time of the choice before it.
constexpr int kAllCounts = 64;
constexpr double kTimeRatio = 0.95;

bool is_no_worse(const JobChoice& a, const JobChoice& b) {
  if (a.time > b.time) return false;
  for (std::size_t r = 0; r < a.share.size(); ++r)
    if (a.share[r] > b.share[r]) return false;
  return true;
}

JobChoice make_choice(const Instance& instance, int i, int q) {
  JobChoice choice{q, instance.exact_time(i, q), {static_cast<double>(q) / instance.machines()}};
  const Sharing* sharing = instance.sharing();
  for (int r = 0; sharing && r < sharing->resources(); ++r) {
    const double need = sharing->need(r, i, q);
    choice.share.push_back(need > 0 ? need / sharing->capacity(r) : 0);
  }
  return choice;
}

std::vector<JobChoice> choices_of_job(const Instance& instance, int i, CountFilter counts) {
  std::vector<JobChoice> choices;
  double last_time = kInfinity;  // time of the last one beyond kAll
  for (int q = 1; q <= instance.useful_machines(); ++q) {
    if (!(instance.exact_time(i, q) < kInfinity)) continue;
    if (instance.sharing() && !instance.sharing()->fits_alone(i, q)) continue;
    if (counts == CountFilter::worthwhile && q > kAllCounts &&
        instance.exact_time(i, q) > kTimeRatio * last_time && q < instance.useful_machines())
      continue;
    JobChoice choice = make_choice(instance, i, q);
    if (std::any_of(choices.begin(), choices.end(),
                    [&](const JobChoice& other) { return is_no_worse(other, choice); }))
      continue;
    last_time = std::min(last_time, choice.time);
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace

JobChoices::JobChoices(const Instance& instance, CountFilter counts)
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

}  // namespace cosched::moldable::graph
