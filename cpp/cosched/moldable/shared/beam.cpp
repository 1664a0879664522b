#include "cosched/moldable/shared/beam.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr double kNothingLeft = 1e-12;  // of a job
constexpr double kLeastPrice = 1e-6;    // of the highest

// What runs side by side, as far as worth goes.
struct CorunMix {
  struct Member {
    int job, procs;
    double value;  // a second, unslowed
    double pairs;  // factor of the pairs
  };
  std::vector<Member> members;
  std::vector<double> used_resources;  // of each resource
  double load = 0, worth = 0;
  int free_procs = 0;
  std::uint64_t key = 0;
};

struct BeamState {
  double now = 0, value_left = 0, score = 0;
  int ended_jobs = 0, history = -1;
  std::uint64_t key = 0;  // of what waits and what runs
  std::vector<char> is_waiting;
  struct RunningJob {
    int job, procs;
    double unslowed_time, remaining_work;
  };
  std::vector<RunningJob> running;
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
    BeamState first;
    first.is_waiting.assign(n, 1);
    for (const double price : prices_) first.value_left += price;
    levels_[0].push_back(std::move(first));
    for (int level = 0; level < n; ++level) {
      const std::vector<BeamState> kept = prune(std::move(levels_[level]));
      for (const BeamState& state : kept) {
        check_interrupt();
        if (operations_ > most) return std::nullopt;
        expand(state);
      }
    }
    const auto& done = levels_[n];
    return replay_history(
        std::min_element(done.begin(), done.end(), [](const BeamState& a, const BeamState& b) {
          return a.now < b.now;
        })->history);
  }

  std::int64_t operations() const { return operations_; }

 private:
  // Jobs that started after so many had ended.
  struct HistoryEntry {
    int job, procs, ended_jobs, previous;
  };

  std::vector<BeamState> prune(std::vector<BeamState> states) const {
    std::stable_sort(states.begin(), states.end(),
                     [](const BeamState& a, const BeamState& b) { return a.score < b.score; });
    std::vector<BeamState> kept;
    for (BeamState& state : states) {
      if (static_cast<int>(kept.size()) == options_.width) break;
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const BeamState& other) { return other.key == state.key; }))
        kept.push_back(std::move(state));
    }
    return kept;
  }

  double combine_factors(double factor, double excess) const {
    return with_companion(sharing_.rule(), factor, excess);
  }

  double slowdown_factor(int job, double pairs, double load) const {
    return std::max(pairs, 1 + sharing_.stall(job) * std::max(0.0, load - 1));
  }

  // The worth of a mix with one more.
  double worth_with(const CorunMix& mix, int job, double pairs, const Choice& c) const {
    const double load = mix.load + sharing_.load(job, c.procs);
    double sum =
        prices_[job] / (c.time * (mix.members.empty() ? 1 : slowdown_factor(job, pairs, load)));
    for (const CorunMix::Member& member : mix.members)
      sum += member.value /
             slowdown_factor(member.job,
                             combine_factors(member.pairs, sharing_.excess(member.job, job)), load);
    return sum;
  }

  double pairwise_factor(const CorunMix& mix, int job) const {
    double pairs = 1;
    for (const CorunMix::Member& member : mix.members)
      pairs = combine_factors(pairs, sharing_.excess(job, member.job));
    return pairs;
  }

  void add_to_mix(CorunMix& mix, int job, const Choice& c) const {
    const double pairs = pairwise_factor(mix, job);
    mix.worth = worth_with(mix, job, pairs, c);
    for (CorunMix::Member& member : mix.members)
      member.pairs = combine_factors(member.pairs, sharing_.excess(member.job, job));
    mix.members.push_back({job, c.procs, prices_[job] / c.time, pairs});
    for (int r = 0; r < sharing_.resources(); ++r)
      mix.used_resources[r] += sharing_.need(r, job, c.procs);
    mix.load += sharing_.load(job, c.procs);
    mix.free_procs -= c.procs;
    mix.key += keys_[job] * (2 * c.procs + 1);
  }

  bool has_room_for(const CorunMix& mix, int job, int procs) const {
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(mix.used_resources[r] + sharing_.need(r, job, procs), sharing_.capacity(r)))
        return false;
    return true;
  }

  struct MixExtension {
    int mix, job;
    Choice choice;
    double worth, gain;  // gain: a processor
  };

  // One job more beside a mix, of more worth.
  void append_extensions(const CorunMix& mix, int number, const std::vector<char>& waits,
                         std::vector<MixExtension>& steps) {
    for (int job = 0; job < instance_.jobs(); ++job) {
      if (!waits[job] ||
          std::any_of(mix.members.begin(), mix.members.end(),
                      [&](const CorunMix::Member& member) { return member.job == job; }))
        continue;
      const double pairs = pairwise_factor(mix, job);
      for (const Choice& c : decoder_.counts(job)) {
        if (c.procs > mix.free_procs) break;
        if (!has_room_for(mix, job, c.procs)) continue;
        const double worth = worth_with(mix, job, pairs, c);
        operations_ += 2 * (static_cast<std::int64_t>(mix.members.size()) + 1);
        if (worth > mix.worth || mix.members.empty())
          steps.push_back({number, job, c, worth, (worth - mix.worth) / c.procs});
      }
    }
  }

  // What the state may run next, of most worth.
  std::vector<CorunMix> best_mixes(const BeamState& state) {
    CorunMix first;
    first.used_resources.assign(sharing_.resources(), 0);
    first.free_procs = instance_.machines();
    for (const BeamState::RunningJob& runner : state.running)
      add_to_mix(first, runner.job, {runner.procs, runner.unslowed_time});
    std::vector<CorunMix> all{first};
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = all.size();
      std::vector<MixExtension> steps;
      for (std::size_t k = begin; k < end; ++k)
        append_extensions(all[k], static_cast<int>(k), state.is_waiting, steps);
      begin = end;
      const auto take = [&](auto better) {
        const auto most = std::min<std::size_t>(steps.size(), options_.branches);
        std::partial_sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(most),
                          steps.end(), better);
        for (std::size_t k = 0; k < most; ++k) {
          CorunMix with = all[steps[k].mix];
          add_to_mix(with, steps[k].job, steps[k].choice);
          if (std::none_of(all.begin(), all.end(),
                           [&](const CorunMix& other) { return other.key == with.key; }))
            all.push_back(std::move(with));
        }
      };
      take([](const MixExtension& a, const MixExtension& b) { return a.worth > b.worth; });
      take([](const MixExtension& a, const MixExtension& b) { return a.gain > b.gain; });
    }
    if (state.running.empty()) all.erase(all.begin());
    std::stable_sort(all.begin(), all.end(),
                     [](const CorunMix& a, const CorunMix& b) { return a.worth > b.worth; });
    if (all.size() > static_cast<std::size_t>(options_.branches)) all.resize(options_.branches);
    operations_ += static_cast<std::int64_t>(all.size()) * instance_.jobs();
    return all;
  }

  void expand(const BeamState& state) {
    for (const CorunMix& mix : best_mixes(state)) {
      BeamState next = state;
      for (std::size_t k = state.running.size(); k < mix.members.size(); ++k) {
        const CorunMix::Member& member = mix.members[k];
        const double alone = instance_.exact_time(member.job, member.procs);
        next.running.push_back({member.job, member.procs, alone, alone});
        next.is_waiting[member.job] = 0;
        history_.push_back({member.job, member.procs, state.ended_jobs, next.history});
        next.history = static_cast<int>(history_.size()) - 1;
      }
      advance_to_next_end(next, mix);
      levels_[next.ended_jobs].push_back(std::move(next));
    }
  }

  // To the next end.
  void advance_to_next_end(BeamState& state, const CorunMix& mix) const {
    double step = kInfinity;
    std::vector<double> pace(state.running.size());
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      const BeamState::RunningJob& runner = state.running[k];
      pace[k] =
          mix.members.size() > 1 ? slowdown_factor(runner.job, mix.members[k].pairs, mix.load) : 1;
      step = std::min(step, runner.remaining_work * pace[k]);
    }
    require_progress(step < kInfinity, "beam");
    state.now += step;
    state.value_left -= step * mix.worth;
    std::size_t kept = 0;
    state.key = 0;
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      BeamState::RunningJob runner = state.running[k];
      runner.remaining_work -= step / pace[k];
      if (runner.remaining_work <= kNothingLeft * runner.unslowed_time) {
        ++state.ended_jobs;
        continue;
      }
      state.key += keys_[runner.job] * (2 * runner.procs + 1);
      state.running[kept++] = runner;
    }
    state.running.resize(kept);
    for (int i = 0; i < instance_.jobs(); ++i)
      if (state.is_waiting[i]) state.key += keys_[i];
    state.score = state.now + (1 + options_.waste) * state.value_left;
  }

  Placement replay_history(int last) const {
    std::vector<HistoryEntry> starts;
    for (int k = last; k >= 0; k = history_[k].previous) starts.push_back(history_[k]);
    std::reverse(starts.begin(), starts.end());
    list::ScheduleBuilder making(instance_);
    int ended = 0;
    const auto until = [&](int count) {
      while (ended < count) ended += static_cast<int>(making.advance().size());
    };
    for (const HistoryEntry& start : starts) {
      until(start.ended_jobs);
      making.start(making.make_run(start.job, start.procs));
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
  std::vector<std::vector<BeamState>> levels_;  // by jobs that have ended
  std::vector<HistoryEntry> history_;
  std::int64_t operations_ = 0;
};

}  // namespace

std::optional<Placement> beam_search(const Instance& instance, const list::Decoder& decoder,
                                     const std::vector<double>& prices, const BeamOptions& options,
                                     std::int64_t& operations) {
  BeamSearch search(instance, decoder, prices, options);
  std::optional<Placement> found = search.run(operations);
  operations -= search.operations();
  return found;
}

}  // namespace cosched::moldable::shared
