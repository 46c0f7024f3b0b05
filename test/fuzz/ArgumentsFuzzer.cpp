// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument path: values of any type, shape and strides are made, sliced, reshaped, sent through DLPack and copied,
// and given to functions as arguments and as places for results, directly and on a stream, through the C interface.
// What does not fit must be refused; what is taken must not touch memory that is not its own. The functions are those
// of the runtime's unit tests. (A window on memory is the caller's word: windows here lie in their memory.)

#include "../unit/runtime/TestExecutable.h"

#include "latewood/runtime/latewood.h"

#include <array>
#include <cstdlib>

namespace {
/// The input as a source of decisions; zeros at its end.
class Decisions {
public:
  Decisions(const uint8_t *data, size_t size) : data(data), left(size) {}

  bool isDone() const { return left == 0; }
  uint8_t byte() {
    if (left == 0)
      return 0;
    --left;
    return *data++;
  }
  /// Mostly small; sometimes at an edge.
  int64_t number() {
    constexpr int64_t edges[] = {INT64_MAX, INT64_MIN, -1, 1LL << 62, 1LL << 32, -4096, 4095, 4096};
    uint8_t choice = byte();
    return choice < 240 ? choice % 8 : edges[choice % 8];
  }

private:
  const uint8_t *data;
  size_t left;
};

struct World {
  latewood_client *client = nullptr;
  latewood_executable *executable = nullptr;
  latewood_session *session = nullptr;
  latewood_stream *stream = nullptr;

  World() {
    auto file = latewood::test::writeFunctions();
    latewood_client_options options = {sizeof options, 1};
    if (latewood_client_create(&options, &client) ||
        latewood_executable_load_memory(file.data(), file.size(), nullptr, &executable) ||
        latewood_session_create(client, executable, &session) || latewood_stream_create(&stream))
      abort();
  }
};

/// Errors have something to say.
bool succeeds(latewood_status *status) {
  if (!status)
    return true;
  if (!latewood_status_get_message(status)[0])
    abort();
  latewood_status_destroy(status);
  return false;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static World world;
  Decisions decisions(data, size);
  std::vector<latewood_buffer *> buffers;
  auto add = [&](latewood_buffer *buffer) { buffers.push_back(buffer); };
  auto any = [&]() -> latewood_buffer * {
    return buffers.empty() ? nullptr : buffers[decisions.byte() % buffers.size()];
  };

  for (int step = 0; step < 64 && !decisions.isDone(); ++step) {
    latewood_buffer *made = nullptr, *other = any();
    std::array<int64_t, 6> shape{}, strides{}, third{};
    switch (decisions.byte() % 8) {
    case 0: { // new memory, or a copy
      int64_t rank = decisions.byte() % 6;
      auto type = static_cast<latewood_element_type>(decisions.byte() % 34);
      double elements = 1;
      for (int64_t d = 0; d < rank; ++d)
        elements *= static_cast<double>(shape[d] = decisions.number());
      // What would be given is not to fill the machine; what cannot be given is to be refused.
      bool isReasonable = elements <= 1 << 16 || elements > 1e15;
      if (isReasonable && succeeds(latewood_buffer_create(world.client, type, rank, shape.data(), &made)))
        add(made);
      break;
    }
    case 1: { // a window that lies in its memory
      int64_t rank = decisions.byte() % 5, first = 0, last = 0;
      auto type = static_cast<latewood_element_type>(decisions.byte() % 34);
      auto bytes = static_cast<int64_t>(latewood_element_type_size(type));
      for (int64_t d = 0; d < rank; ++d) {
        shape[d] = decisions.byte() % 6;
        strides[d] = int64_t(decisions.byte() % 9) - 2;
        (strides[d] < 0 ? first : last) += std::max<int64_t>(0, shape[d] - 1) * strides[d];
      }
      void *memory = nullptr;
      if (posix_memalign(&memory, 64, static_cast<size_t>((last - first + 1) * std::max<int64_t>(1, bytes))) != 0)
        break;
      auto *start = static_cast<uint8_t *>(memory) - first * bytes;
      std::memset(memory, 0, static_cast<size_t>((last - first + 1) * std::max<int64_t>(1, bytes)));
      if (succeeds(latewood_buffer_create_view(world.client, start, type, rank, shape.data(), strides.data(),
                                               decisions.byte() % 2, std::free, memory, &made)))
        add(made);
      break;
    }
    case 2:
      for (size_t d = 0; d < shape.size(); ++d) {
        shape[d] = decisions.number();
        strides[d] = decisions.number();
        third[d] = decisions.number();
      }
      if (other && latewood_buffer_rank(other) <= 6 &&
          succeeds(latewood_buffer_slice(other, shape.data(), strides.data(),
                                         decisions.byte() % 2 ? third.data() : nullptr, &made)))
        add(made);
      break;
    case 3:
      for (int64_t &extent : shape)
        extent = decisions.number();
      if (other && succeeds(latewood_buffer_reshape(other, decisions.byte() % 7, shape.data(), &made)))
        add(made);
      break;
    case 4: {
      DLManagedTensorVersioned *tensor = nullptr;
      if (other && succeeds(latewood_buffer_export_dlpack(other, &tensor)) &&
          succeeds(latewood_buffer_import_dlpack(tensor, &made)))
        add(made);
      break;
    }
    case 5: {
      std::vector<uint8_t> elements(other ? latewood_buffer_size(other) : 0);
      if (other && succeeds(latewood_buffer_read(other, elements.data(), elements.size())))
        succeeds(latewood_buffer_write(other, elements.data(), elements.size()));
      break;
    }
    default: { // a call
      size_t count = latewood_executable_function_count(world.executable);
      const latewood_function *function = latewood_executable_function(world.executable, decisions.byte() % count);
      size_t arguments = latewood_function_argument_count(function), results = latewood_function_result_count(function);
      uint8_t way = decisions.byte();
      if (way % 16 == 0)
        arguments += 1;
      std::vector<latewood_buffer *> given, slots;
      for (size_t i = 0; i < arguments; ++i)
        given.push_back(any());
      for (size_t i = 0; i < results; ++i)
        slots.push_back(decisions.byte() % 2 ? any() : nullptr);
      std::vector<latewood_buffer *> before = slots;
      bool worked = succeeds(way & 32 ? latewood_session_enqueue(world.session, function, given.data(), given.size(),
                                                                 slots.data(), slots.size(), world.stream)
                                      : latewood_session_call(world.session, function, given.data(), given.size(),
                                                              slots.data(), slots.size()));
      if (way & 32)
        succeeds(latewood_stream_synchronize(world.stream));
      if (!worked && slots != before)
        abort();
      for (size_t i = 0; worked && i < results; ++i)
        if (!before[i])
          add(slots[i]);
      break;
    }
    }
  }
  for (latewood_buffer *buffer : buffers)
    latewood_buffer_release(buffer);
  return 0;
}
