#include "cosched/cluster/dfrs/policy_name.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {
namespace {

// Longest first, so that "Greedy" does not shadow "GreedyPM".
constexpr struct {
  std::string_view text;
  OnSubmit value;
} kSubmits[] = {{"GreedyPM", OnSubmit::greedy_pm},
                {"GreedyP", OnSubmit::greedy_p},
                {"Greedy", OnSubmit::greedy},
                {"MCB8", OnSubmit::mcb8},
                {"", OnSubmit::none}};

// Removes the part from the begin of the text.  False: the text begins otherwise.
bool remove_prefix(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}

// The same of a part that ends at '/' or at the end of the name.
bool remove_part(std::string_view& text, std::string_view part) {
  std::string_view remainder = text;
  const bool has_prefix = remove_prefix(remainder, part);
  if (!has_prefix || (!remainder.empty() && remainder.front() != '/')) return false;
  text = remainder;
  return true;
}

// Reads /minvt=S or /minft=S, if the text begins with one of them.  False: S is no positive number.
bool parse_limit(std::string_view& text, PolicyName& name) {
  const bool has_virtual_time = remove_prefix(text, "/minvt=");
  const bool has_flow_time = !has_virtual_time && remove_prefix(text, "/minft=");
  if (!has_virtual_time && !has_flow_time) return true;
  name.limit = has_virtual_time ? RemapLimit::virtual_time : RemapLimit::flow_time;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), name.limit_seconds);
  if (error != std::errc() || !(name.limit_seconds > 0) || std::isinf(name.limit_seconds))
    return false;
  text.remove_prefix(end - text.data());
  return true;
}

// Whether some job would never start.
bool can_starve_jobs(const PolicyName& name) {
  if (name.periodic != Periodic::none) return false;
  return !name.on_completion || name.on_submit == OnSubmit::none;
}

}  // namespace

std::optional<PolicyName> parse_policy_name(const std::string& text) {
  std::string compact;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) compact += c;
  std::string_view unread = compact;
  PolicyName name;
  for (const auto& submit : kSubmits) {
    const bool is_match = remove_prefix(unread, submit.text);
    if (!is_match) continue;
    name.on_submit = submit.value;
    break;
  }
  name.on_completion = remove_prefix(unread, "*");
  const bool is_mcb8 = remove_part(unread, "/per");
  const bool is_stretch = !is_mcb8 && remove_part(unread, "/stretch-per");
  if (is_mcb8) name.periodic = Periodic::mcb8;
  if (is_stretch) name.periodic = Periodic::mcb8_stretch;
  if (is_stretch && (name.on_submit != OnSubmit::none || name.on_completion)) return std::nullopt;
  const bool has_max_min = remove_part(unread, is_stretch ? "/opt=max" : "/opt=min");
  const bool has_average = !has_max_min && remove_part(unread, "/opt=avg");
  if (has_max_min) name.improve = Improve::max_min;
  if (has_average) name.improve = Improve::average;
  const bool has_valid_limit = parse_limit(unread, name);
  if (!has_valid_limit || !unread.empty() || can_starve_jobs(name)) return std::nullopt;
  return name;
}

std::string spell(const PolicyName& name) {
  std::string text;
  for (const auto& submit : kSubmits)
    if (submit.value == name.on_submit) text = submit.text;
  if (name.on_completion) text += text.empty() ? "*" : " *";
  if (name.periodic == Periodic::mcb8) text += "/per";
  if (name.periodic == Periodic::mcb8_stretch) text += "/stretch-per";
  if (name.improve == Improve::average) text += "/opt=avg";
  if (name.improve == Improve::max_min)
    text += name.periodic == Periodic::mcb8_stretch ? "/opt=max" : "/opt=min";
  if (name.limit == RemapLimit::virtual_time) text += "/minvt=" + to_text(name.limit_seconds);
  if (name.limit == RemapLimit::flow_time) text += "/minft=" + to_text(name.limit_seconds);
  return text;
}

std::vector<PolicyName> paper_policies() {
  std::vector<PolicyName> policies;
  for (const char* row : {"Greedy*", "GreedyP*", "GreedyPM*", "Greedy/per", "GreedyP/per",
                          "GreedyPM/per", "Greedy*/per", "GreedyP*/per", "GreedyPM*/per", "MCB8*",
                          "MCB8/per", "MCB8*/per", "/per", "/stretch-per"}) {
    PolicyName name = *parse_policy_name(row);
    const bool uses_mcb8 = name.on_submit == OnSubmit::mcb8 || name.periodic != Periodic::none;
    for (const Improve improve : {Improve::average, Improve::max_min}) {
      name.improve = improve;
      name.limit = RemapLimit::none;
      name.limit_seconds = 0;
      policies.push_back(name);
      if (!uses_mcb8) continue;
      for (const RemapLimit limit : {RemapLimit::flow_time, RemapLimit::virtual_time})
        for (const double seconds : {300.0, 600.0}) {
          name.limit = limit;
          name.limit_seconds = seconds;
          policies.push_back(name);
        }
    }
  }
  return policies;
}

}  // namespace cosched::cluster::dfrs
