// What a set of tasks costs as one pack where they share the machine: the counts that end it first.
//
// c(S) = min over counts q, sum q_i <= p, whose needs fit, of the last progressive end.  A task's
// counts that another one beats in processors, time, needs and traffic alike are never looked at.
// c never falls where S grows: a task that goes leaves the others no slower.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"
#include "cosched/core/processor_choice.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

struct Price {
  double cost = kInfinity;  // infinite where the tasks do not fit, or cost no less than a cutoff
  double lower = 0;         // proven: the tasks cost no less as one pack; cost where that is exact
  std::vector<int> procs;   // a count a task
};

class PackPricer {
 public:
  static constexpr int kMostBranchedTasks = 2'000;

  /// `instance` must outlive it, and share something.
  explicit PackPricer(const Instance& instance)
      : instance_(instance), sharing_(*instance.sharing()) {
    for (int i = 0; i < instance.tasks(); ++i) {
      choices_.push_back(choices(sharing_, i, instance.procs(),
                                 [&](int q) { return instance.times().given(i, q); }));
      for (int r = 0; r < sharing_.resources(); ++r) {
        double least = kInfinity;
        for (const Choice& c : choices_[i]) least = std::min(least, sharing_.need(r, i, c.procs));
        least_need_.push_back(least);
      }
      double least = kInfinity;
      for (const Choice& c : choices_[i]) least = std::min(least, sharing_.load(i, c.procs));
      least_load_.push_back(least);
    }
  }

  /// Bounds c(S) from below, as if nobody slowed anybody.  Infinite where the least needs, or the
  /// fewest processors, are too many together.  O(k log p).
  double lower(const std::vector<int>& tasks) {
    const int count = static_cast<int>(tasks.size()), resources = sharing_.resources();
    for (int r = 0; r < resources; ++r) {
      double sum = 0;
      for (const int i : tasks) sum += least_need_[static_cast<std::size_t>(i) * resources + r];
      if (!leq(sum, sharing_.capacity(r))) return kInfinity;
    }
    // The least length at which the fewest processors of all tasks suffice is a time of one of
    // them: bisection by lengths would need them sorted, so a processor at a time goes to the
    // longest, by its next faster choice.
    long long used = 0;
    std::vector<int>& at = lower_choice_;
    std::vector<double>& time = lower_time_;
    at.assign(count, 0);
    time.resize(count);
    for (int k = 0; k < count; ++k) {
      used += choices_[tasks[k]][0].procs;
      time[k] = choices_[tasks[k]][0].time;
    }
    if (used > instance_.procs()) return kInfinity;
    for (;;) {
      const auto k = std::max_element(time.begin(), time.end()) - time.begin();
      const std::vector<Choice>& own = choices_[tasks[k]];
      // The first choice that is faster: those between need fewer resources only.
      std::size_t next = at[k] + 1;
      while (next < own.size() && own[next].time >= time[k]) ++next;
      if (next == own.size()) return time[k];
      used += own[next].procs - own[at[k]].procs;
      if (used > instance_.procs()) return time[k];
      at[k] = static_cast<int>(next);
      time[k] = own[next].time;
      poll_.count(4 + count);
    }
  }

  /// c(S) by branch and bound from quick()'s counts, where it is below `cutoff`.  After
  /// `most_nodes`, and beyond kMostBranchedTasks tasks, the best so far, with lower < cost.
  /// Exponential in k.
  Price exact(const std::vector<int>& tasks, double cutoff = kInfinity,
              std::int64_t most_nodes = 50'000) {
    Price price = quick(tasks);
    if (price.lower >= cutoff) {
      price.cost = kInfinity;
      return price;
    }
    load(tasks);
    const int k = static_cast<int>(tasks.size());
    best_cost_ = std::min(cutoff, price.cost);
    order_ = sorted_numbers(k, [&](int a, int b) {
      return of(a)[0].time > of(b)[0].time;  // what decides the end most
    });
    at_.assign(k, 0);
    best_.clear();
    nodes_ = 0;
    most_nodes_ = most_nodes;
    // The recursion is as deep as the pack has tasks.
    cut_ = k > kMostBranchedTasks;
    if (!cut_) branch(0, 0);
    if (!best_.empty()) {
      price.cost = best_cost_;
      price.procs.resize(k);
      for (int a = 0; a < k; ++a) price.procs[a] = of(a)[best_[a]].procs;
    }
    if (!cut_) price.lower = std::min(price.cost, best_cost_);
    if (!(price.cost < cutoff)) {
      price.cost = kInfinity;
      if (!cut_) price.lower = cutoff;
    }
    return price;
  }

  /// Counts that are mostly the best: a processor at a time to the task that ends last, then single
  /// processors moved while that helps.  Not worse than the counts that the same gives where
  /// nothing slows.  `lower` is lower()'s.
  Price quick(const std::vector<int>& tasks) {
    Price price;
    price.lower = lower(tasks);
    if (price.lower == kInfinity) return price;
    load(tasks);
    std::vector<int> chosen;
    if (!grow(chosen, true)) return price;
    price.cost = evaluate(chosen);
    if (tasks.size() > 1 && sharing_.slows()) {
      // From the counts of those whom nobody slows, too: a plan that knows no slow-downs is never
      // better.
      std::vector<int> other;
      grow(other, false);
      double cost = evaluate(other);
      shift(other, cost);
      if (cost < price.cost) {
        price.cost = cost;
        chosen = other;
      }
    }
    shift(chosen, price.cost);
    for (std::size_t k = 0; k < chosen.size(); ++k)
      price.procs.push_back(of(static_cast<int>(k))[chosen[k]].procs);
    return price;
  }

  /// Evaluations so far: a measure of work.
  std::int64_t evaluations() const { return evaluations_; }

 private:
  static constexpr double kOneEvent = 1e-13;  // as core/sharing.cpp

  void load(const std::vector<int>& tasks) {
    tasks_ = tasks;
    const std::size_t k = tasks.size();
    excess_.resize(k * k);
    stall_.resize(k);
    for (std::vector<double>* values : {&alone_, &load_, &left_, &since_, &factor_, &end_})
      values->resize(k);
    for (std::size_t a = 0; a < k; ++a) {
      stall_[a] = sharing_.stall(tasks[a]);
      for (std::size_t b = 0; b < k; ++b)
        excess_[a * k + b] = a == b ? 0 : sharing_.excess(tasks[a], tasks[b]);
    }
  }

  double evaluate(const std::vector<int>& chosen) {
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const Choice& choice = of(static_cast<int>(k))[chosen[k]];
      alone_[k] = choice.time;
      load_[k] = sharing_.load(tasks_[k], choice.procs);
    }
    return last_end();
  }

  bool fits(const std::vector<int>& chosen) const {
    long long used = 0;
    for (std::size_t k = 0; k < chosen.size(); ++k)
      used += of(static_cast<int>(k))[chosen[k]].procs;
    if (used > instance_.procs()) return false;
    for (int r = 0; r < sharing_.resources(); ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < chosen.size(); ++k)
        sum += sharing_.need(r, tasks_[k], of(static_cast<int>(k))[chosen[k]].procs);
      if (!leq(sum, sharing_.capacity(r))) return false;
    }
    return true;
  }

  // The last end of tasks of alone_ seconds and load_ traffic that start together.
  double last_end() {
    ++evaluations_;
    const std::size_t k = tasks_.size();
    poll_.count(static_cast<std::int64_t>(20 * k * k));
    alive_.resize(k);
    std::iota(alive_.begin(), alive_.end(), 0);
    if (!sharing_.slows()) return *std::max_element(alone_.begin(), alone_.end());
    for (std::size_t i = 0; i < k; ++i) {
      left_[i] = alone_[i];
      since_[i] = 0;
      factor_[i] = factor(static_cast<int>(i));
      end_[i] = left_[i] * factor_[i];
    }
    for (;;) {
      double now = kInfinity, last = 0;
      for (const int i : alive_) now = std::min(now, end_[i]);
      const double event = now + kOneEvent * now;
      std::size_t kept = 0;
      for (const int i : alive_) {
        if (end_[i] <= event)
          last = std::max(last, end_[i]);
        else
          alive_[kept++] = i;
      }
      alive_.resize(kept);
      if (kept == 0) return last;
      if (kept == 1) {  // alone from now on
        const int i = alive_[0];
        if (factor_[i] == 1) return end_[i];
        return now + std::max(0.0, left_[i] - (now - since_[i]) / factor_[i]);
      }
      for (const int i : alive_) {
        const double f = factor(i);
        if (f == factor_[i]) continue;
        left_[i] = std::max(0.0, left_[i] - (now - since_[i]) / factor_[i]);
        since_[i] = now;
        factor_[i] = f;
        end_[i] = now + left_[i] * f;
      }
    }
  }

  double factor(int i) const {
    const double* e = &excess_[static_cast<std::size_t>(i) * tasks_.size()];
    double pairs = 1, traffic = 0;
    switch (sharing_.rule()) {
      case SlowdownRule::sum:
        for (const int j : alive_) pairs += e[j];
        break;
      case SlowdownRule::product:
        for (const int j : alive_) pairs *= 1 + e[j];
        break;
      case SlowdownRule::max:
        for (const int j : alive_) pairs = std::max(pairs, 1 + e[j]);
        break;
    }
    if (!sharing_.has_bandwidth() || alive_.size() == 1) return pairs;
    for (const int j : alive_) traffic += load_[j];
    return std::max(pairs, 1 + stall_[i] * std::max(0.0, traffic - 1));
  }

  // Whether the tasks up to order_[depth] leave the others their least needs.
  bool needs_fit(int depth) const {
    const int resources = sharing_.resources();
    for (int r = 0; r < resources; ++r) {
      double sum = 0;
      for (int d = 0; d < static_cast<int>(order_.size()); ++d) {
        const int place = order_[d], i = tasks_[place];
        sum += d <= depth ? sharing_.need(r, i, of(place)[at_[place]].procs)
                          : least_need_[static_cast<std::size_t>(i) * resources + r];
      }
      if (!leq(sum, sharing_.capacity(r))) return false;
    }
    return true;
  }

  // A bound on all ways to go on: the later tasks as fast as `free` processors let each be on its
  // own, beside the fewest of the others, with their least traffic.
  double bound(int depth, int free) {
    for (int d = 0; d < static_cast<int>(order_.size()); ++d) {
      const int place = order_[d];
      if (d <= depth) {
        const Choice& choice = of(place)[at_[place]];
        alone_[place] = choice.time;
        load_[place] = sharing_.load(tasks_[place], choice.procs);
        continue;
      }
      const int own = free + of(place)[0].procs;
      alone_[place] = kInfinity;
      load_[place] = least_load_[tasks_[place]];
      if (sharing_.same_on_all_counts())
        alone_[place] = of(place)[choice_within(place, own)].time;
      else
        for (const Choice& choice : of(place))
          if (choice.procs <= own) alone_[place] = std::min(alone_[place], choice.time);
    }
    return last_end();
  }

  // Decides order_[depth] and what follows, from the most processors down: where needs and traffic
  // are the same on all counts the task only gets slower.
  void branch(int depth, int used) {
    if (++nodes_ > most_nodes_) cut_ = true;
    if (cut_) return;
    const int place = order_[depth];
    int later = 0;  // processors that the tasks after this one need at least
    for (std::size_t d = depth + 1; d < order_.size(); ++d) later += of(order_[d])[0].procs;
    const bool last = depth + 1 == static_cast<int>(order_.size());
    const bool slower_down = sharing_.same_on_all_counts();
    for (int c = choice_within(place, instance_.procs() - used - later); c >= 0 && !cut_; --c) {
      at_[place] = c;
      const Choice& choice = of(place)[c];
      if (slower_down && choice.time >= best_cost_) return;
      if (!needs_fit(depth)) continue;
      const double end = bound(depth, instance_.procs() - used - later - choice.procs);
      if (end < best_cost_) {
        if (last) {
          best_cost_ = end;
          best_ = at_;
        } else {
          branch(depth + 1, used + choice.procs);
        }
      }
      if (last && slower_down) return;
    }
  }

  // The fewest processors each; where needs differ by count, less of what is scarcest.
  bool first_counts(std::vector<int>& chosen) const {
    chosen.assign(tasks_.size(), 0);
    if (fits(chosen) || sharing_.same_on_all_counts()) return fits(chosen);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      double least = kInfinity;
      for (std::size_t c = 0; c < of(static_cast<int>(k)).size(); ++c) {
        double share = 0;
        for (int r = 0; r < sharing_.resources(); ++r)
          if (sharing_.capacity(r) > 0 && sharing_.capacity(r) < kInfinity)
            share += sharing_.need(r, tasks_[k], of(static_cast<int>(k))[c].procs) /
                     sharing_.capacity(r);
        if (share >= least) continue;
        least = share;
        chosen[k] = static_cast<int>(c);
      }
    }
    return fits(chosen);
  }

  // The next count of a task that is faster and fits, -1 where there is none.
  int faster_choice(std::vector<int>& chosen, int place) const {
    const std::vector<Choice>& own = of(place);
    const int now = chosen[place];
    int found = -1;
    for (int c = now + 1; c < static_cast<int>(own.size()) && found < 0; ++c) {
      chosen[place] = c;
      if (own[c].time < own[now].time && fits(chosen)) found = c;
      if (sharing_.same_on_all_counts()) break;  // more processors need no less
    }
    chosen[place] = now;
    return found;
  }

  // A faster count for the task that ends last beside all others, or alone, as long as it fits.
  bool grow(std::vector<int>& chosen, bool slowed) {
    if (!first_counts(chosen)) return false;
    std::vector<char> stuck(chosen.size(), 0);
    alive_.resize(chosen.size());
    for (;;) {
      evaluate(chosen);
      alive_.resize(chosen.size());
      std::iota(alive_.begin(), alive_.end(), 0);
      int longest = -1;
      double most = 0;
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const double end = alone_[k] * (slowed ? factor(static_cast<int>(k)) : 1);
        if (!stuck[k] && end > most) {
          most = end;
          longest = static_cast<int>(k);
        }
      }
      if (longest < 0) return true;
      const int next = faster_choice(chosen, longest);
      if (next < 0)
        stuck[longest] = 1;
      else
        chosen[longest] = next;
    }
  }

  // Steps of one task up, and of another one down where processors are short, while the pack ends
  // earlier.
  void shift(std::vector<int>& chosen, double& cost) {
    const int k = static_cast<int>(chosen.size());
    for (bool better = true; better;) {
      better = false;
      for (int up = 0; up < k && !better; ++up)
        for (int down = -1; down < k && !better; ++down) {
          if (down == up) continue;
          std::vector<int> other = chosen;
          if (++other[up] >= static_cast<int>(of(up).size())) break;
          if (down >= 0) {
            const int short_of = of(up)[other[up]].procs - of(up)[chosen[up]].procs;
            other[down] = choice_within(down, of(down)[chosen[down]].procs - short_of);
            if (other[down] < 0) continue;
          }
          if (!fits(other)) continue;
          const double found = evaluate(other);
          if (!(found < cost)) continue;
          cost = found;
          chosen = std::move(other);
          better = true;
        }
    }
  }

  const std::vector<Choice>& of(int place) const { return choices_[tasks_[place]]; }
  // The last choice with at most so many processors, -1 where there is none.
  int choice_within(int place, int procs) const {
    const std::vector<Choice>& own = of(place);
    return static_cast<int>(
               std::partition_point(own.begin(), own.end(),
                                    [&](const Choice& c) { return c.procs <= procs; }) -
               own.begin()) -
           1;
  }

  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<double> least_need_;  // n x resources, over the choices
  std::vector<double> least_load_;

  // lower()
  std::vector<int> lower_choice_;
  std::vector<double> lower_time_;
  // The pack at hand.
  std::vector<int> tasks_;
  std::vector<double> excess_, stall_, alone_, load_;
  // last_end()
  std::vector<int> alive_;
  std::vector<double> left_, since_, factor_, end_;
  // branch()
  std::vector<int> at_, best_, order_;
  double best_cost_ = kInfinity;
  std::int64_t nodes_ = 0, most_nodes_ = 0;
  std::int64_t evaluations_ = 0;
  bool cut_ = false;
  Poll poll_;
};

}  // namespace cosched::packs::shared
