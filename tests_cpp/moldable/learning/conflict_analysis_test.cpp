#include "cosched/moldable/learning/conflict_analysis.hpp"

#include <gtest/gtest.h>

namespace cosched::moldable::learning {
namespace {

// Starts a, b, c between 0 and 20; b follows 3 s after a, c 3 s after b.
struct Chain {
  Trail trail;
  Delays delays{4};
  Clauses clauses{4};
  int propagated = 0;
  Chain() {
    for (int k = 0; k < 4; ++k) trail.add_variable(0, 20);
    delays.add(0, 1, 3);
    delays.add(1, 2, 3);
  }
  bool propagate() {
    for (; propagated < trail.size(); ++propagated)
      if (!delays.propagate(trail, trail[propagated].literal.side)) return false;
    return true;
  }
};

TEST(ConflictAnalysis, LearnsWhichBoundsExcludeEachOther) {
  Chain chain;
  ASSERT_TRUE(chain.propagate());
  chain.trail.open_level();
  (void)chain.trail.raise(at_most(2, 11), {});
  ASSERT_TRUE(chain.propagate());
  chain.trail.open_level();
  (void)chain.trail.raise(at_least(3, 1), {});  // has nothing to do with it
  chain.trail.open_level();
  // The clause says: a >= 8 where d >= 2.
  const int number = chain.clauses.add({at_least(0, 8), at_most(3, 1)}, 2);
  (void)chain.trail.raise(at_least(3, 2), {});
  EXPECT_FALSE(chain.trail.raise(at_least(0, 8), {Reason::Kind::clause, number, 0}));
  ConflictAnalysis analysis(chain.trail, chain.delays, chain.clauses);
  const LearntClause learnt_clause = analysis.analyse();
  // What made a <= 5 is level 1; a <= 7 was enough.
  EXPECT_EQ(learnt_clause.literals, (std::vector<Literal>{at_most(3, 1), at_least(0, 8)}));
  EXPECT_EQ(learnt_clause.backjump_level, 1);
  EXPECT_EQ(learnt_clause.lbd, 2);
}

TEST(ConflictAnalysis, LearnsABoundWhereOneLevelIsEnough) {
  Chain chain;
  ASSERT_TRUE(chain.propagate());
  chain.trail.open_level();
  (void)chain.trail.raise(at_least(0, 10), {});
  ASSERT_TRUE(chain.propagate());
  EXPECT_FALSE(chain.trail.raise(at_most(2, 15), {}));
  ConflictAnalysis analysis(chain.trail, chain.delays, chain.clauses);
  const LearntClause learnt_clause = analysis.analyse();
  EXPECT_EQ(learnt_clause.literals, (std::vector<Literal>{at_most(2, 15)}));
  EXPECT_EQ(learnt_clause.backjump_level, 0);
  EXPECT_EQ(analysis.bumped_literals(), (std::vector<Literal>{at_least(2, 16)}));
}

TEST(ConflictAnalysis, LeavesOutWhatFollowsFromTheRest) {
  Chain chain;
  ASSERT_TRUE(chain.propagate());
  chain.trail.open_level();
  (void)chain.trail.raise(at_least(0, 4), {});  // b >= 7, c >= 10
  ASSERT_TRUE(chain.propagate());
  chain.trail.open_level();
  (void)chain.trail.raise(at_least(3, 9), {});
  chain.trail.begin_explanation();
  for (const Literal literal : {at_least(0, 4), at_least(1, 7), at_least(3, 9)})
    chain.trail.add_to_explanation(literal);
  EXPECT_FALSE(chain.trail.raise(at_most(2, 9), chain.trail.explanation_reason()));
  ConflictAnalysis analysis(chain.trail, chain.delays, chain.clauses);
  const LearntClause learnt_clause = analysis.analyse();
  EXPECT_EQ(learnt_clause.literals, (std::vector<Literal>{at_most(3, 8), at_most(0, 3)}));
}

}  // namespace
}  // namespace cosched::moldable::learning
