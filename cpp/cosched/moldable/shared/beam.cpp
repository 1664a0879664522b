#include "cosched/moldable/shared/beam.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr double kNothingLeft = 1e-12;  // of a job
constexpr double kLeastPrice = 1e-6;    // of the highest

// What runs side by side, as far as worth goes.
struct Mix {
  struct Member {
    int job, procs;
    double value;  // a second, unslowed
    double pairs;  // factor of the pairs
  };
  std::vector<Member> members;
  std::vector<double> used;  // of each resource
  double load = 0, worth = 0;
  int free = 0;
  std::uint64_t key = 0;
};

struct State {
  double now = 0, value_left = 0, score = 0;
  int ended = 0, history = -1;
  std::uint64_t key = 0;  // of what waits and what runs
  std::vector<char> waits;
  struct Runner {
    int job, procs;
    double alone, left;
  };
  std::vector<Runner> running;
};

class BeamSearch {
 public:
  BeamSearch(const Instance& instance, const list::Decoder& decoder,
             const std::vector<double>& prices, const BeamOptions& options)
      : instance_(instance),
        sharing_(*instance.sharing()),
        decoder_(decoder),
        prices_(prices),
        options_(options) {
    // A job without a price has to run, too: mixes take only what is worth something.
    const double highest = *std::max_element(prices_.begin(), prices_.end());
    for (double& price : prices_) price = highest > 0 ? std::max(price, kLeastPrice * highest) : 1;
    Rng keys(1);
    for (int i = 0; i < instance.jobs(); ++i) keys_.push_back(keys.bits());
  }

  std::optional<Placement> run(std::int64_t most) {
    const int n = instance_.jobs();
    levels_.resize(n + 1);
    State first;
    first.waits.assign(n, 1);
    for (const double price : prices_) first.value_left += price;
    levels_[0].push_back(std::move(first));
    for (int level = 0; level < n; ++level) {
      const std::vector<State> kept = pruned(std::move(levels_[level]));
      for (const State& state : kept) {
        check_interrupt();
        if (operations_ > most) return std::nullopt;
        expand(state);
      }
    }
    const auto& done = levels_[n];
    return replayed(std::min_element(done.begin(), done.end(), [](const State& a, const State& b) {
                      return a.now < b.now;
                    })->history);
  }

  std::int64_t operations() const { return operations_; }

 private:
  // Jobs that started after so many had ended.
  struct Start {
    int job, procs, ended, before;
  };

  std::vector<State> pruned(std::vector<State> states) const {
    std::stable_sort(states.begin(), states.end(),
                     [](const State& a, const State& b) { return a.score < b.score; });
    std::vector<State> kept;
    for (State& state : states) {
      if (static_cast<int>(kept.size()) == options_.width) break;
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const State& other) { return other.key == state.key; }))
        kept.push_back(std::move(state));
    }
    return kept;
  }

  double combined(double factor, double excess) const {
    return with_companion(sharing_.rule(), factor, excess);
  }

  double factor(int job, double pairs, double load) const {
    return std::max(pairs, 1 + sharing_.stall(job) * std::max(0.0, load - 1));
  }

  // The worth of a mix with one more.
  double worth_with(const Mix& mix, int job, double pairs, const Choice& c) const {
    const double load = mix.load + sharing_.load(job, c.procs);
    double sum = prices_[job] / (c.time * (mix.members.empty() ? 1 : factor(job, pairs, load)));
    for (const Mix::Member& member : mix.members)
      sum += member.value /
             factor(member.job, combined(member.pairs, sharing_.excess(member.job, job)), load);
    return sum;
  }

  double pairs_beside(const Mix& mix, int job) const {
    double pairs = 1;
    for (const Mix::Member& member : mix.members)
      pairs = combined(pairs, sharing_.excess(job, member.job));
    return pairs;
  }

  void join(Mix& mix, int job, const Choice& c) const {
    const double pairs = pairs_beside(mix, job);
    mix.worth = worth_with(mix, job, pairs, c);
    for (Mix::Member& member : mix.members)
      member.pairs = combined(member.pairs, sharing_.excess(member.job, job));
    mix.members.push_back({job, c.procs, prices_[job] / c.time, pairs});
    for (int r = 0; r < sharing_.resources(); ++r) mix.used[r] += sharing_.need(r, job, c.procs);
    mix.load += sharing_.load(job, c.procs);
    mix.free -= c.procs;
    mix.key += keys_[job] * (2 * c.procs + 1);
  }

  bool fits(const Mix& mix, int job, int procs) const {
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(mix.used[r] + sharing_.need(r, job, procs), sharing_.capacity(r))) return false;
    return true;
  }

  struct Step {
    int mix, job;
    Choice choice;
    double worth, gain;  // gain: a processor
  };

  // One job more beside a mix, of more worth.
  void add_steps(const Mix& mix, int number, const std::vector<char>& waits,
                 std::vector<Step>& steps) {
    for (int job = 0; job < instance_.jobs(); ++job) {
      if (!waits[job] || std::any_of(mix.members.begin(), mix.members.end(),
                                     [&](const Mix::Member& member) { return member.job == job; }))
        continue;
      const double pairs = pairs_beside(mix, job);
      for (const Choice& c : decoder_.counts(job)) {
        if (c.procs > mix.free) break;
        if (!fits(mix, job, c.procs)) continue;
        const double worth = worth_with(mix, job, pairs, c);
        operations_ += 2 * (static_cast<std::int64_t>(mix.members.size()) + 1);
        if (worth > mix.worth || mix.members.empty())
          steps.push_back({number, job, c, worth, (worth - mix.worth) / c.procs});
      }
    }
  }

  // What the state may run next, of most worth.
  std::vector<Mix> mixes(const State& state) {
    Mix first;
    first.used.assign(sharing_.resources(), 0);
    first.free = instance_.machines();
    for (const State::Runner& runner : state.running)
      join(first, runner.job, {runner.procs, runner.alone});
    std::vector<Mix> all{first};
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = all.size();
      std::vector<Step> steps;
      for (std::size_t k = begin; k < end; ++k)
        add_steps(all[k], static_cast<int>(k), state.waits, steps);
      begin = end;
      const auto take = [&](auto better) {
        const auto most = std::min<std::size_t>(steps.size(), options_.branches);
        std::partial_sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(most),
                          steps.end(), better);
        for (std::size_t k = 0; k < most; ++k) {
          Mix with = all[steps[k].mix];
          join(with, steps[k].job, steps[k].choice);
          if (std::none_of(all.begin(), all.end(),
                           [&](const Mix& other) { return other.key == with.key; }))
            all.push_back(std::move(with));
        }
      };
      take([](const Step& a, const Step& b) { return a.worth > b.worth; });
      take([](const Step& a, const Step& b) { return a.gain > b.gain; });
    }
    if (state.running.empty()) all.erase(all.begin());
    std::stable_sort(all.begin(), all.end(),
                     [](const Mix& a, const Mix& b) { return a.worth > b.worth; });
    if (all.size() > static_cast<std::size_t>(options_.branches)) all.resize(options_.branches);
    operations_ += static_cast<std::int64_t>(all.size()) * instance_.jobs();
    return all;
  }

  void expand(const State& state) {
    for (const Mix& mix : mixes(state)) {
      State next = state;
      for (std::size_t k = state.running.size(); k < mix.members.size(); ++k) {
        const Mix::Member& member = mix.members[k];
        const double alone = instance_.given(member.job, member.procs);
        next.running.push_back({member.job, member.procs, alone, alone});
        next.waits[member.job] = 0;
        history_.push_back({member.job, member.procs, state.ended, next.history});
        next.history = static_cast<int>(history_.size()) - 1;
      }
      advance(next, mix);
      levels_[next.ended].push_back(std::move(next));
    }
  }

  // To the next end.
  void advance(State& state, const Mix& mix) const {
    double step = kInfinity;
    std::vector<double> pace(state.running.size());
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      const State::Runner& runner = state.running[k];
      pace[k] = mix.members.size() > 1 ? factor(runner.job, mix.members[k].pairs, mix.load) : 1;
      step = std::min(step, runner.left * pace[k]);
    }
    require_progress(step < kInfinity, "beam");
    state.now += step;
    state.value_left -= step * mix.worth;
    std::size_t kept = 0;
    state.key = 0;
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      State::Runner runner = state.running[k];
      runner.left -= step / pace[k];
      if (runner.left <= kNothingLeft * runner.alone) {
        ++state.ended;
        continue;
      }
      state.key += keys_[runner.job] * (2 * runner.procs + 1);
      state.running[kept++] = runner;
    }
    state.running.resize(kept);
    for (int i = 0; i < instance_.jobs(); ++i)
      if (state.waits[i]) state.key += keys_[i];
    state.score = state.now + (1 + options_.waste) * state.value_left;
  }

  Placement replayed(int last) const {
    std::vector<Start> starts;
    for (int k = last; k >= 0; k = history_[k].before) starts.push_back(history_[k]);
    std::reverse(starts.begin(), starts.end());
    list::Making making(instance_);
    int ended = 0;
    const auto until = [&](int count) {
      while (ended < count) ended += static_cast<int>(making.advance().size());
    };
    for (const Start& start : starts) {
      until(start.ended);
      making.start(making.run_of(start.job, start.procs));
    }
    until(instance_.jobs());
    return making.placement();
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const list::Decoder& decoder_;
  std::vector<double> prices_;
  const BeamOptions options_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::vector<State>> levels_;  // by jobs that have ended
  std::vector<Start> history_;
  std::int64_t operations_ = 0;
};

}  // namespace

std::optional<Placement> beam(const Instance& instance, const list::Decoder& decoder,
                              const std::vector<double>& prices, const BeamOptions& options,
                              std::int64_t& operations) {
  BeamSearch search(instance, decoder, prices, options);
  std::optional<Placement> found = search.run(operations);
  operations -= search.operations();
  return found;
}

}  // namespace cosched::moldable::shared
