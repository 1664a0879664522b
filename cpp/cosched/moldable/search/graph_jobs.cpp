#include "cosched/moldable/search/graph_jobs.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {

GraphJobs::GraphJobs(const Instance& instance)
    : instance_(instance),
      choices_(instance, graph::CountFilter::all),
      graph_(instance),
      real_measures_(choices_.measures()),
      measures_(real_measures_),
      capacity_(measures_, 1.0) {
  COSCHED_ASSERT(instance.jobs() <= 30);
  capacity_[0] = instance.machines();
  std::vector<double> least_times;
  for (int job = 0; job < jobs(); ++job) {
    first_choice_.push_back(static_cast<int>(time_.size()));
    for (const graph::JobChoice& choice : choices_[job]) {
      job_.push_back(job);
      time_.push_back(choice.time);
      need_.push_back(choice.procs);
      need_.insert(need_.end(), choice.share.begin() + 1, choice.share.end());
    }
    least_times.push_back(choices_[job][choices_.fastest_choice(job)].time);
  }
  first_choice_.push_back(static_cast<int>(time_.size()));
  heads_ = graph::heads(*graph_, least_times, instance.releases());
  tails_ = graph::bottom_levels(*graph_, least_times);
  for (int job = 0; job < jobs(); ++job) tails_[job] -= least_times[job];
  find_neighbours();
  find_identical_jobs();
}

void GraphJobs::add_mix(std::vector<double> prices) {
  drop_rounding_errors(prices);
  add_measure([&](int choice) {
    double mix = 0;
    for (int measure = 0; measure < real_measures_; ++measure)
      mix += prices[measure] * need(choice)[measure] / capacity_[measure];
    return mix;
  });
}

void GraphJobs::find_neighbours() {
  predecessors_.assign(jobs(), 0);
  successors_.assign(jobs(), 0);
  for (int job = 0; job < jobs(); ++job)
    for (const int successor : graph_->successors(job)) {
      predecessors_[successor] = with_job(predecessors_[successor], job);
      successors_[job] = with_job(successors_[job], successor);
    }
}

bool GraphJobs::are_alike(int job, int other) const {
  if (instance_.weight(job) != instance_.weight(other) ||
      instance_.release(job) != instance_.release(other) ||
      predecessors_[job] != predecessors_[other] || successors_[job] != successors_[other])
    return false;
  const auto same_choice = [](const graph::JobChoice& a, const graph::JobChoice& b) {
    return a.procs == b.procs && a.time == b.time && a.share == b.share;
  };
  return std::equal(choices_[job].begin(), choices_[job].end(), choices_[other].begin(),
                    choices_[other].end(), same_choice);
}

}  // namespace cosched::moldable::search
