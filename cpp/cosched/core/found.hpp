// What a search in a container must have found.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cosched {

/// `place`, which is not `end`: an invariant of the caller.  Throws std::logic_error where it is.
template <class Iterator>
Iterator require_found(Iterator place, Iterator end, const char* what) {
  if (place == end) throw std::logic_error(std::string(what) + " is not where it has to be");
  return place;
}

/// Takes the first element that equals `value` out of a vector, which has one.
template <class Vector, class Value>
void erase_found(Vector& values, const Value& value, const char* what) {
  values.erase(require_found(std::find(values.begin(), values.end(), value), values.end(), what));
}

}  // namespace cosched
