#include "cosched/dags/search/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosched::dags::search {

namespace {

constexpr int kHeats = 3;

}  // namespace

Rounds::Rounds(const Instance& instance, const Plan& plan, std::vector<int> movable,
               std::uint64_t seed, std::int64_t length)
    : heat_(0.3 / instance.tasks()), length_(static_cast<double>(length)) {
  if (instance.transfers().free() && !instance.transfers().limited())
    orders_.emplace(instance, plan, std::move(movable), seed);
  else
    places_.emplace(instance, plan, seed);
}

std::int64_t Rounds::built() const { return orders_ ? orders_->built() : places_->built(); }

std::int64_t Rounds::run(std::int64_t most, const std::function<bool(const Plan&)>& better) {
  constexpr double kGrowth = 1.25;
  const std::int64_t before = built();
  const std::int64_t length = std::min(most, static_cast<std::int64_t>(length_));
  bool found = false;
  const auto noted = [&](const Plan& plan) {
    found = true;
    return better(plan);
  };
  orders_ ? search(*orders_, length, noted) : search(*places_, length, noted);
  if (!found) {
    restarts_ = !restarts_;
    if (!restarts_) hotter_ = (hotter_ + 1) % kHeats;
    length_ = std::min(1e15, kGrowth * length_);
  }
  return built() - before;
}

template <class Search>
void Rounds::search(Search& search, std::int64_t length,
                    const std::function<bool(const Plan&)>& better) {
  if (restarts_)
    search.run(search.built() + length, better);
  else
    search.cool(length, std::pow(3.0, hotter_) * heat_, better);
}

}  // namespace cosched::dags::search
