#include "cosched/cluster/dfrs/policy_name.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cosched::cluster::dfrs {
namespace {

TEST(PolicyName, The116PoliciesOfThePaperRoundTrip) {
  std::set<std::string> names;
  for (const PolicyName& name : paper_policies()) {
    const std::string text = spell(name);
    names.insert(text);
    const auto parsed = parse_policy_name(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, name) << text;
  }
  EXPECT_EQ(names.size(), 116u);
  for (const char* text :
       {"Greedy */opt=min", "GreedyPM */per/opt=min/minvt=600", "MCB8/per/opt=avg/minft=300",
        "/per/opt=min", "MCB8 */opt=avg", "/stretch-per/opt=max/minvt=600", "/stretch-per/opt=avg"})
    EXPECT_EQ(names.count(text), 1u) << text;
}

TEST(PolicyName, EveryNameOfTheGrammarRoundTrips) {
  int valid = 0;
  for (const OnSubmit submit :
       {OnSubmit::none, OnSubmit::greedy, OnSubmit::greedy_p, OnSubmit::greedy_pm, OnSubmit::mcb8})
    for (const bool completion : {false, true})
      for (const Periodic periodic : {Periodic::none, Periodic::mcb8, Periodic::mcb8_stretch})
        for (const Improve improve : {Improve::none, Improve::max_min, Improve::average})
          for (const RemapLimit limit :
               {RemapLimit::none, RemapLimit::virtual_time, RemapLimit::flow_time}) {
            PolicyName name{submit, completion, periodic, improve, limit, 0};
            if (limit != RemapLimit::none) name.limit_seconds = 0.125;
            const auto parsed = parse_policy_name(spell(name));
            const bool acts =
                periodic == Periodic::mcb8 ||
                (periodic == Periodic::mcb8_stretch && submit == OnSubmit::none && !completion) ||
                (periodic == Periodic::none && completion && submit != OnSubmit::none);
            EXPECT_EQ(parsed.has_value(), acts) << spell(name);
            if (!parsed) continue;
            EXPECT_EQ(*parsed, name) << spell(name);
            ++valid;
          }
  EXPECT_EQ(valid, (10 + 1 + 4) * 9);
}

TEST(PolicyName, SpacesAreOptional) {
  const auto name = parse_policy_name("  GreedyPM*/per /opt=min/ minvt=600");
  ASSERT_TRUE(name);
  EXPECT_EQ(spell(*name), "GreedyPM */per/opt=min/minvt=600");
  EXPECT_EQ(spell(*parse_policy_name("/per/minvt=1e2")), "/per/minvt=100");
}

TEST(PolicyName, RefusesWhatIsNoName) {
  for (const char* text : {"",
                           "Greedy",
                           "Greedy/opt=min",
                           "*",
                           "* /opt=min",
                           "MCB8",
                           "greedy */per",
                           "GreedyX */per",
                           "Greedy */per/opt=max",
                           "/stretch-per/opt=min",
                           "GreedyP/stretch-per",
                           "*/stretch-per",
                           "/per/per",
                           "/per/opt=",
                           "/per/opt=minimum",
                           "/per/minvt=",
                           "/per/minvt=0",
                           "/per/minvt=-5",
                           "/per/minvt=nan",
                           "/per/minvt=inf",
                           "/per/minvt=5x",
                           "/per/minvt=5/",
                           "/per/minvt=300/minft=300",
                           "/per/minvt=300/opt=min",
                           "/period",
                           "Greedy ** /per",
                           "/per/minvt=1e999"})
    EXPECT_FALSE(parse_policy_name(text)) << text;
}

}  // namespace
}  // namespace cosched::cluster::dfrs
