// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue of tickets under one mutex. A ticket is either work for the stream's thread, or the turn of a thread that
// waits to run its own work in order. Whoever runs holds `isRunning`; the head of the queue decides who is next.

#include "latewood/runtime/Stream.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/FaultInjection.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <unordered_set>

namespace latewood::runtime {

//===--- Events --------------------------------------------------------------------------------------------------===//

struct Event::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool isReady = false;
  Status failure;
};

Event::Event() : state(std::make_shared<State>()) {}
Event::~Event() = default;

Ref<Event> Event::create() { return Ref<Event>::adopt(new Event); }

void Event::complete(Status outcome) {
  std::lock_guard lock(state->mutex);
  state->isReady = true;
  state->failure = std::move(outcome);
  state->changed.notify_all();
}

bool Event::isReady() const {
  std::lock_guard lock(state->mutex);
  return state->isReady;
}

Status Event::wait() {
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->isReady; });
  return state->failure;
}

//===--- Streams -------------------------------------------------------------------------------------------------===//

struct Stream::State {
  struct Ticket {
    /// Empty: the turn of a waiting thread.
    std::function<Status()> work;
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Ticket> queue;
  bool isRunning = false;
  bool isStopping = false;
  Status failure;
  std::thread thread;
  /// The process that has the thread.
  pid_t process = 0;

  bool isIdle() const { return queue.empty() && !isRunning; }
  /// After a fork: the thread is not in this process.
  bool hasLostThread() const { return thread.joinable() && process != getpid(); }

  /// The stream's thread. Ends when the stream is stopping and nothing is left.
  static void serve(std::shared_ptr<State> state) {
    std::unique_lock lock(state->mutex);
    while (true) {
      state->changed.wait(lock, [&] {
        bool hasWork = !state->queue.empty() && state->queue.front().work;
        return !state->isRunning && (hasWork || (state->isStopping && state->queue.empty()));
      });
      if (state->queue.empty())
        return;
      std::function<Status()> work = std::move(state->queue.front().work);
      state->queue.pop_front();
      state->isRunning = true;
      lock.unlock();
      Status status = withoutExceptions(work);
      // What the work holds is dropped before it counts as done.
      work = nullptr;
      lock.lock();
      if (state->failure.isOk())
        state->failure = std::move(status);
      state->isRunning = false;
      state->changed.notify_all();
    }
  }

  Status push(std::unique_lock<std::mutex> &, std::function<Status()> work) {
    if (hasLostThread())
      return failedPrecondition(
          "stream: its thread is in the process that this one was forked from; make a new stream");
    if (!thread.joinable()) {
      if (faults::strike())
        return unavailable("cannot start the thread of a stream: none is left");
      // Not reached through `this` but kept alive by the thread itself.
      try {
        thread = std::thread(serve, self.lock());
        process = getpid();
      } catch (const std::system_error &error) {
        return unavailable(std::string("cannot start the thread of a stream: ") + error.what());
      }
    }
    queue.push_back({std::move(work)});
    changed.notify_all();
    return okStatus();
  }

  std::weak_ptr<State> self;
};

Stream::Stream() : state(std::make_shared<State>()) { state->self = state; }

Stream::~Stream() {
  std::thread thread;
  {
    std::lock_guard lock(state->mutex);
    state->isStopping = true;
    // There is nobody to join.
    if (state->hasLostThread()) {
      (void)new std::thread(std::move(state->thread));
      return;
    }
    thread = std::move(state->thread);
    state->changed.notify_all();
  }
  if (!thread.joinable())
    return;
  // The last reference may go in work on the stream itself, whose thread then ends on its own.
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

namespace {
/// The streams that live, so that a handle from outside can be looked up and not merely believed.
struct Registry {
  std::mutex mutex;
  std::unordered_set<uintptr_t> handles;
};
Registry &registry() {
  // Never destroyed: streams may outlive static objects.
  static auto *instance = new Registry;
  return *instance;
}
} // namespace

StatusOr<Ref<Stream>> Stream::create() {
  return withoutExceptions([&]() -> StatusOr<Ref<Stream>> {
    auto stream = Ref<Stream>::adopt(new Stream);
    std::lock_guard lock(registry().mutex);
    registry().handles.insert(stream->handle());
    return stream;
  });
}

Ref<Stream> Stream::find(uintptr_t handle) {
  std::lock_guard lock(registry().mutex);
  return registry().handles.contains(handle) ? Ref<Stream>::share(reinterpret_cast<Stream *>(handle)) : nullptr;
}

void Stream::dispose() {
  {
    std::lock_guard lock(registry().mutex);
    // Found again after the last reference had gone.
    if (referenceCount() != 0)
      return;
    registry().handles.erase(handle());
  }
  delete this;
}

Status Stream::enqueue(std::function<Status()> work) {
  return withoutExceptions([&]() -> Status {
    if (!work)
      return invalidArgument("stream: the work to enqueue is empty");
    std::unique_lock lock(state->mutex);
    return state->push(lock, std::move(work));
  });
}

Status Stream::runInOrder(const std::function<Status()> &work) {
  return withoutExceptions([&]() -> Status {
    std::unique_lock lock(state->mutex);
    if (state->thread.get_id() == std::this_thread::get_id()) {
      // Work on the stream is already in order.
      lock.unlock();
      return withoutExceptions(work);
    }
    if (!state->isIdle()) {
      state->queue.push_back({});
      const State::Ticket *turn = &state->queue.back();
      state->changed.wait(lock, [&] { return !state->isRunning && &state->queue.front() == turn; });
      state->queue.pop_front();
    }
    state->isRunning = true;
    lock.unlock();
    Status status = withoutExceptions(work);
    lock.lock();
    state->isRunning = false;
    state->changed.notify_all();
    return status;
  });
}

Status Stream::sync() {
  return withoutExceptions([&]() -> Status {
    // Idle streams are the common case, and need no thread.
    {
      std::lock_guard lock(state->mutex);
      if (state->thread.get_id() == std::this_thread::get_id())
        return failedPrecondition("stream: work on a stream cannot wait for the stream");
      if (state->isIdle())
        return std::exchange(state->failure, okStatus());
    }
    Status failure;
    Status status = runInOrder([&] {
      std::lock_guard lock(state->mutex);
      failure = std::exchange(state->failure, okStatus());
      return okStatus();
    });
    return status.isOk() ? failure : status;
  });
}

bool Stream::isIdle() const {
  std::lock_guard lock(state->mutex);
  return state->isIdle();
}

StatusOr<Ref<Event>> Stream::record() {
  return withoutExceptions([&]() -> StatusOr<Ref<Event>> {
    Ref<Event> event = Event::create();
    std::unique_lock lock(state->mutex);
    if (state->isIdle()) {
      event->complete(state->failure);
      return event;
    }
    std::weak_ptr<State> stream = state;
    LATEWOOD_RETURN_IF_ERROR(state->push(lock, [event, stream] {
      Status failure;
      if (std::shared_ptr<State> owner = stream.lock()) {
        std::lock_guard guard(owner->mutex);
        failure = owner->failure;
      }
      event->complete(std::move(failure));
      return okStatus();
    }));
    return event;
  });
}

Status Stream::waitFor(const Ref<Event> &event) {
  return withoutExceptions([&]() -> Status {
    if (!event)
      return invalidArgument("stream: there is no event to wait for");
    if (event->isReady())
      return okStatus();
    return enqueue([event] {
      // A failure belongs to the stream where it happened.
      (void)event->wait();
      return okStatus();
    });
  });
}

} // namespace latewood::runtime
