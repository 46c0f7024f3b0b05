// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as MLIR bytecode. What begins otherwise is text to the reader, which is StableHLOFuzzer's part.
//
// Each reading is rehearsed by a child process (latewood/compiler/Import/Rehearsal.h), and to make a copy of this
// process, which grows large, takes longer than everything else. So a small process is set aside before the first
// input, with all dialects loaded: it is given each program, and it makes the children. What the children do is what
// they do elsewhere; one input of 64 goes the whole way of the compiler's own code.
//
// Bytes that are inserted or removed make the sizes of sections wrong, and most such inputs end there. So mutation
// mostly changes bytes in place: to numbers at the edge, to near ones, to others of the same file.

#include "CompileUpToClusters.h"
#include "latewood/compiler/Driver/Registration.h"
#include "latewood/compiler/Import/ReadProgram.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/xxhash.h"
#include <cerrno>
#include <csignal>
#include <random>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

pid_t fuzzer = 0;
int toReader = -1;

bool sendAll(int socket, const void *data, size_t size) {
  for (auto *at = static_cast<const char *>(data); size > 0;) {
    ssize_t count = send(socket, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool receiveAll(int socket, void *data, size_t size) {
  for (auto *at = static_cast<char *>(data); size > 0;) {
    ssize_t count = recv(socket, at, size, MSG_WAITALL);
    // The fuzzer's clock.
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

// A text behind its length.
bool sendText(int socket, llvm::StringRef text) {
  size_t size = text.size();
  return sendAll(socket, &size, sizeof size) && sendAll(socket, text.data(), size);
}

std::optional<std::string> receiveText(int socket) {
  size_t size = 0;
  if (!receiveAll(socket, &size, sizeof size))
    return std::nullopt;
  std::string text(size, '\0');
  return receiveAll(socket, text.data(), size) ? std::optional(std::move(text)) : std::nullopt;
}

// The small process: programs come in, what became of their readers goes out (nothing where they survived).
[[noreturn]] void serveReadings(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  mlir::DialectRegistry registry;
  latewood::driver::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  while (std::optional<std::string> program = receiveText(socket)) {
    std::string report;
    auto problem = latewood::import::rehearseReading(*program, "<input>", &context, report);
    if (!sendText(socket, problem.value_or("")))
      break;
  }
  _exit(0);
}

std::optional<std::string> rehearseTwice(llvm::StringRef program, llvm::StringRef name, mlir::MLIRContext *context,
                                         std::string &report) {
  std::optional<std::string> problem;
  if (!sendText(toReader, program) || !(problem = receiveText(toReader))) {
    llvm::errs() << "the process that makes readers has ended\n";
    abort();
  }
  return problem->empty() ? latewood::import::rehearseReading(program, name, context, report) : problem;
}

} // namespace

// What the sanitizers find in a reader is a crash like any other; to describe it would take seconds.
extern "C" __attribute__((visibility("default"))) void __asan_on_error() {
  if (getpid() != fuzzer)
    _exit(2);
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  fuzzer = getpid();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    abort();
  pid_t reader = fork();
  if (reader < 0)
    abort();
  if (reader == 0) {
    close(ends[0]);
    serveReadings(ends[1]);
  }
  close(ends[1]);
  toReader = ends[0];
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  constexpr size_t magic = 4;
  std::minstd_rand random(seed);
  if (size <= magic || random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned count = 1 + random() % 3; count > 0; --count) {
    uint8_t &byte = data[magic + random() % (size - magic)];
    switch (random() % 6) {
    case 0:
      byte = data[random() % size];
      break;
    case 1: // Numbers below 128 are twice themselves and one.
      byte = static_cast<uint8_t>(2 * (random() % 32) + 1);
      break;
    case 2:
      byte = static_cast<uint8_t>(byte + 2);
      break;
    case 3:
      byte = static_cast<uint8_t>(byte - 2);
      break;
    case 4:
      byte ^= static_cast<uint8_t>(1u << random() % 8);
      break;
    default:
      std::swap(byte, data[magic + random() % (size - magic)]);
      break;
    }
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef program(reinterpret_cast<const char *>(data), size);
  if (!latewood::import::isBytecode(program))
    return -1;
  bool isWhole = llvm::xxh3_64bits(program) % 64 == 0;
  latewood::import::replaceRehearsal(isWhole ? latewood::import::rehearseReading : rehearseTwice);
  compileUpToClusters(program);
  return 0;
}
