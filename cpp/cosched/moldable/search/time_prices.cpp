#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::search {

TimePrices::TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                       double horizon, int cells, JobCosts costs, const TimePriceParams& params)
    : instance_(instance),
      choices_(choices),
      params_(params),
      has_deadline_(costs == JobCosts::deadline) {
  for (const std::vector<Choice>& choices_of_job : choices_)
    choice_count_ += static_cast<std::int64_t>(choices_of_job.size());
  constexpr double kLeastCell = 1e-280;  // so that there are numbers within a cell
  horizon_ = std::max(horizon, cells * kLeastCell);
  set_prices(std::vector<double>(cells, 0.0));
}

void TimePrices::set_prices(std::vector<double> prices) {
  prices_ = std::move(prices);
  cell_count_ = static_cast<int>(prices_.size());
  cell_length_ = horizon_ / cell_count_;
  update_price_sums();
}

double TimePrices::evaluate() {
  cell_use_.assign(cell_count_, 0);
  double sum = 0;
  for (int job = 0; job < instance_.jobs(); ++job) {
    poll_.count(4 * static_cast<std::int64_t>(choices_[job].size()) * cell_count_);
    const CheapestStart cheapest = find_cheapest_start(job);
    if (cheapest.cost == kInfinity) return kInfinity;
    sum += cheapest.cost;
    add_cell_use(cheapest);
  }
  work_ += work_per_round();
  return round_down(sum, instance_.machines() * price_from_cell_[0]);
}

void TimePrices::subgradient_ascent(double known_cost, std::int64_t work, int doublings) {
  for (int doubling = 0;; ++doubling) {
    ascend_on_cells(known_cost, work / (doublings + 1));
    if (doubling == doublings || 2 * cell_count_ * choice_count_ > params_.max_table_entries)
      return;
    std::vector<double> halved_cells;  // two cells of each, at its price
    for (const double price : prices_) halved_cells.insert(halved_cells.end(), 2, price);
    set_prices(std::move(halved_cells));
  }
}

void TimePrices::ascend_on_cells(double known_cost, std::int64_t work) {
  std::vector<double> direction(cell_count_, 0), best_prices = prices_;
  double step = params_.first_step;
  int rounds_without_gain = 0;
  for (std::int64_t work_done = 0; work_done <= work && step > params_.last_step;
       work_done += work_per_round()) {
    check_interrupt();
    const double value = evaluate();
    constexpr double kLeastGain = 1e-5;  // of the gap: less is no gain, and the steps get shorter
    const bool has_gained = value > bound_ + kLeastGain * (known_cost - bound_);
    rounds_without_gain = has_gained ? 0 : rounds_without_gain + 1;
    if (value > bound_) {
      bound_ = value;
      best_prices = prices_;
    }
    if (rounds_without_gain > params_.patience) {
      rounds_without_gain = 0;
      step /= 2;
      prices_ = best_prices;
      std::fill(direction.begin(), direction.end(), 0.0);
    } else {
      if (!(known_cost > value)) break;
      const double pace = step * (params_.target_factor * known_cost - value);
      if (!step_along(pace, direction)) break;
    }
    update_price_sums();
  }
  set_prices(std::move(best_prices));
}

// Returns false at an optimum, where no cell asks for another price.
bool TimePrices::step_along(double pace, std::vector<double>& direction) {
  const double cell_capacity = instance_.machines() * cell_length_;
  double norm = 0;
  for (int k = 0; k < cell_count_; ++k) {
    double slope = cell_use_[k] - cell_capacity;
    if (prices_[k] <= 0 && slope < 0) slope = 0;
    direction[k] = slope + params_.momentum * direction[k];
    if (prices_[k] <= 0 && direction[k] < 0) direction[k] = 0;
    norm += direction[k] * direction[k];
  }
  if (!(norm > 0)) return false;
  for (int k = 0; k < cell_count_; ++k)
    prices_[k] = std::max(0.0, prices_[k] + pace / norm * direction[k]);
  return true;
}

bool TimePrices::prove_deadline_infeasible(int rounds) {
  const double cell_capacity = instance_.machines() * cell_length_;
  std::vector<double> load(cell_count_, 0), prices(cell_count_);
  for (int round = 1; round <= rounds; ++round) {
    const double rate =
        params_.weight_rate * std::sqrt(std::log(static_cast<double>(2 * cell_count_)) / round);
    const double max_load = *std::max_element(load.begin(), load.end());
    for (int k = 0; k < cell_count_; ++k) prices[k] = std::exp(rate * (load[k] - max_load));
    const double sum = cell_capacity * std::accumulate(prices.begin(), prices.end(), 0.0);
    for (double& price : prices) price /= sum;
    set_prices(prices);
    if (evaluate() > 0) return true;
    for (int k = 0; k < cell_count_; ++k) load[k] += cell_use_[k] / cell_capacity;
  }
  return false;
}

double TimePrices::lower_bound(JobSet jobs, std::span<const FreeStep> free_steps, double cutoff) {
  if (least_cost_.empty()) tabulate_costs();
  double price_of_free_time = 0, low = 0, high = 0;
  for (const FreeStep& step : free_steps) price_of_free_time += step.procs * price_from(step.time);
  for (int job = 0; job < instance_.jobs(); ++job) {
    if (!contains(jobs, job)) continue;
    const CostInterval interval = cost_interval(job, free_steps);
    low += interval.low;
    high += interval.high;
  }
  work_ += static_cast<std::int64_t>(free_steps.size()) * set_size(jobs);
  low = round_down(low, price_of_free_time);
  if (low >= cutoff || round_down(high, price_of_free_time) < cutoff) return low;
  double exact = 0;
  for (int job = 0; job < instance_.jobs(); ++job)
    if (contains(jobs, job)) exact += exact_job_cost(job, free_steps.data());
  return round_down(exact, price_of_free_time);
}

std::int64_t TimePrices::take_work() { return std::exchange(work_, 0); }

double TimePrices::price_from(double time) const {
  const double cells = time / cell_length_;
  if (!(cells < cell_count_)) return 0;
  const int k = static_cast<int>(cells);
  return price_from_cell_[k] - prices_[k] * (time - k * cell_length_);
}

double TimePrices::cost_of_start(double weight, const Choice& choice, double start) const {
  const double end = start + choice.time;
  return weight * end + choice.procs * (price_from(start) - price_from(end));
}

// The start, at `start` or later, at which the end enters another cell: there the cost, which is
// linear in the start within cells of start and end, bends.
double TimePrices::next_bend(const Choice& choice, double start) const {
  return (std::floor((start + choice.time) / cell_length_) + 1) * cell_length_ - choice.time;
}

// The sums of the jobs are differences of at most the price of the free time, a sum over cells.
double TimePrices::round_down(double sum, double price_of_free_time) const {
  const double errors = 2 * (instance_.jobs() + 1.0) * (cell_count_ + 16.0);
  return sum < kInfinity
             ? sum - price_of_free_time -
                   errors * std::numeric_limits<double>::epsilon() * (sum + price_of_free_time)
             : sum;
}

// The cost bends where the start or the end enters another cell, so one of these starts is a
// cheapest one.
TimePrices::CheapestStart TimePrices::find_cheapest_start(int job) const {
  const double weight = has_deadline_ ? 0 : instance_.weight(job);
  const double first = instance_.release(job);
  CheapestStart cheapest{kInfinity, first, nullptr};
  for (const Choice& choice : choices_[job]) {
    const double t = choice.time;
    const double latest = has_deadline_ ? std::max(first, horizon_ - t) : kInfinity;
    if (has_deadline_ && first + t > horizon_ * (1 + kExactTolerance)) continue;
    const auto offer = [&](double cost, double start) {
      if (cost < cheapest.cost && start >= first && start <= latest)
        cheapest = {cost, start, &choice};
    };
    offer(cost_of_start(weight, choice, first), first);
    if (has_deadline_) offer(cost_of_start(weight, choice, latest), latest);
    // A job that starts with cell k ends `seconds_in_last` after the start of cell k + `lag`.  An
    // end after the horizon costs what one at the horizon does.
    const int lag = t < horizon_ ? static_cast<int>(t / cell_length_) : cell_count_;
    const double seconds_in_last = t < horizon_ ? t - lag * cell_length_ : 0;
    const int first_cell = static_cast<int>(std::min<double>(first / cell_length_, cell_count_));
    const double last_cell = std::min<double>(cell_count_, latest / cell_length_);
    for (int k = first_cell; k <= last_cell; ++k) {
      const double start = k * cell_length_, weighted_end = weight * (start + t);
      if (!has_deadline_ && weighted_end >= cheapest.cost) break;
      offer(weighted_end + choice.procs * (price_from_cell_[k] - price_from_cell_[k + lag] +
                                           price_of_cell(k + lag) * seconds_in_last),
            start);
      const double start_at_bend = start + cell_length_ - seconds_in_last;
      offer(weight * (start_at_bend + t) +
                choice.procs * (price_from_cell_[k + 1] + price_of_cell(k) * seconds_in_last -
                                price_from_cell_[k + lag + 1]),
            start_at_bend);
    }
  }
  return cheapest;
}

void TimePrices::add_cell_use(const CheapestStart& cheapest) {
  const double start = cheapest.start, end = start + cheapest.choice->time;
  const int first_cell = static_cast<int>(std::min<double>(start / cell_length_, cell_count_));
  for (int k = first_cell; k < cell_count_ && k * cell_length_ < end; ++k)
    cell_use_[k] += cheapest.choice->procs *
                    (std::min(end, (k + 1) * cell_length_) - std::max(start, k * cell_length_));
}

void TimePrices::update_price_sums() {
  price_from_cell_.assign(2 * cell_count_ + 2, 0);
  for (int k = cell_count_ - 1; k >= 0; --k)
    price_from_cell_[k] = price_from_cell_[k + 1] + prices_[k] * cell_length_;
}

// Within a cell of starts the cost of a choice bends once at most.  Row c of a job's table is the
// least over its first c + 1 choices.
void TimePrices::tabulate_costs() {
  const int row_size = cell_count_ + 1;
  for (int job = 0; job < instance_.jobs(); ++job) {
    const double weight = instance_.weight(job);
    std::vector<double> table(choices_[job].size() * static_cast<std::size_t>(row_size));
    std::vector<int>& within = choices_within_.emplace_back(instance_.machines() + 1, 0);
    double* row = table.data();
    for (const Choice& choice : choices_[job]) {
      ++within[choice.procs];
      const double bend = next_bend(choice, 0);
      row[cell_count_] = weight * (horizon_ + choice.time);
      for (int k = cell_count_ - 1; k >= 0; --k) {
        const double start = k * cell_length_;
        row[k] = std::min(row[k + 1], cost_of_start(weight, choice, start));
        if (bend < cell_length_)
          row[k] = std::min(row[k], cost_of_start(weight, choice, start + bend));
      }
      if (row != table.data())
        for (int k = 0; k < row_size; ++k) row[k] = std::min(row[k], row[k - row_size]);
      row += row_size;
    }
    std::partial_sum(within.begin(), within.end(), within.begin());
    work_ += static_cast<std::int64_t>(table.size());
    least_cost_.push_back(std::move(table));
  }
}

TimePrices::CostInterval TimePrices::cost_interval(int job,
                                                   std::span<const FreeStep> free_steps) const {
  const int row_size = cell_count_ + 1;
  CostInterval interval{kInfinity, kInfinity};
  int free_procs = 0;
  for (const FreeStep& step : free_steps) {
    free_procs += step.procs;
    const int fitting_choices = choices_within_[job][free_procs];
    if (fitting_choices == 0) continue;
    const double start = std::max(instance_.release(job), step.time);
    const double cell = start / cell_length_;
    if (cell < cell_count_) {
      const int index = (fitting_choices - 1) * row_size + static_cast<int>(cell);
      const double* const costs = &least_cost_[job][index];
      interval.low = std::min(interval.low, costs[0]);
      interval.high = std::min(interval.high, costs[1]);
    } else {
      const double cost = instance_.weight(job) * (start + choices_[job][fitting_choices - 1].time);
      interval.low = std::min(interval.low, cost);
      interval.high = std::min(interval.high, cost);
    }
  }
  return interval;
}

// The least cost of a start at the step that first has enough processors for a choice, or later.
double TimePrices::exact_job_cost(int job, const FreeStep* step) {
  const double weight = instance_.weight(job);
  int free_procs = step->procs, number = 0;
  double least = kInfinity;
  for (const Choice& choice : choices_[job]) {
    while (free_procs < choice.procs) {
      ++step;
      free_procs += step->procs;
    }
    const double start = std::max(instance_.release(job), step->time);
    const double cell = start / cell_length_;
    least = std::min(least, cost_of_start(weight, choice, start));
    if (cell < cell_count_) {
      const int next_cell = static_cast<int>(cell) + 1;
      least = std::min(least, least_cost_[job][number * (cell_count_ + 1) + next_cell]);
      const double bend = next_bend(choice, start);
      if (bend < next_cell * cell_length_)
        least = std::min(least, cost_of_start(weight, choice, bend));
    }
    ++number;
  }
  work_ += 4 * number;
  return least;
}

}  // namespace cosched::moldable::search
