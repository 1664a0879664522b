#include "cosched/moldable/graph/allotment.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::graph {
namespace {

// The ratio that round_work_path() proves for these parameters.
double guarantee_ratio(int m, int mu, double a, double b, double cut) {
  const double path = std::max(a * (m - mu), std::max(cut * m / mu, a) * (m - 2 * mu + 1));
  return (b * m + path) / (m - mu + 1);
}

// Each job on the fastest of at most `most` processors; whether every job that changes has exactly
// as many.
bool cut_to(const JobChoices& choices, ChoiceNumbers& chosen, int max_procs) {
  bool is_exact_cut = true;
  for (int i = 0; i < choices.jobs(); ++i) {
    if (choices[i][chosen[i]].procs <= max_procs) continue;
    chosen[i] = choices.fastest_within(i, max_procs);
    is_exact_cut = is_exact_cut && choices[i][chosen[i]].procs == max_procs;
  }
  return is_exact_cut;
}

// Whether each job's counts are consecutive and their work is convex in the time.
bool is_convex(const JobChoices& choices) {
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& choices_of_job = choices[i];
    for (std::size_t k = 1; k < choices_of_job.size(); ++k) {
      if (choices_of_job[k].procs != choices_of_job[k - 1].procs + 1) return false;
      if (k < 2) continue;
      const auto work = [&](std::size_t j) {
        return choices_of_job[j].procs * choices_of_job[j].time;
      };
      const double slope =
          (work(k) - work(k - 1)) / (choices_of_job[k - 1].time - choices_of_job[k].time);
      const double previous_slope =
          (work(k - 1) - work(k - 2)) / (choices_of_job[k - 2].time - choices_of_job[k - 1].time);
      if (slope < previous_slope * (1 - kExactTolerance)) return false;
    }
    if (choices_of_job.front().procs != 1) return false;
  }
  return true;
}

// Choices on the lower hull of (time, work), by falling time.
std::vector<int> lower_hull(const std::vector<JobChoice>& choices_of_job) {
  const auto work = [&](int j) { return choices_of_job[j].procs * choices_of_job[j].time; };
  std::vector<int> hull;
  for (int k = 0; k < static_cast<int>(choices_of_job.size()); ++k) {
    if (!hull.empty() && choices_of_job[k].time >= choices_of_job[hull.back()].time) continue;
    while (!hull.empty() && work(k) <= work(hull.back())) hull.pop_back();
    while (hull.size() >= 2) {
      const int a = hull[hull.size() - 2], b = hull.back();
      if ((work(b) - work(a)) * (choices_of_job[a].time - choices_of_job[k].time) <
          (work(k) - work(a)) * (choices_of_job[a].time - choices_of_job[b].time))
        break;
      hull.pop_back();
    }
    hull.push_back(k);
  }
  return hull;
}

}  // namespace

bool has_guarantee(const Instance& instance) {
  return instance.useful_machines() <= kMostCounts && instance.has_monotone_work() &&
         !instance.sharing() && !instance.has_releases();
}

// Between the neighbours on the hull around the time.
ChoiceNumbers round_durations(const JobChoices& choices, const std::vector<double>& duration,
                              double theta, int max_procs) {
  ChoiceNumbers chosen;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& choices_of_job = choices[i];
    const std::vector<int> hull = lower_hull(choices_of_job);
    std::size_t slow_index = 0;
    while (slow_index + 1 < hull.size() && choices_of_job[hull[slow_index + 1]].time >= duration[i])
      ++slow_index;
    int choice_number = hull[slow_index];
    if (slow_index + 1 < hull.size() && duration[i] < choices_of_job[choice_number].time) {
      const double fast = choices_of_job[hull[slow_index + 1]].time;
      if (duration[i] - fast < theta * (choices_of_job[choice_number].time - fast))
        choice_number = hull[slow_index + 1];
    }
    chosen.push_back(choice_number);
  }
  cut_to(choices, chosen, max_procs);
  return chosen;
}

GuaranteedAllotment round_work_path(const Instance& instance, const JobChoices& choices,
                                    const WorkPath& fractional) {
  const int m = instance.machines();
  const bool is_convex_work = is_convex(choices);
  double best = kInfinity, theta = 0.5;
  int max_procs = m;
  constexpr int kParts = 100;  // the guarantee changes by less than 1% from one part to the next
  for (int step = 1; step < kParts; ++step) {
    const double part = static_cast<double>(step) / kParts;
    const double a = is_convex_work ? 2 / (1 + part) : 1 / part;
    const double b = is_convex_work ? 2 / (2 - part) : 1 / (1 - part);
    for (int mu = 1; mu <= (m + 1) / 2; ++mu) {
      const double ratio = guarantee_ratio(m, mu, a, b, is_convex_work ? 1 : b);
      if (!(ratio < best)) continue;
      best = ratio;
      theta = part;
      max_procs = mu;
    }
  }
  GuaranteedAllotment allotment{round_durations(choices, fractional.durations, theta, m), 0};
  if (cut_to(choices, allotment.choice_numbers, max_procs) && has_guarantee(instance))
    allotment.ratio = best;
  return allotment;
}

GuaranteedAllotment allot_locally(const Instance& instance, const JobChoices& choices, double mu) {
  COSCHED_ASSERT(mu > 0 && mu <= (3 - std::sqrt(5.0)) / 2);
  const double delta = (1 - 2 * mu) / (mu * (1 - mu));
  GuaranteedAllotment allotment;
  double alpha = 1;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& choices_of_job = choices[i];
    const double time_limit =
        delta * choices_of_job[choices.fastest_choice(i)].time * (1 + kExactTolerance);
    double least = kInfinity;
    int choice_number = choices.fastest_choice(i);
    for (int k = 0; k < static_cast<int>(choices_of_job.size()); ++k) {
      const double work = choices_of_job[k].procs * choices_of_job[k].time;
      least = std::min(least, work);
      if (choices_of_job[k].time <= time_limit &&
          work < choices_of_job[choice_number].procs * choices_of_job[choice_number].time)
        choice_number = k;
    }
    alpha = std::max(
        alpha, choices_of_job[choice_number].procs * choices_of_job[choice_number].time / least);
    allotment.choice_numbers.push_back(choice_number);
  }
  const bool is_exact_cut = cut_to(choices, allotment.choice_numbers,
                                   static_cast<int>(std::ceil(mu * instance.machines())));
  if (is_exact_cut && has_guarantee(instance))
    allotment.ratio = (mu * alpha + 1 - 2 * mu) / (mu * (1 - mu));
  return allotment;
}

}  // namespace cosched::moldable::graph
