// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream of the host: an ordered queue of work with a thread of its own, which starts with the first work that is
// enqueued and ends with the stream. An event marks a point in a stream.
//
// The ordering rule. Work on one stream runs in the order in which it was enqueued, one piece at a time; work on
// different streams is unordered, unless an event orders it. A call of a compiled function that is given a stream takes
// its place in that order.
//
// Errors. When a piece of work fails, the stream goes on; the first failure since the last `sync` is what `sync`
// returns.
//
//   identity   the object; `handle()` is its address, for interfaces that pass integers
//   ownership  reference-counted; dropping the last reference waits for the work enqueued
//   threads    every method may be called on any thread; `sync` not from work on the same stream (an error)
//   processes  a stream that has run work belongs to its process: after a fork, the child makes its own

#ifndef LATEWOOD_RUNTIME_STREAM_H
#define LATEWOOD_RUNTIME_STREAM_H

#include "latewood/runtime/Ref.h"
#include "latewood/runtime/Status.h"

#include <functional>
#include <memory>

namespace latewood::runtime {

class LATEWOOD_API Event final : public RefCounted {
public:
  /// An event of no stream, which becomes ready by `complete`.
  static Ref<Event> create();
  /// Makes an event that was made by `create` ready, once.
  void complete(Status outcome);

  /// True when everything enqueued before the event has run.
  bool isReady() const;
  /// Blocks until then. Returns the first failure of work before the event since the stream's last `sync`, or what
  /// `complete` was given.
  Status wait();

private:
  friend class Stream;
  Event();
  ~Event() override;
  struct State;
  std::shared_ptr<State> state;
};

class LATEWOOD_API Stream final : public RefCounted {
public:
  static StatusOr<Ref<Stream>> create();

  /// Enqueues work and returns at once.
  Status enqueue(std::function<Status()> work);
  /// Runs work on the calling thread, in its place in the order: after what was enqueued before, and before what is
  /// enqueued later. Returns what the work returns, which is not kept for `sync`.
  Status runInOrder(const std::function<Status()> &work);
  /// Blocks until everything enqueued so far has run; returns the first failure since the last `sync`.
  Status sync();
  /// True when nothing is enqueued or running.
  bool isIdle() const;
  StatusOr<Ref<Event>> record();
  /// Work enqueued from now on starts when `event` is ready.
  Status waitFor(const Ref<Event> &event);
  uintptr_t handle() const { return reinterpret_cast<uintptr_t>(this); }
  /// The stream with this handle; null if there is none (any more).
  static Ref<Stream> find(uintptr_t handle);

private:
  Stream();
  ~Stream() override;
  void dispose() override;
  struct State;
  std::shared_ptr<State> state;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_STREAM_H
