#include "cosched/moldable/search/processor_patterns.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kSumRounding = 1e-9;  // relative, of sums of prices and of times in cells

}  // namespace

ProcessorPatterns::ProcessorPatterns(std::vector<std::vector<Choice>> choices, int machines,
                                     double bound, double longest,
                                     const ProcessorPatternParams& params)
    : params_(params),
      choices_(std::move(choices)),
      machines_(machines),
      bound_(bound),
      cell_length_(std::max(bound / params.cells, longest / params.max_cells)),
      cell_count_(static_cast<int>(longest / cell_length_) + 2) {
  COSCHED_ASSERT(bound > 0);
  for (const std::vector<Choice>& choices_of_job : choices_) {
    double least_work = kInfinity;
    for (const Choice& choice : choices_of_job)
      least_work = std::min(least_work, choice.procs * choice.time);
    prices_.push_back(least_work);
  }
  find_prices();
}

bool ProcessorPatterns::can_meet_deadline(JobSet jobs, std::span<const FreeStep> free_steps,
                                          double deadline, double release) {
  const EarningsTable* const table = find_table(jobs);
  if (table == nullptr) return true;
  double needed = 0, earned = 0;
  for (std::size_t j = 0; j < prices_.size(); ++j)
    if (contains(jobs, static_cast<int>(j))) needed += prices_[j];
  for (const FreeStep& step : free_steps) {
    const int window = cell_at(deadline - std::max(release, step.time));
    if (window >= 0) earned += step.procs * (*table)[window];
  }
  return earned >= needed * (1 - kSumRounding);
}

std::int64_t ProcessorPatterns::take_work() { return std::exchange(work_, 0); }

// Multiplicative weights: a job of which the best pattern of the bound's length holds less than the
// average becomes dearer.
void ProcessorPatterns::find_prices() {
  std::vector<double> best_prices = prices_;
  for (int round = 1; round <= params_.price_rounds; ++round) {
    std::vector<EarningsTable> tables{EarningsTable(cell_count_, 0.0)};  // of the first jobs
    for (int j = 0; j < static_cast<int>(choices_.size()); ++j) {
      check_interrupt();
      tables.push_back(extend_table(tables.back(), j));
    }
    const EarningsTable& earnings = tables.back();
    const double needed = std::accumulate(prices_.begin(), prices_.end(), 0.0) * (1 - kSumRounding);
    int window = cell_at(bound_);
    if (machines_ * earnings[window] < needed) {
      while (window + 1 < cell_count_ && machines_ * earnings[window + 1] < needed) ++window;
      bound_ = std::max(bound_, (window + 1) * cell_length_ * (1 - kSumRounding));
      best_prices = prices_;
      window = std::min(window + 1, cell_count_ - 1);
    }
    reprice(tables, window, needed, round);
  }
  prices_ = std::move(best_prices);
}

// Goes back through the choices of the best pattern of this window.
void ProcessorPatterns::reprice(const std::vector<EarningsTable>& tables, int window, double needed,
                                int round) {
  const double mean_share = tables.back()[window] / needed;
  const double pace = 1 / std::sqrt(static_cast<double>(round));
  for (int j = static_cast<int>(choices_.size()) - 1; j >= 0; --j) {
    double share = 0;  // of the job that the pattern holds
    const bool has_job = tables[j + 1][window] > tables[j][window];
    for (const Choice& choice : choices_[j]) {
      if (!has_job) break;
      if (is_too_long(choice)) continue;
      const int length = cells_of(choice);
      if (length > window ||
          tables[j][window - length] + prices_[j] / choice.procs < tables[j + 1][window])
        continue;
      share = 1.0 / choice.procs;
      window -= length;
      break;
    }
    prices_[j] *= std::exp(pace * (mean_share - share));
  }
}

// What a processor earns with one job more to choose from.
ProcessorPatterns::EarningsTable ProcessorPatterns::extend_table(const EarningsTable& table,
                                                                 int job) {
  EarningsTable extended = table;
  for (const Choice& choice : choices_[job]) {
    if (is_too_long(choice)) continue;
    const int length = cells_of(choice);
    const double gain = prices_[job] / choice.procs;
    for (int k = length; k < cell_count_; ++k)
      extended[k] = std::max(extended[k], table[k - length] + gain);
    work_ += (cell_count_ - length) / 8 + 1;
  }
  return extended;
}

// Null where no more tables are kept.
const ProcessorPatterns::EarningsTable* ProcessorPatterns::find_table(JobSet jobs) {
  const auto entry = tables_.find(jobs);
  if (entry != tables_.end()) return &entry->second;
  if (tables_.size() >= params_.max_tables) return nullptr;
  if (jobs == 0) return &tables_.emplace(jobs, EarningsTable(cell_count_, 0.0)).first->second;
  const EarningsTable* const table = find_table(without_first_job(jobs));
  if (table == nullptr) return nullptr;
  return &tables_.emplace(jobs, extend_table(*table, first_job(jobs))).first->second;
}

// -1 for windows that are over.
int ProcessorPatterns::cell_at(double seconds) const {
  if (seconds < 0) return -1;
  return std::min(cell_count_ - 1, static_cast<int>(seconds / cell_length_ + kSumRounding));
}

// Rounded down.  Requires a choice that is not too long for the table.
int ProcessorPatterns::cells_of(const Choice& choice) const {
  return static_cast<int>(choice.time / cell_length_ * (1 - kSumRounding));
}

bool ProcessorPatterns::is_too_long(const Choice& choice) const {
  return choice.time >= cell_count_ * cell_length_;
}

}  // namespace cosched::moldable::search
