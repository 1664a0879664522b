// Work that can be ended at any moment, though it looks at no clock: in a copy of this process.
#pragma once

#include <cstddef>
#include <functional>

namespace cosched::lp {

/// Memory that this process and its copies both see.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  bool good() const;  // false: the system has none left
  void* begin() const { return begin_; }

 private:
  std::size_t bytes_;
  void* begin_;
};

enum class Ending { well, badly, stopped, not_begun };

/// Runs `work` in a copy of this process, which leaves without destructors, and waits; kills it as
/// soon as `stopped` says so.  well: `work` returned true.  not_begun: the system gave no process.
Ending in_own_process(const std::function<bool()>& work, const std::function<bool()>& stopped);

}  // namespace cosched::lp
