#include "record_class.hpp"

#include <algorithm>
#include <numeric>

namespace cosched::bindings {
namespace {

// How many letters must be inserted, deleted or replaced (Levenshtein 1966).
std::size_t edit_distance(const std::string& first, const std::string& second) {
  std::vector<std::size_t> distances(second.size() + 1);
  std::iota(distances.begin(), distances.end(), std::size_t{0});
  for (std::size_t row = 1; row <= first.size(); ++row) {
    std::size_t diagonal = distances[0];
    distances[0] = row;
    for (std::size_t column = 1; column <= second.size(); ++column) {
      const std::size_t replacement =
          diagonal + (first[row - 1] == second[column - 1] ? std::size_t{0} : std::size_t{1});
      diagonal = distances[column];
      distances[column] = std::min({replacement, distances[column] + 1, distances[column - 1] + 1});
    }
  }
  return distances.back();
}

}  // namespace

std::string unknown_field_message(const std::string& class_name, const std::string& field_name,
                                  const std::vector<std::string>& known_names) {
  std::string message = class_name + " has no field '" + field_name + "': ";
  std::string nearest_name;
  std::size_t smallest_distance = field_name.size() / 2 + 1;
  for (const std::string& name : known_names) {
    const std::size_t distance = edit_distance(field_name, name);
    if (distance < smallest_distance) {
      smallest_distance = distance;
      nearest_name = name;
    }
  }
  if (!nearest_name.empty()) return message + "did you mean '" + nearest_name + "'?";
  message += "expected one of ";
  const char* separator = "";
  for (const std::string& name : known_names) {
    message += separator + name;
    separator = ", ";
  }
  return message;
}

}  // namespace cosched::bindings
