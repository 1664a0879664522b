#include "cosched/moldable/search/count_search.hpp"

#include <algorithm>
#include <utility>

namespace cosched::moldable::search {
namespace {

// How much its counts differ in work: -1 where there is but one.
double spread(const std::vector<Choice>& own) {
  if (own.size() < 2) return -1;
  const auto [least, most] = std::minmax_element(
      own.begin(), own.end(),
      [](const Choice& a, const Choice& b) { return a.procs * a.seconds < b.procs * b.seconds; });
  return most->procs * most->seconds - least->procs * least->seconds;
}

// Where its counts are as far from the fewest as from the most, by their ratios.
std::ptrdiff_t middle(const std::vector<Choice>& own) {
  const int square = own.front().procs * own.back().procs;
  const auto at = std::find_if(own.begin() + 1, own.end() - 1, [&](const Choice& choice) {
    return choice.procs * choice.procs >= square;
  });
  return at - own.begin();
}

}  // namespace

CountSearch::CountSearch(Choices choices, int machines, Halves::Count count, std::size_t room)
    : choices_(std::move(choices)), machines_(machines), count_(std::move(count)), room_(room) {}

Halves::Outcome CountSearch::search(double bound, double deadline, double value,
                                    ProcessorPatterns* patterns, const Halves::Offer& offer) {
  Question question{bound, deadline, value, offer};
  return search_part(choices_, patterns, question);
}

Halves::Outcome CountSearch::search_part(const Choices& choices, ProcessorPatterns* patterns,
                                         Question& question) {
  const Halves::Offer offer = [&](std::vector<Placed> order) {
    return question.value = question.offer(std::move(order));
  };
  const auto outcome =
      Halves(choices, machines_, count_, room_)
          .search(question.bound, question.deadline, question.value, patterns, offer);
  if (outcome != Halves::Outcome::full) return outcome;
  int job = 0;
  for (int j = 1; j < static_cast<int>(choices.size()); ++j)
    if (spread(choices[j]) > spread(choices[job])) job = j;
  return choices[job].size() < 2 ? outcome : split(choices, job, question);
}

Halves::Outcome CountSearch::split(const Choices& choices, int job, Question& question) {
  const std::vector<Choice>& own = choices[job];
  const auto at = own.begin() + middle(own);
  for (const auto& [first, last] : {std::pair(own.begin(), at), std::pair(at, own.end())}) {
    Choices part = choices;
    part[job].assign(first, last);
    ProcessorPatterns patterns(part, machines_, question.bound, question.value);
    if (!count_(patterns.take_work())) return Halves::Outcome::over;
    if (patterns.bound() >= question.deadline) continue;
    const auto outcome = search_part(part, &patterns, question);
    if (outcome != Halves::Outcome::searched) return outcome;
  }
  return Halves::Outcome::searched;
}

}  // namespace cosched::moldable::search
