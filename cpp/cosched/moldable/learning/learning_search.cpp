#include "cosched/moldable/learning/learning_search.hpp"

#include <algorithm>

namespace cosched::moldable::learning {
namespace {

constexpr std::int64_t kRestartConflicts = 100;
constexpr std::int64_t kFirstMaxClauses = 4000, kMoreClauses = 500;
// Nanoseconds for an operation of the parts: measured.
constexpr std::int64_t kOperationWork = 3;

// 1 1 2 1 1 2 4 ...: how long searches are between restarts (Luby, Sinclair, Zuckerman 1993).
std::int64_t luby(std::int64_t number) {
  std::int64_t length = 1;
  while (length < number + 1) length = 2 * length + 1;
  while (length - 1 != number) {
    length = (length - 1) / 2;
    number %= length;
  }
  return (length + 1) / 2;
}

Trail make_trail(const RigidProject& project) {
  Trail trail;
  for (int i = 0; i < project.jobs(); ++i)
    trail.add_variable(project.releases[i], project.horizon - project.seconds[i]);
  trail.add_variable(0, project.horizon);
  for (std::size_t k = 0; k < project.disjunctive_pairs.size(); ++k) trail.add_variable(0, 1);
  return trail;
}

}  // namespace

LearningSearch::LearningSearch(const RigidProject& project)
    : jobs_(project.jobs()),
      trail_(make_trail(project)),
      delays_(trail_.variables()),
      clauses_(trail_.variables()),
      timetables_of_job_(jobs_),
      analysis_(trail_, delays_, clauses_),
      branching_(trail_.variables()),
      max_clauses_(kFirstMaxClauses) {
  for (const auto& [before, after] : project.edges)
    delays_.add(before, after, project.seconds[before]);
  for (int i = 0; i < jobs_; ++i) delays_.add(i, makespan_variable(), project.seconds[i]);
  int variable = makespan_variable();
  for (const auto& [first, second] : project.disjunctive_pairs) {
    ++variable;
    delays_.add(first, second, project.seconds[first], at_least(variable, 1));
    delays_.add(second, first, project.seconds[second], at_most(variable, 0));
  }
  for (const std::vector<ResourceUser>& users : project.resources) {
    for (const ResourceUser& user : users)
      timetables_of_job_[user.start_variable].push_back(static_cast<int>(timetables_.size()));
    timetables_.emplace_back(users);
  }
  is_waiting_.assign(timetables_.size(), 1);
}

void LearningSearch::save_values(const std::vector<int>& starts) {
  for (int i = 0; i < jobs_; ++i) branching_.save_value(i, starts[i]);
}

std::int64_t LearningSearch::operations() const {
  std::int64_t sum = delays_.operations() + clauses_.operations();
  for (const Timetable& timetable : timetables_) sum += timetable.operations();
  return kOperationWork * sum;
}

bool LearningSearch::propagate() {
  for (;;) {
    while (propagated_entries_ < trail_.size()) {
      const Trail::Entry entry = trail_[propagated_entries_];
      ++propagated_entries_;
      const int side = entry.literal.side;
      if (!delays_.propagate(trail_, side)) return false;
      const int previous_bound =
          entry.previous < 0 ? entry.literal.bound - 1 : trail_[entry.previous].literal.bound;
      if (!clauses_.propagate(trail_, side, previous_bound)) return false;
      if (side / 2 >= jobs_) continue;
      for (const int timetable : timetables_of_job_[side / 2]) is_waiting_[timetable] = 1;
    }
    const auto waiting = std::find(is_waiting_.begin(), is_waiting_.end(), 1);
    if (waiting == is_waiting_.end()) return true;
    *waiting = 0;
    if (!timetables_[waiting - is_waiting_.begin()].propagate(trail_)) return false;
  }
}

void LearningSearch::backjump_to(int level) {
  if (level >= trail_.level()) return;
  const int size = trail_.size();
  // Entries above the level, from the last on.
  for (int k = size - 1; k >= 0 && trail_[k].level > level; --k)
    branching_.reopen(trail_, trail_[k]);
  trail_.backjump_to(level);
  propagated_entries_ = trail_.size();
  std::fill(is_waiting_.begin(), is_waiting_.end(), 0);
}

bool LearningSearch::learn() {
  if (trail_.level() == 0) return false;
  const LearntClause learnt_clause = analysis_.analyse();
  for (const Literal literal : analysis_.bumped_literals()) branching_.bump(literal);
  branching_.decay();
  backjump_to(learnt_clause.backjump_level);
  Reason reason;
  if (learnt_clause.literals.size() > 1)
    reason = {Reason::Kind::clause, clauses_.add(learnt_clause.literals, learnt_clause.lbd), 0};
  return trail_.raise(learnt_clause.literals[0], reason);
}

std::optional<Literal> LearningSearch::choose() {
  if (const std::optional<Literal> literal = branching_.choose(trail_)) return literal;
  int earliest = -1;
  for (int i = 0; i < jobs_; ++i)
    if (!trail_.is_fixed(i) && (earliest < 0 || trail_.low(i) < trail_.low(earliest))) earliest = i;
  if (earliest < 0) return std::nullopt;
  return at_most(earliest, trail_.low(earliest));
}

LearningSearch::Answer LearningSearch::search(int makespan, bool is_final, std::int64_t work) {
  operations_before_ = operations();
  const Literal limit = at_most(makespan_variable(), makespan);
  backjump_to(0);
  if (is_final && !trail_.raise(limit, {})) is_feasible_ = false;
  std::int64_t conflicts_left = kRestartConflicts * luby(restarts_);
  std::int64_t counted = 0;
  while (is_feasible_ && !trail_.is_false(limit)) {
    poll_.count(this->work() - counted);
    counted = this->work();
    if (!propagate()) {
      is_feasible_ = learn();
      --conflicts_left;
      continue;
    }
    if (counted >= work) return Answer::unknown;
    if (conflicts_left <= 0) {
      backjump_to(0);
      conflicts_left = kRestartConflicts * luby(++restarts_);
      if (clauses_.size() > max_clauses_) {
        clauses_.forget(trail_);
        max_clauses_ += kMoreClauses;
      }
      continue;
    }
    std::optional<Literal> decision = limit;
    if (trail_.is_true(limit)) decision = choose();
    if (!decision) {
      starts_.resize(jobs_);
      for (int i = 0; i < jobs_; ++i) starts_[i] = trail_.low(i);
      save_values(starts_);
      return Answer::schedule;
    }
    trail_.open_level();
    (void)trail_.raise(*decision, {});
  }
  return Answer::refuted;
}

}  // namespace cosched::moldable::learning
