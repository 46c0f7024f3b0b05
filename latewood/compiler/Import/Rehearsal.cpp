// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child process, and waiting for it: one byte through a pipe says that it came to its end, and its report follows.

#include "latewood/compiler/Import/Rehearsal.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latewood::import {

namespace {

// A program of this many bytes is read in a small part of this time.
int64_t secondsFor(uint64_t bytes) { return 2 + static_cast<int64_t>(bytes >> 20); }

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LATEWOOD_ADDRESS_SPACE_IS_RESERVED
#endif
#endif

// The memory that the child may have beyond what there is: some for a context, and many times the program.
void limitMemory(uint64_t bytes) {
#ifndef LATEWOOD_ADDRESS_SPACE_IS_RESERVED
  long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  if (pages <= 0)
    return;
  uint64_t size = uint64_t(pages) * uint64_t(sysconf(_SC_PAGESIZE)) + (uint64_t(4) << 30) + 64 * bytes;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && size < limit.rlim_cur) {
    limit.rlim_cur = size;
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
}

[[noreturn]] void runChild(int done, uint64_t bytes, llvm::function_ref<std::string()> work) {
  // Whoever looks after crashes of this process has nothing to say about the child's.
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGXCPU, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0}, time;
  setrlimit(RLIMIT_CORE, &none);
  if (getrlimit(RLIMIT_CPU, &time) == 0) {
    time.rlim_cur = std::min<rlim_t>(time.rlim_max, rlim_t(secondsFor(bytes)));
    setrlimit(RLIMIT_CPU, &time);
  }
  limitMemory(bytes);
  if (int null = open("/dev/null", O_RDWR); null >= 0)
    for (int standard : {STDOUT_FILENO, STDERR_FILENO})
      dup2(null, standard);
  std::string report = '\0' + work();
  for (llvm::StringRef rest = report; !rest.empty();) {
    ssize_t count = write(done, rest.data(), rest.size());
    if (count <= 0)
      break;
    rest = rest.drop_front(static_cast<size_t>(count));
  }
  _exit(0);
}

// Whether a process sleeps, and does not compute.
bool isAsleep(pid_t process) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  if (FILE *file = fopen(path, "r")) {
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
      state = 0;
    fclose(file);
  }
  return state == 'S';
}

std::string describe(int status) {
  if (!WIFSIGNALED(status))
    return "reading it ends the process";
  if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
    return "reading it takes too long";
  const char *name = sigdescr_np(WTERMSIG(status));
  return "reading it crashes the reader (" + llvm::StringRef(name ? name : "a signal").lower() + ")";
}

} // namespace

std::optional<std::string> rehearse(uint64_t bytes, llvm::function_ref<std::string()> work, std::string &report) {
  report.clear();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return std::nullopt;
  fflush(nullptr);
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return std::nullopt;
  }
  if (child == 0)
    runChild(ends[1], bytes, work);
  close(ends[1]);

  pollfd readable = {ends[0], POLLIN, 0};
  int waited = 0;
  do
    waited = poll(&readable, 1, static_cast<int>(std::min<int64_t>(8 * secondsFor(bytes), 1000000)) * 1000);
  while (waited < 0 && errno == EINTR);
  char end;
  bool isDone = waited > 0 && read(ends[0], &end, 1) == 1;
  if (isDone) {
    char part[4096];
    for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0 || (count < 0 && errno == EINTR);)
      if (count > 0)
        report.append(part, static_cast<size_t>(count));
  }
  close(ends[0]);
  // Then it waits for something that only a thread of this process could have given it.
  bool isHeldUp = waited == 0 && isAsleep(child);
  if (waited == 0)
    kill(child, SIGKILL);
  int status = 0;
  pid_t reaped;
  do
    reaped = waitpid(child, &status, 0);
  while (reaped < 0 && errno == EINTR);
  if (isDone || isHeldUp)
    return std::nullopt;
  // A program may have told the system that it does not care for its children: then there is no status.
  return reaped == child ? describe(status) : "reading it crashes the reader";
}

} // namespace latewood::import
