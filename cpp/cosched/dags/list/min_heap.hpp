#pragma once

#include <functional>
#include <queue>
#include <vector>

namespace cosched::dags::list {

/// A priority queue whose top is the least element.
template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

}  // namespace cosched::dags::list
