#include "cosched/moldable/shared/beam.hpp"

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::moldable::shared {
namespace {

// A job with less than this share of its work left has ended.
constexpr double kFinishedShare = kSumTolerance;
// Of the highest price: each job has some price, so that none is left to the end for nothing.
constexpr double kLeastPrice = 1e-6;

// Jobs that run side by side, with the terms of their worth.
struct CorunMix {
  struct MixMember {
    int job, procs;
    double value_rate;       // price per second alone
    double pairwise_factor;  // slow-down by the others, without the bandwidth
  };
  std::vector<MixMember> members;
  std::vector<double> used_resources;
  double load = 0, worth = 0;
  int free_procs = 0;
  std::uint64_t key = 0;
};

struct BeamState {
  double now = 0;
  double remaining_value = 0;  // at the prices, of the work that is not done
  double score = 0;
  int ended_jobs = 0;
  int last_start = -1;    // index in the history
  std::uint64_t key = 0;  // hash of the waiting and the running jobs
  std::vector<char> is_waiting;
  struct BeamJob {
    int job, procs;
    double unslowed_time, remaining_work;
  };
  std::vector<BeamJob> running;
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
    // A job without a price has to run, too, but mixes take only jobs of some worth.
    const double highest = *std::max_element(prices_.begin(), prices_.end());
    for (double& price : prices_) price = highest > 0 ? std::max(price, kLeastPrice * highest) : 1;
    Rng keys(1);
    for (int i = 0; i < instance.jobs(); ++i) keys_.push_back(keys.bits());
  }

  std::optional<Placement> run(std::int64_t operation_limit) {
    const int n = instance_.jobs();
    levels_.resize(n + 1);
    BeamState first_state;
    first_state.is_waiting.assign(n, 1);
    for (const double price : prices_) first_state.remaining_value += price;
    levels_[0].push_back(std::move(first_state));
    for (int level = 0; level < n; ++level) {
      const std::vector<BeamState> survivors = prune(std::move(levels_[level]));
      for (const BeamState& state : survivors) {
        check_interrupt();
        if (operations_ > operation_limit) return std::nullopt;
        expand(state);
      }
    }
    const auto& complete_states = levels_[n];
    return replay_history(
        std::min_element(complete_states.begin(), complete_states.end(),
                         [](const BeamState& a, const BeamState& b) { return a.now < b.now; })
            ->last_start);
  }

  std::int64_t operations() const { return operations_; }

 private:
  // The start of a job after so many jobs had ended; with those before it a chain.
  struct HistoryEntry {
    int job, procs, ended_jobs, previous;
  };

  std::vector<BeamState> prune(std::vector<BeamState> states) const {
    std::stable_sort(states.begin(), states.end(),
                     [](const BeamState& a, const BeamState& b) { return a.score < b.score; });
    std::vector<BeamState> survivors;
    for (BeamState& state : states) {
      if (static_cast<int>(survivors.size()) == options_.width) break;
      if (std::none_of(survivors.begin(), survivors.end(),
                       [&](const BeamState& other) { return other.key == state.key; }))
        survivors.push_back(std::move(state));
    }
    return survivors;
  }

  double combine_factors(double factor, double excess) const {
    return with_companion(sharing_.rule(), factor, excess);
  }

  double slowdown_factor(int job, double pairwise_factor, double load) const {
    return std::max(pairwise_factor, 1 + sharing_.stall(job) * std::max(0.0, load - 1));
  }

  // The worth of the mix with one job more.
  double worth_with(const CorunMix& mix, int job, double factor, const Choice& c) const {
    const double load = mix.load + sharing_.load(job, c.procs);
    double sum =
        prices_[job] / (c.time * (mix.members.empty() ? 1 : slowdown_factor(job, factor, load)));
    for (const CorunMix::MixMember& member : mix.members)
      sum += member.value_rate /
             slowdown_factor(
                 member.job,
                 combine_factors(member.pairwise_factor, sharing_.excess(member.job, job)), load);
    return sum;
  }

  double pairwise_factor(const CorunMix& mix, int job) const {
    double factor = 1;
    for (const CorunMix::MixMember& member : mix.members)
      factor = combine_factors(factor, sharing_.excess(job, member.job));
    return factor;
  }

  void add_to_mix(CorunMix& mix, int job, const Choice& c) const {
    const double factor = pairwise_factor(mix, job);
    mix.worth = worth_with(mix, job, factor, c);
    for (CorunMix::MixMember& member : mix.members)
      member.pairwise_factor =
          combine_factors(member.pairwise_factor, sharing_.excess(member.job, job));
    mix.members.push_back({job, c.procs, prices_[job] / c.time, factor});
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

  // One job more in a mix.
  struct MixExtension {
    int mix, job;
    Choice choice;
    double worth;  // of the extended mix
    double gain;   // in worth, per processor
  };

  // Appends the extensions that raise the worth of a mix.
  void append_extensions(const CorunMix& mix, int mix_index, const std::vector<char>& is_waiting,
                         std::vector<MixExtension>& extensions) {
    for (int job = 0; job < instance_.jobs(); ++job) {
      if (!is_waiting[job] ||
          std::any_of(mix.members.begin(), mix.members.end(),
                      [&](const CorunMix::MixMember& member) { return member.job == job; }))
        continue;
      const double factor = pairwise_factor(mix, job);
      for (const Choice& c : decoder_.counts(job)) {
        if (c.procs > mix.free_procs) break;
        if (!has_room_for(mix, job, c.procs)) continue;
        const double worth = worth_with(mix, job, factor, c);
        operations_ += 2 * (static_cast<std::int64_t>(mix.members.size()) + 1);
        if (worth > mix.worth || mix.members.empty())
          extensions.push_back({mix_index, job, c, worth, (worth - mix.worth) / c.procs});
      }
    }
  }

  // The mixes of most worth that contain the running jobs of a state.
  std::vector<CorunMix> best_mixes(const BeamState& state) {
    CorunMix running_mix;
    running_mix.used_resources.assign(sharing_.resources(), 0);
    running_mix.free_procs = instance_.machines();
    for (const BeamState::BeamJob& runner : state.running)
      add_to_mix(running_mix, runner.job, {runner.procs, runner.unslowed_time});
    std::vector<CorunMix> mixes{running_mix};
    for (std::size_t begin = 0; begin < mixes.size();) {
      const std::size_t end = mixes.size();
      std::vector<MixExtension> extensions;
      for (std::size_t k = begin; k < end; ++k)
        append_extensions(mixes[k], static_cast<int>(k), state.is_waiting, extensions);
      begin = end;
      const auto add_best = [&](auto is_better) {
        const auto count = std::min<std::size_t>(extensions.size(), options_.branches);
        std::partial_sort(extensions.begin(),
                          extensions.begin() + static_cast<std::ptrdiff_t>(count), extensions.end(),
                          is_better);
        for (std::size_t k = 0; k < count; ++k) {
          CorunMix extended_mix = mixes[extensions[k].mix];
          add_to_mix(extended_mix, extensions[k].job, extensions[k].choice);
          if (std::none_of(mixes.begin(), mixes.end(),
                           [&](const CorunMix& other) { return other.key == extended_mix.key; }))
            mixes.push_back(std::move(extended_mix));
        }
      };
      add_best([](const MixExtension& a, const MixExtension& b) { return a.worth > b.worth; });
      add_best([](const MixExtension& a, const MixExtension& b) { return a.gain > b.gain; });
    }
    if (state.running.empty()) mixes.erase(mixes.begin());
    std::stable_sort(mixes.begin(), mixes.end(),
                     [](const CorunMix& a, const CorunMix& b) { return a.worth > b.worth; });
    if (mixes.size() > static_cast<std::size_t>(options_.branches)) mixes.resize(options_.branches);
    operations_ += static_cast<std::int64_t>(mixes.size()) * instance_.jobs();
    return mixes;
  }

  void expand(const BeamState& state) {
    for (const CorunMix& mix : best_mixes(state)) {
      BeamState next = state;
      for (std::size_t k = state.running.size(); k < mix.members.size(); ++k) {
        const CorunMix::MixMember& member = mix.members[k];
        const double unslowed_time = instance_.exact_time(member.job, member.procs);
        next.running.push_back({member.job, member.procs, unslowed_time, unslowed_time});
        next.is_waiting[member.job] = 0;
        history_.push_back({member.job, member.procs, state.ended_jobs, next.last_start});
        next.last_start = static_cast<int>(history_.size()) - 1;
      }
      advance_to_next_end(next, mix);
      levels_[next.ended_jobs].push_back(std::move(next));
    }
  }

  // Goes to the next end of a job.
  void advance_to_next_end(BeamState& state, const CorunMix& mix) const {
    double step = kInfinity;
    std::vector<double> pace(state.running.size());
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      const BeamState::BeamJob& runner = state.running[k];
      pace[k] = mix.members.size() > 1
                    ? slowdown_factor(runner.job, mix.members[k].pairwise_factor, mix.load)
                    : 1;
      step = std::min(step, runner.remaining_work * pace[k]);
    }
    require_progress(step < kInfinity, "beam");
    state.now += step;
    state.remaining_value -= step * mix.worth;
    std::size_t still_running = 0;
    state.key = 0;
    for (std::size_t k = 0; k < state.running.size(); ++k) {
      BeamState::BeamJob runner = state.running[k];
      runner.remaining_work -= step / pace[k];
      if (runner.remaining_work <= kFinishedShare * runner.unslowed_time) {
        ++state.ended_jobs;
        continue;
      }
      state.key += keys_[runner.job] * (2 * runner.procs + 1);
      state.running[still_running] = runner;
      ++still_running;
    }
    state.running.resize(still_running);
    for (int i = 0; i < instance_.jobs(); ++i)
      if (state.is_waiting[i]) state.key += keys_[i];
    state.score = state.now + (1 + options_.waste) * state.remaining_value;
  }

  Placement replay_history(int last_start) const {
    std::vector<HistoryEntry> starts;
    for (int k = last_start; k >= 0; k = history_[k].previous) starts.push_back(history_[k]);
    std::reverse(starts.begin(), starts.end());
    list::ScheduleBuilder builder(instance_);
    int ended_jobs = 0;
    const auto advance_until_ended = [&](int count) {
      while (ended_jobs < count) ended_jobs += static_cast<int>(builder.advance().size());
    };
    for (const HistoryEntry& start : starts) {
      advance_until_ended(start.ended_jobs);
      builder.start(builder.make_run(start.job, start.procs));
    }
    advance_until_ended(instance_.jobs());
    return builder.placement();
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
  COSCHED_ASSERT(!instance.has_releases());
  BeamSearch search(instance, decoder, prices, options);
  std::optional<Placement> placement = search.run(operations);
  operations -= search.operations();
  return placement;
}

}  // namespace cosched::moldable::shared
