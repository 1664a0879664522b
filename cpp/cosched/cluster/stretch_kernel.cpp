#include "cosched/cluster/stretch_kernel.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"

namespace cosched::cluster {
namespace {

constexpr double kRounding = 1e-12;

class Kernel {
 public:
  Kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes)
      : jobs_(jobs), nodes_(nodes), alive_(jobs.size(), 1) {
    make_intervals(stretch);
    rate_change_.assign(point_.size() + 1, 0.0);
    for (std::size_t j = 0; j < jobs.size(); ++j) change_rate(static_cast<int>(j), jobs[j].rate);
    free_.assign(point_.size() - 1, 0);
  }

  Residual run() {
    while (free_intervals() && finish_jobs()) check_interrupt();
    return residual();
  }

 private:
  void make_intervals(double stretch) {
    std::vector<std::pair<double, Border>> events;
    events.reserve(2 * jobs_.size());
    for (int j = 0; j < static_cast<int>(jobs_.size()); ++j)
      for (const bool deadline : {false, true}) {
        const Border border{j, deadline};
        events.emplace_back(border.at(jobs_, stretch), border);
      }
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      if (a.second.deadline != b.second.deadline) return b.second.deadline;
      return a.second.job < b.second.job;
    });
    first_.resize(jobs_.size());
    last_.resize(jobs_.size());
    for (const auto& [time, border] : events) {
      if (point_.empty() || time != point_.back()) {
        point_.push_back(time);
        release_.push_back(border);  // where borders coincide: a release, if there is one
        deadline_.push_back(border);
      }
      deadline_.back() = border;  // and a deadline, if there is one
      (border.deadline ? last_ : first_)[border.job] = static_cast<int>(point_.size()) - 1;
    }
  }

  void change_rate(int job, double rate) {
    rate_change_[first_[job]] += rate;
    rate_change_[last_[job]] -= rate;
  }

  // Whether any interval became free; free_sum_[k] = free time before point k.
  bool free_intervals() {
    bool any = false;
    double rate = 0;
    free_sum_.assign(point_.size(), 0.0);
    for (std::size_t k = 0; k < free_.size(); ++k) {
      rate += rate_change_[k];
      if (!free_[k] && rate <= nodes_ * (1 + kRounding)) free_[k] = any = true;
      free_sum_[k + 1] = free_sum_[k] + (free_[k] ? point_[k + 1] - point_[k] : 0);
    }
    return any;
  }

  double free_time(std::size_t job) const { return free_sum_[last_[job]] - free_sum_[first_[job]]; }

  bool finish_jobs() {
    bool any = false;
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if (alive_[j] && free_time(j) >= jobs_[j].runtime * (1 - kRounding)) {
        alive_[j] = 0;
        change_rate(static_cast<int>(j), -jobs_[j].rate);
        any = true;
      }
    return any;
  }

  Residual residual() const {
    Residual result;
    std::vector<int> number(point_.size(), 0);  // congested intervals before point k
    for (std::size_t k = 0; k < free_.size(); ++k) {
      number[k + 1] = number[k] + !free_[k];
      if (free_[k]) continue;
      result.border_begin.push_back(release_[k]);
      result.border_end.push_back(deadline_[k + 1]);
      result.length.push_back(point_[k + 1] - point_[k]);
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      // No congested interval in its window of S max(p, threshold) >= p: what is left is rounding.
      if (!alive_[j] || number[first_[j]] == number[last_[j]]) continue;
      result.job.push_back(static_cast<int>(j));
      result.first.push_back(number[first_[j]]);
      result.last.push_back(number[last_[j]]);
      result.left.push_back(jobs_[j].runtime - free_time(j));
    }
    return result;
  }

  const std::vector<StretchJob>& jobs_;
  const double nodes_;
  std::vector<double> point_;
  std::vector<Border> release_, deadline_;  // what defines each point
  std::vector<int> first_, last_;           // by job: window in points
  std::vector<double> rate_change_;         // by point, of unfinished jobs
  std::vector<char> free_, alive_;
  std::vector<double> free_sum_;
};

}  // namespace

Residual stretch_kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes) {
  return Kernel(jobs, stretch, nodes).run();
}

}  // namespace cosched::cluster
