#include "cosched/cluster/dfrs/policy_name.hpp"

#include <cctype>
#include <charconv>
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

bool take(std::string_view& rest, std::string_view part) {
  if (rest.substr(0, part.size()) != part) return false;
  rest.remove_prefix(part.size());
  return true;
}

// A part ends at '/' or at the end of the name.
bool take_part(std::string_view& rest, std::string_view part) {
  std::string_view after = rest;
  if (!take(after, part) || (!after.empty() && after.front() != '/')) return false;
  rest = after;
  return true;
}

bool take_limit(std::string_view& rest, PolicyName& name) {
  if (take(rest, "/minvt="))
    name.limit = Limit::virtual_time;
  else if (take(rest, "/minft="))
    name.limit = Limit::flow_time;
  else
    return true;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), name.limit_seconds);
  if (error != std::errc() || !(name.limit_seconds > 0) || std::isinf(name.limit_seconds))
    return false;
  rest.remove_prefix(end - rest.data());
  return true;
}

bool starves(const PolicyName& name) {
  if (name.periodic != Periodic::none) return false;
  return !name.on_completion || name.on_submit == OnSubmit::none;
}

}  // namespace

bool PolicyName::operator==(const PolicyName& other) const {
  return on_submit == other.on_submit && on_completion == other.on_completion &&
         periodic == other.periodic && improve == other.improve && limit == other.limit &&
         limit_seconds == other.limit_seconds;
}

std::optional<PolicyName> parse_policy_name(const std::string& text) {
  std::string compact;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) compact += c;
  std::string_view rest = compact;
  PolicyName name;
  for (const auto& submit : kSubmits)
    if (take(rest, submit.text)) {
      name.on_submit = submit.value;
      break;
    }
  name.on_completion = take(rest, "*");
  if (take_part(rest, "/per"))
    name.periodic = Periodic::mcb8;
  else if (take_part(rest, "/stretch-per"))
    name.periodic = Periodic::mcb8_stretch;
  const bool stretch = name.periodic == Periodic::mcb8_stretch;
  if (stretch && (name.on_submit != OnSubmit::none || name.on_completion)) return std::nullopt;
  if (take_part(rest, stretch ? "/opt=max" : "/opt=min"))
    name.improve = Improve::max_min;
  else if (take_part(rest, "/opt=avg"))
    name.improve = Improve::average;
  if (!take_limit(rest, name) || !rest.empty() || starves(name)) return std::nullopt;
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
  if (name.limit == Limit::virtual_time) text += "/minvt=" + to_text(name.limit_seconds);
  if (name.limit == Limit::flow_time) text += "/minft=" + to_text(name.limit_seconds);
  return text;
}

std::vector<PolicyName> paper_policies() {
  std::vector<PolicyName> all;
  for (const char* row : {"Greedy*", "GreedyP*", "GreedyPM*", "Greedy/per", "GreedyP/per",
                          "GreedyPM/per", "Greedy*/per", "GreedyP*/per", "GreedyPM*/per", "MCB8*",
                          "MCB8/per", "MCB8*/per", "/per", "/stretch-per"}) {
    PolicyName name = *parse_policy_name(row);
    const bool packs = name.on_submit == OnSubmit::mcb8 || name.periodic != Periodic::none;
    for (const Improve improve : {Improve::average, Improve::max_min}) {
      name.improve = improve;
      name.limit = Limit::none;
      name.limit_seconds = 0;
      all.push_back(name);
      if (!packs) continue;
      for (const Limit limit : {Limit::flow_time, Limit::virtual_time})
        for (const double seconds : {300.0, 600.0}) {
          name.limit = limit;
          name.limit_seconds = seconds;
          all.push_back(name);
        }
    }
  }
  return all;
}

}  // namespace cosched::cluster::dfrs
