#include "cosched/lp/own_process.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

namespace cosched::lp {
namespace {

constexpr std::chrono::milliseconds kPoll{10};

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(bytes),
      begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}

SharedMemory::~SharedMemory() {
  if (good()) munmap(begin_, bytes_);
}

bool SharedMemory::good() const { return begin_ != MAP_FAILED; }

Ending in_own_process(const std::function<bool()>& work, const std::function<bool()>& stopped) {
  const pid_t process = fork();
  if (process < 0) return Ending::not_begun;
  if (process == 0) _exit(work() ? 0 : 1);
  for (;;) {
    int how = 0;
    const pid_t ended = waitpid(process, &how, WNOHANG);
    if (ended == process)
      return WIFEXITED(how) && WEXITSTATUS(how) == 0 ? Ending::well : Ending::badly;
    if (ended < 0 && errno != EINTR) return Ending::badly;
    if (stopped()) {
      kill(process, SIGKILL);
      waitpid(process, &how, 0);
      return Ending::stopped;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace cosched::lp
