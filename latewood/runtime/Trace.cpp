// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread has a buffer, which it makes with its first event and registers; only the thread that ends the recording
// looks at those of others, so their locks are free nearly always. A buffer outlives its thread until the recording has
// been written.

#include "latewood/runtime/Trace.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/OutputFile.h"
#include "latewood/runtime/TraceEvents.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace latewood::runtime {

namespace trace {
std::atomic<bool> isRecording{false};

namespace {
struct Event {
  /// As in the file: X complete, i instant, C counter.
  char phase;
  const char *category;
  std::string name;
  const void *code;
  int64_t begin, duration;
  Number numbers[2];
};

/// More than that is no trace that anybody looks at, and would eat the memory of the program that is looked at.
constexpr size_t mostEventsOfThread = size_t(1) << 20;

struct ThreadEvents {
  std::mutex mutex;
  std::vector<Event> events;
  uint64_t dropped = 0;
  int64_t thread = syscall(SYS_gettid);
  char name[16] = "";
};

struct Recording {
  std::mutex mutex;
  bool isOn = false;
  int64_t begin = 0;
  std::vector<std::shared_ptr<ThreadEvents>> threads;
  std::mutex namesMutex;
  std::unordered_map<const void *, std::string> names;
};
Recording &recording() {
  // Never destroyed: threads may end after static objects.
  static auto *instance = new Recording;
  return *instance;
}

thread_local std::shared_ptr<ThreadEvents> ownEvents;

ThreadEvents &eventsOfThread() {
  if (!ownEvents) {
    auto events = std::make_shared<ThreadEvents>();
    pthread_getname_np(pthread_self(), events->name, sizeof events->name);
    std::lock_guard lock(recording().mutex);
    recording().threads.push_back(events);
    ownEvents = std::move(events);
  }
  return *ownEvents;
}

void add(char phase, const char *category, std::string_view name, const void *code, int64_t begin, int64_t duration,
         Number first, Number second) noexcept {
  ThreadEvents *events = nullptr;
  try {
    events = &eventsOfThread();
    std::lock_guard lock(events->mutex);
    // The recording may have ended since the caller looked.
    if (!isOn())
      return;
    if (events->events.size() < mostEventsOfThread)
      events->events.push_back({phase, category, std::string(name), code, begin, duration, {first, second}});
    else
      ++events->dropped;
  } catch (...) {
    if (events)
      ++events->dropped;
  }
}
} // namespace

int64_t now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void recordSpan(const char *category, std::string_view name, const void *code, int64_t begin, Number first,
                Number second) noexcept {
  add('X', category, name, code, begin, now() - begin, first, second);
}
void recordInstant(const char *category, std::string_view name, Number first, Number second) noexcept {
  add('i', category, name, nullptr, now(), 0, first, second);
}
void recordCounter(std::string_view name, Number value) noexcept {
  add('C', "memory", name, nullptr, now(), 0, value, {});
}

bool needsName(const void *code) noexcept {
  std::lock_guard lock(recording().namesMutex);
  return !recording().names.contains(code);
}

void nameCode(const void *code, std::string_view name) noexcept {
  try {
    std::lock_guard lock(recording().namesMutex);
    recording().names.emplace(code, name);
  } catch (...) {
  }
}
} // namespace trace

//===--- The file ------------------------------------------------------------------------------------------------===//

namespace {
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Microseconds, exactly.
std::string microseconds(int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}

void writeEvent(std::FILE *file, const trace::Event &event, std::string_view name, int64_t thread, int64_t begin) {
  std::string line = ",\n{\"ph\":\"" + std::string(1, event.phase) + "\",\"cat\":\"" + event.category +
                     "\",\"name\":" + quoted(name) + ",\"pid\":" + std::to_string(getpid()) +
                     ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + microseconds(event.begin - begin);
  if (event.phase == 'X')
    line += ",\"dur\":" + microseconds(event.duration);
  if (event.phase == 'i')
    line += ",\"s\":\"t\"";
  line += ",\"args\":{";
  bool isFirst = true;
  for (const trace::Number &number : event.numbers) {
    if (!number.name)
      continue;
    line += (isFirst ? "\"" : ",\"") + std::string(number.name) + "\":" + std::to_string(number.value);
    isFirst = false;
  }
  line += "}}";
  std::fwrite(line.data(), 1, line.size(), file);
}

Status writeRecording(const std::string &path, trace::Recording &recording) {
  LATEWOOD_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> output, OutputFile::create(path, "the trace"));
  std::FILE *file = output->stream();
  uint64_t dropped = 0;
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
  std::fprintf(file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":\"latewood\"}}",
               getpid());
  std::lock_guard namesLock(recording.namesMutex);
  for (const std::shared_ptr<trace::ThreadEvents> &thread : recording.threads) {
    std::lock_guard lock(thread->mutex);
    dropped += std::exchange(thread->dropped, 0);
    if (thread->events.empty())
      continue;
    std::string line = ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + std::to_string(getpid()) +
                       ",\"tid\":" + std::to_string(thread->thread) + ",\"args\":{\"name\":" + quoted(thread->name) +
                       "}}";
    std::fwrite(line.data(), 1, line.size(), file);
    for (const trace::Event &event : thread->events) {
      // It began in an earlier recording, and ended after that.
      if (event.begin < recording.begin)
        continue;
      auto named = event.code ? recording.names.find(event.code) : recording.names.end();
      bool hasName = named != recording.names.end() && !named->second.empty();
      writeEvent(file, event, hasName ? named->second : event.name, thread->thread, recording.begin);
    }
    std::vector<trace::Event>().swap(thread->events);
  }
  std::fprintf(file, "\n],\"otherData\":{\"dropped\":%llu}}\n", static_cast<unsigned long long>(dropped));
  return output->commit();
}
} // namespace

bool Trace::isOn() { return trace::isOn(); }

static Status startRecording() {
  trace::Recording &recording = trace::recording();
  std::lock_guard lock(recording.mutex);
  if (recording.isOn)
    return failedPrecondition("a trace is being recorded already");
  for (const std::shared_ptr<trace::ThreadEvents> &thread : recording.threads) {
    std::lock_guard threadLock(thread->mutex);
    thread->events.clear();
    thread->dropped = 0;
  }
  {
    std::lock_guard namesLock(recording.namesMutex);
    recording.names.clear();
  }
  recording.isOn = true;
  recording.begin = trace::now();
  trace::isRecording.store(true);
  return okStatus();
}

Status Trace::start() { return withoutExceptions(startRecording); }

static Status stopRecording(const std::string &path) {
  trace::Recording &recording = trace::recording();
  std::lock_guard lock(recording.mutex);
  if (!recording.isOn)
    return failedPrecondition("no trace is being recorded");
  recording.isOn = false;
  trace::isRecording.store(false);
  Status status = withoutExceptions([&] { return writeRecording(path, recording); });
  // Threads that have ended are not needed any more.
  std::erase_if(recording.threads, [](const auto &thread) { return thread.use_count() == 1; });
  return status;
}

Status Trace::stop(const std::string &path) {
  return withoutExceptions([&] { return stopRecording(path); });
}

} // namespace latewood::runtime
