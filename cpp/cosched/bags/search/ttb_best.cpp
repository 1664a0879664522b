#include "cosched/bags/search/ttb_best.hpp"

#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/annealing.hpp"
#include "cosched/bags/search/dive.hpp"
#include "cosched/bags/search/rate_bound.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kProbes = 24;         // makespans of the first round
constexpr int kRefinements = 3;     // further rounds, each half as wide
constexpr int kProbesPerRound = 4;  // of a refinement
constexpr int kPatternRounds = 60;  // of column generation
constexpr int kMostPatternTypes = 400;
constexpr int kMostMachines = 1'000'000;  // that the exchanges keep books of
constexpr double kStartSeconds = 0.5;
constexpr int kLimits = 8;                  // limits that one polishing tries
constexpr std::int64_t kWork = 20'000'000;  // exchanges that one polishing looks at
constexpr int kAnnealings = 6;              // of one length; the next six are twice as long
constexpr int kMostDoublings = 30;
constexpr int kMostProbes = 1 << 20;
constexpr std::int64_t kMoves = 60'000;       // of one annealing
constexpr std::int64_t kMostAnnealed = 1000;  // tasks, and machines, up to which there are any
// What a step costs, in moves of the annealing that take as long.
constexpr std::int64_t kDiveWork = 300'000, kRecreationWork = 30'000, kBoundWork = 30'000;
constexpr std::int64_t kTurn = 300'000;       // each kind of step, in the first turn
constexpr int kMostRecreated = 40;            // machines that are filled anew at once
constexpr std::int64_t kMostBooked = 20'000;  // machines, for recreation
constexpr double kNear = 0.01;                // how far from the best makespan a dive begins

class Search {
 public:
  explicit Search(const Instance& instance)
      : instance_(instance), best_(rounding::min_energy(instance)) {}

  // What the others start from; ties: the first of them, min_energy last.
  void start() {
    bool first = true;
    const auto offer = [&](Plan plan) {
      const bool tie = first && plan.profit_rate == best_.profit_rate;
      if (!tie && plan.profit_rate <= best_.profit_rate) return;
      best_ = std::move(plan);
      first = false;
    };
    offer(rounding::ttb(instance_, rounding::kDefaultEps));
    offer(rounding::ttb_exact(instance_));
    offer(rounding::tms(instance_));
    offer(rounding::min_makespan(instance_));
  }

  void improve() {
    front_ = energy::energy_front(instance_, energy::Cut::long_tasks);
    const energy::BestRate top = energy::best_rate(instance_, energy::Cut::long_tasks);
    enough_ = top.rate;
    if (top.makespan < kInfinity && !leq(top.rate, best_.profit_rate) &&
        machines() <= kMostMachines) {
      polish_start(top.makespan);
      std::vector<double> makespans = promising(kProbes);
      makespans.push_back(top.makespan);
      double width = spacing(makespans);
      try_all(makespans);
      for (int round = 0; round < kRefinements; ++round) {
        width /= 2;
        makespans.clear();
        for (int k = -kProbesPerRound / 2; k <= kProbesPerRound / 2; ++k)
          if (k != 0) makespans.push_back(best_limit_ * std::exp(k * width));
        try_all(makespans);
      }
    }
  }

  // Until `work` is done or the best plan is known to be; improve() comes before.
  void spend(std::int64_t work) {
    if (annealable()) anneal(std::min(work, kBestWork));
    go_on(work - kBestWork);
  }
  double rate_bound() const { return bound_ ? enough_ : kInfinity; }
  bool proved() const { return leq(enough_, best_.profit_rate); }

  Plan best() { return std::move(best_); }

 private:
  bool annealable() const {
    const auto& counts = instance_.counts();
    const std::int64_t tasks = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return std::max(tasks, machines()) <= kMostAnnealed;
  }
  bool has_patterns() const {
    return instance_.types() + instance_.machine_types() <= kMostPatternTypes &&
           machines() <= kMostMachines;
  }

  // From the best plan by turns with what the other steps found.
  void anneal(std::int64_t work) {
    if (!annealed_from_) annealed_from_ = best_;
    for (; work > 0 && !proved(); ++annealings_) {
      const std::int64_t moves =
          std::min(work, kMoves << std::min(annealings_ / kAnnealings, kMostDoublings));
      Annealed found =
          annealed(instance_, annealings_ % 2 == 0 ? best_ : *annealed_from_, moves, annealings_);
      if (found.plan.profit_rate > best_.profit_rate) best_ = std::move(found.plan);
      if (!found.complete) check_interrupt();
      work -= moves;
    }
  }

  // Turn by turn, each twice as long: a better bound, dives, parts of the best plan anew, and
  // annealing.
  void go_on(std::int64_t work) {
    const bool pays = instance_.price() > instance_.energy_cost() * instance_.least_joules();
    if (work > 0 && pays && has_patterns()) bound_.emplace(instance_, front_);
    for (std::int64_t turn = kTurn; work > 0 && !proved(); turn = std::min(2 * turn, kTurn << 20)) {
      check_interrupt();
      const std::int64_t part = std::min(work, turn);
      if (bound_) {
        for (std::int64_t left = part; left > 0 && tighten(); left -= kBoundWork) check_interrupt();
        for (std::int64_t left = part; left > 0 && !proved(); left -= kDiveWork) {
          try_dive();
          check_interrupt();
        }
        for (std::int64_t left = part; left > 0 && !proved();) left -= recreate();
      }
      if (annealable()) {
        anneal(part);
      } else if (!bound_) {
        return look_closer(work);
      }
      work -= 4 * part;
    }
  }

  bool tighten() {
    const bool more = bound_->tighten(best_.profit_rate);
    enough_ = std::min(enough_, bound_->top());
    return more && !proved();
  }

  // At a makespan at which a plan may earn more, or near the best one's.
  void try_dive() {
    std::optional<double> makespan = bound_->open_makespan(best_.profit_rate, rng_);
    if (!makespan) return;
    if (rng_.uniform() < 0.5) makespan = best_.makespan * std::exp(kNear * (rng_.uniform() - 0.75));
    for (const Probe& at : probe(instance_, {*makespan})) {
      PatternPool pool(instance_, at.makespan, task_values(instance_, at));
      const PatternUse use = pool.solve(kPatternRounds, kSurelyMissing);
      if (!use.complete || instance_.profit_rate(use.joules, at.makespan) <= best_.profit_rate)
        continue;
      const Stock all{instance_.counts(), instance_.all_machines()};
      polish(Shop(instance_, pattern_runs(instance_, pool, use)), at);  // a dive may take long
      if (const auto runs = dive(instance_, pool, use, all, rng_))
        polish(Shop(instance_, *runs), at);
    }
  }

  // Parts of the best plan anew until one is better; the work that took.
  std::int64_t recreate() {
    if (machines() > kMostBooked) return kTurn;
    const std::vector<Probe> found = probe(instance_, {best_.makespan});
    if (found.empty()) return kTurn;
    const Recreation recreation(instance_, best_, task_values(instance_, found[0]));
    std::int64_t done = 0;
    while (done < kTurn) {
      done += kRecreationWork;
      check_interrupt();
      const double shorter = rng_.uniform();
      const double limit = best_.makespan * (1 - (shorter < 0.5 ? 0 : kNear * (shorter - 0.5)));
      const auto runs = recreation.attempt(limit, kMostRecreated, rng_);
      if (!runs) continue;
      const double before = best_.profit_rate;
      offer(Shop(instance_, *runs), limit);
      if (best_.profit_rate > before) break;
    }
    return done;
  }

  // More and more makespans, each as dear as an annealing.
  void look_closer(std::int64_t work) {
    for (int count = 2 * kProbes; work > 0 && !proved() && machines() <= kMostMachines;
         count = std::min(2 * count, kMostProbes)) {
      const std::vector<double> makespans = promising(count);
      if (makespans.empty()) return;
      try_all(makespans);
      work -= kMoves * static_cast<std::int64_t>(makespans.size());
      check_interrupt();
    }
  }

  std::int64_t machines() const {
    const auto& all = instance_.all_machines();
    return std::accumulate(all.begin(), all.end(), std::int64_t{0});
  }

  double relaxed_rate(double makespan) const {
    return instance_.profit_rate(energy::joules_at(front_, makespan), makespan);
  }

  // `count` makespans spread evenly (in logarithms) over where the relaxation beats the best plan.
  std::vector<double> promising(int count) const {
    constexpr int kFine = 1000;
    const double least = front_.front().makespan;
    const double most = std::max(front_.back().makespan, best_.makespan);
    std::vector<double> fine, chosen;
    for (int k = 0; k <= kFine; ++k) {
      const double makespan = least * std::pow(most / least, static_cast<double>(k) / kFine);
      if (relaxed_rate(makespan) > best_.profit_rate) fine.push_back(makespan);
    }
    if (fine.empty()) return {};
    const double low = fine.front() * std::pow(most / least, -1.0 / kFine);
    const double high = fine.back() * std::pow(most / least, 1.0 / kFine);
    for (int k = 0; k < count; ++k) {
      const double makespan = low * std::pow(high / low, (k + 0.5) / count);
      if (relaxed_rate(makespan) > best_.profit_rate) chosen.push_back(makespan);
    }
    return chosen;
  }

  // Mean distance of neighbours, in logarithms.
  static double spacing(std::vector<double> makespans) {
    if (makespans.size() < 2) return 1e-3;
    const auto [low, high] = std::minmax_element(makespans.begin(), makespans.end());
    return std::log(*high / *low) / static_cast<double>(makespans.size() - 1);
  }

  // Joules that a second of makespan is worth, all machines together: more than any exchange
  // should pay for a second on one machine.
  double penalty(const Probe& at) const {
    double sum = 0;
    for (int j = 0; j < instance_.machine_types(); ++j) sum += at.price[j] * instance_.machines(j);
    return std::max(sum, best_.joules / best_.makespan);
  }

  void offer(const Shop& shop, double limit) {
    const double makespan = std::max(shop.makespan(), instance_.least_period(shop.joules()));
    if (instance_.profit_rate(shop.joules(), makespan) <= best_.profit_rate) return;
    best_ = plan_of_runs(instance_, shop.runs());
    best_limit_ = limit;
  }

  // Squeezes towards `goal`: at once, else halving the distance to what is known to work.
  void polish(Shop shop, const Probe& at) {
    double low = at.makespan, high = shop.makespan(), limit = low;
    std::int64_t work = kWork;
    offer(shop, at.makespan);
    for (int k = 0; k < kLimits && limit < high; ++k) {
      Shop trial = shop;
      const bool done = trial.squeeze(limit, at.price, penalty(at), work);
      offer(trial, at.makespan);
      if (done) {
        shop = std::move(trial);
        high = limit;
      } else {
        low = limit;
      }
      limit = low + (high - low) / 2;
    }
  }

  void polish_start(double makespan) {
    best_limit_ = makespan;
    for (const Probe& at : probe(instance_, {makespan})) polish(Shop(instance_, best_.runs), at);
  }

  void try_patterns(const Probe& at) {
    PatternPool pool(instance_, at.makespan, task_values(instance_, at));
    const PatternUse use = pool.solve(kPatternRounds);
    if (!use.complete || instance_.profit_rate(use.joules, at.makespan) <= best_.profit_rate)
      return;
    polish(Shop(instance_, pattern_runs(instance_, pool, use)), at);
  }

  void try_all(std::vector<double> makespans) {
    if (instance_.types() + instance_.machine_types() > kMostPatternTypes) return;
    std::sort(makespans.rbegin(), makespans.rend());
    for (const Probe& at : probe(instance_, makespans))
      if (relaxed_rate(at.makespan) > best_.profit_rate) try_patterns(at);
  }

  const Instance& instance_;
  std::vector<energy::FrontPoint> front_;
  Plan best_;
  std::optional<Plan> annealed_from_;
  int annealings_ = 0;
  std::optional<RateBound> bound_;
  Rng rng_{0};
  double enough_ = kInfinity;  // what no plan earns more than
  double best_limit_ = 0;      // the makespan that the best plan was made for
};

}  // namespace

BestPlan ttb_best(const Instance& instance, std::int64_t work, std::optional<double> time_limit) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const ScopedTimeLimit limit(time_limit);
  Search search = without_deadline([&] { return Search(instance); });
  BestPlan result;
  {
    const ScopedDeadlineExtension grace(kStartSeconds);
    result.complete = finishes_within(std::nullopt, [&] { search.start(); });
  }
  if (result.complete)
    result.complete = finishes_within(std::nullopt, [&] {
      search.improve();
      search.spend(work);
    });
  result.proved = search.proved();
  result.rate_bound = search.rate_bound();
  result.plan = search.best();
  return result;
}

}  // namespace cosched::bags::search
