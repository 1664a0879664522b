#include "cosched/cluster/bound/stretch_kernel.hpp"

#include <functional>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

constexpr double kRounding = 1e-12;

// All intervals between consecutive releases and deadlines, and all jobs.
Residual whole(const std::vector<StretchJob>& jobs, double stretch) {
  std::vector<std::pair<double, Border>> events;
  events.reserve(2 * jobs.size());
  for (int j = 0; j < static_cast<int>(jobs.size()); ++j)
    for (const bool deadline : {false, true}) {
      const Border border{j, deadline};
      events.emplace_back(border.at(jobs, stretch), border);
    }
  std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second.deadline != b.second.deadline) return b.second.deadline;
    return a.second.job < b.second.job;
  });
  Residual result;
  result.first.resize(jobs.size());
  result.last.resize(jobs.size());
  int points = 0;
  double last = 0;
  for (const auto& [time, border] : events) {
    if (points == 0 || time != last) {
      // Where borders coincide, a release begins an interval if there is one ...
      if (points++ > 0) result.length.push_back(time - last);
      result.border_begin.push_back(border);
      result.border_end.push_back(border);
      last = time;
    }
    result.border_end.back() = border;  // ... and a deadline ends one, if there is one
    (border.deadline ? result.last : result.first)[border.job] = points - 1;
  }
  result.border_begin.pop_back();
  result.border_end.erase(result.border_end.begin());
  result.job.resize(jobs.size());
  std::iota(result.job.begin(), result.job.end(), 0);
  for (const StretchJob& job : jobs) result.left.push_back(job.runtime);
  return result;
}

// Which intervals become free in one sweep over them.  A job that they finish counts no more in
// what the sweep still has to see: cascades run along with it, and sweeps to and fro are few.
class Sweep {
 public:
  Sweep(const Residual& now, const std::vector<StretchJob>& jobs, bool backwards)
      : now_(now),
        jobs_(jobs),
        backwards_(backwards),
        intervals_(static_cast<int>(now.length.size())),
        arriving_(intervals_ + 1, 0),
        by_arrival_(now.job.size()),
        leaving_(intervals_ + 1, 0.0) {
    const int size = static_cast<int>(now.job.size());
    for (int i = 0; i < size; ++i) ++arriving_[begin(i)];
    std::partial_sum(arriving_.begin(), arriving_.end(), arriving_.begin());
    for (int i = size; i-- > 0;) by_arrival_[--arriving_[begin(i)]] = i;
  }

  std::vector<char> run(double nodes) {
    std::vector<char> free(intervals_, 0);
    for (int k = 0; k < intervals_; ++k) {
      rate_ -= leaving_[k];
      for (int at = arriving_[k]; at < arriving_[k + 1]; ++at) arrive(by_arrival_[at]);
      if (rate_ > nodes * (1 + kRounding)) continue;
      const int interval = backwards_ ? intervals_ - 1 - k : k;
      free[interval] = 1;
      free_time_ += now_.length[interval];
      for (; !finish_.empty() && finish_.top().first <= free_time_; finish_.pop())
        leave_early(finish_.top().second, k);
    }
    return free;
  }

 private:
  // In the direction of the sweep.
  int begin(int i) const { return backwards_ ? intervals_ - now_.last[i] : now_.first[i]; }
  int end(int i) const { return backwards_ ? intervals_ - now_.first[i] : now_.last[i]; }
  double rate(int i) const { return jobs_[now_.job[i]].rate; }

  void arrive(int i) {
    rate_ += rate(i);
    leaving_[end(i)] += rate(i);
    const double tolerance = jobs_[now_.job[i]].runtime * kRounding;
    finish_.emplace(free_time_ + now_.left[i] - tolerance, i);
  }
  void leave_early(int i, int k) {
    if (end(i) <= k) return;
    rate_ -= rate(i);
    leaving_[end(i)] -= rate(i);
  }

  using Finish = std::pair<double, int>;  // (free time of the sweep, job)

  const Residual& now_;
  const std::vector<StretchJob>& jobs_;
  const bool backwards_;
  const int intervals_;
  std::vector<int> arriving_, by_arrival_;  // jobs by interval
  std::vector<double> leaving_;             // rate, by interval
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finish_;
  double rate_ = 0, free_time_ = 0;
};

// Takes free intervals out; whether a job that had congested ones is finished thereby.
bool take_out(const std::vector<char>& free, Residual& now, const std::vector<StretchJob>& jobs) {
  std::vector<int> congested(free.size() + 1, 0);       // before each interval
  std::vector<double> free_time(free.size() + 1, 0.0);  // before each interval
  for (std::size_t k = 0; k < free.size(); ++k) {
    congested[k + 1] = congested[k] + !free[k];
    free_time[k + 1] = free_time[k] + (free[k] ? now.length[k] : 0);
    if (free[k]) continue;
    const int to = congested[k];
    now.border_begin[to] = now.border_begin[k];
    now.border_end[to] = now.border_end[k];
    now.length[to] = now.length[k];
  }
  now.border_begin.resize(congested.back());
  now.border_end.resize(congested.back());
  now.length.resize(congested.back());
  std::size_t kept = 0;
  bool finished = false;
  for (std::size_t i = 0; i < now.job.size(); ++i) {
    const int first = congested[now.first[i]], last = congested[now.last[i]];
    // No congested interval in its window of S max(p, threshold) >= p: what is left is rounding.
    if (first == last) continue;
    const double left = now.left[i] - (free_time[now.last[i]] - free_time[now.first[i]]);
    if (left <= jobs[now.job[i]].runtime * kRounding) {
      finished = true;
      continue;
    }
    now.job[kept] = now.job[i];
    now.first[kept] = first;
    now.last[kept] = last;
    now.left[kept++] = left;
  }
  now.job.resize(kept);
  now.first.resize(kept);
  now.last.resize(kept);
  now.left.resize(kept);
  return finished;
}

constexpr double kRootTolerance = 1e-13;

}  // namespace

Residual stretch_kernel(const std::vector<StretchJob>& jobs, double stretch, double nodes) {
  Residual result = whole(jobs, stretch);
  for (bool backwards = false;; backwards = !backwards) {
    check_interrupt();
    if (!take_out(Sweep(result, jobs, backwards).run(nodes), result, jobs)) return result;
  }
}

CutDeficit::CutDeficit(const std::vector<StretchJob>& jobs, double nodes,
                       std::vector<Border> begins, std::vector<Border> ends)
    : jobs_(jobs), nodes_(nodes), begins_(std::move(begins)), ends_(std::move(ends)) {}

std::vector<CutDeficit::Piece> CutDeficit::pieces(double stretch) const {
  std::vector<Piece> all;
  for (std::size_t k = 0; k < begins_.size(); ++k) {
    const Piece piece{begins_[k].at(jobs_, stretch),
                      ends_[k].at(jobs_, stretch),
                      begins_[k].speed(jobs_),
                      ends_[k].speed(jobs_),
                      0,
                      0};
    if (piece.begin < piece.end) all.push_back(piece);
  }
  std::sort(all.begin(), all.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Piece> merged;
  for (const Piece& piece : all) {
    if (!merged.empty() && piece.begin <= merged.back().end) {
      if (piece.end > merged.back().end) {
        merged.back().end = piece.end;
        merged.back().end_speed = piece.end_speed;
      }
      continue;
    }
    merged.push_back(piece);
  }
  for (std::size_t k = 1; k < merged.size(); ++k) {
    const Piece& last = merged[k - 1];
    merged[k].before = last.before + (last.end - last.begin);
    merged[k].before_speed = last.before_speed + (last.end_speed - last.begin_speed);
  }
  return merged;
}

// |U before `time`| and its derivative, for a time that moves at `speed`.
CutDeficit::Measure CutDeficit::measure(const std::vector<Piece>& pieces, double time,
                                        double speed) {
  const auto after = std::upper_bound(pieces.begin(), pieces.end(), time,
                                      [](double t, const Piece& piece) { return t < piece.begin; });
  if (after == pieces.begin()) return {0, 0};
  const Piece& piece = *(after - 1);
  if (time < piece.end)
    return {piece.before + (time - piece.begin), piece.before_speed + speed - piece.begin_speed};
  return {piece.before + (piece.end - piece.begin),
          piece.before_speed + piece.end_speed - piece.begin_speed};
}

CutDeficit::Value CutDeficit::operator()(double stretch) const {
  const std::vector<Piece> set = pieces(stretch);
  const Measure all = measure(set, kInfinity, 0);
  Value value{-nodes_ * all.value, -nodes_ * all.speed, nodes_ * all.value};
  Poll poll;
  for (const StretchJob& job : jobs_) {
    poll.count(200);
    const Measure end = measure(set, job.release + stretch * job.unit, job.unit);
    const Measure begin = measure(set, job.release, 0);
    const double inside = end.value - begin.value;
    const double forced = job.runtime - (stretch * job.unit - inside);
    if (!(forced > 0)) continue;
    value.deficit += job.rate * forced;
    value.slope += job.rate * (end.speed - begin.speed - job.unit);
  }
  return value;
}

double cut_root(const CutDeficit& deficit, double stretch) {
  double low = stretch, high = kInfinity;  // deficit(low) >= 0 > deficit(high)
  CutDeficit::Value at_low = deficit(low);
  for (int step = 0; step < 200; ++step) {
    if (at_low.deficit <= kRootTolerance * at_low.scale) break;
    double next = at_low.slope < 0 ? low - at_low.deficit / at_low.slope : 2 * low;
    if (!(next < high)) next = (low + high) / 2;
    if (!(next > low) || !(next < high)) break;
    const CutDeficit::Value value = deficit(next);
    if (value.deficit >= 0) {
      low = next;
      at_low = value;
    } else {
      high = next;
    }
    if (high - low <= kRootTolerance * low) break;
  }
  return low;
}

}  // namespace cosched::cluster::bound
