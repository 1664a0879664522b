// The naming scheme of the DFRS policies (Casanova, Stillwell, Vivien 2011, section 4.5, Table 1).
//
//   SUBMIT [*] [/per | /stretch-per] [/opt=min|avg|max] [/minvt=S | /minft=S]
//
// SUBMIT in {Greedy, GreedyP, GreedyPM, MCB8, (empty)}: what happens on submission.
// *: also on completion (MCB8 if SUBMIT is MCB8, else Greedy).
// /per: MCB8 each period; /stretch-per: MCB8-stretch each period (SUBMIT empty, no *).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cosched::cluster::dfrs {

enum class OnSubmit { none, greedy, greedy_p, greedy_pm, mcb8 };
enum class Periodic { none, mcb8, mcb8_stretch };

/// How the CPU is used that remains once all jobs have the mapping's greatest minimum yield.
enum class Improve {
  none,     // no opt given: base yields
  max_min,  // opt=min; for /stretch-per opt=max
  average,  // opt=avg
};

/// Which running jobs keep their nodes in MCB8.
enum class RemapLimit { none, virtual_time, flow_time };

struct PolicyName {
  OnSubmit on_submit = OnSubmit::none;
  bool on_completion = false;
  Periodic periodic = Periodic::none;
  Improve improve = Improve::none;
  RemapLimit limit = RemapLimit::none;
  double limit_seconds = 0;  // S, where limit is set

  bool operator==(const PolicyName& other) const = default;
};

/// Spaces are optional.  nullopt when `text` is not a name of this grammar, or names
/// a policy that would starve jobs (no *, /per or /stretch-per; or * alone with an
/// empty SUBMIT, which never starts a job on an idle machine).  S > 0, finite.
std::optional<PolicyName> parse_policy_name(const std::string& text);

/// The paper's spelling; parse_policy_name(spell(name)) == name.
std::string spell(const PolicyName& name);

/// The 116 policies of the paper: the 14 rows of Table 1, each with both opts, those
/// with MCB8 also with minft=300, minft=600, minvt=300, minvt=600.
std::vector<PolicyName> paper_policies();

}  // namespace cosched::cluster::dfrs
