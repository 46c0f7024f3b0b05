/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Host programs that run engines, as the compiler would emit them.
 */
#include "latewood/format/abi.h"

#define EXPORT __attribute__((visibility("default")))

/* (?xf32) -> ?xf32: engine 0, which allocates, into output slot 0. */
EXPORT int32_t h_allocating(lw_call *call) {
  lw_operand input = {call->arguments[0], call->argument_shapes[0]}, result;
  int64_t slot = 0;
  return call->api->enqueue_alloc(call, 0, &input, 1, &slot, &result, 1);
}

/* (?xf32) -> ?xf32: engine 0 feeds itself: the first result is temporary memory. */
EXPORT int32_t h_twice(lw_call *call) {
  lw_operand input = {call->arguments[0], call->argument_shapes[0]}, middle, result;
  int64_t slots[2] = {-1, 0};
  if (call->api->enqueue_alloc(call, 0, &input, 1, &slots[0], &middle, 1))
    return 1;
  return call->api->enqueue_alloc(call, 0, &middle, 1, &slots[1], &result, 1);
}

/* (4xf32, 4xf32) -> 4xf32: engine 1, in destination style. */
EXPORT int32_t h_given(lw_call *call) {
  static const int64_t extents[1] = {4};
  lw_operand inputs[2] = {{call->arguments[0], extents}, {call->arguments[1], extents}};
  lw_operand output = {call->api->request(call, 0, 16, 64, 0), extents};
  return output.data ? call->api->enqueue(call, 1, inputs, 2, &output, 1) : 1;
}

/* (4xf32, 4xf32) -> 3xf32: engine 1 gives four elements, and there is memory for three. */
EXPORT int32_t h_mistaken(lw_call *call) {
  static const int64_t extents[1] = {4}, three[1] = {3};
  lw_operand inputs[2] = {{call->arguments[0], extents}, {call->arguments[1], extents}};
  lw_operand output = {call->api->request(call, 0, 12, 64, 0), three};
  return output.data ? call->api->enqueue(call, 1, inputs, 2, &output, 1) : 1;
}

/* (4xf32, 4xf32) -> 4xf32: engine 1 feeds itself on the device, in destination style. */
EXPORT int32_t h_given_on_device(lw_call *call) {
  static const int64_t extents[1] = {4};
  lw_operand inputs[2] = {{call->arguments[0], extents}, {call->arguments[1], extents}};
  lw_operand middle = {call->api->allocate_device(call, 16), extents};
  if (!middle.data || call->api->enqueue(call, 1, inputs, 2, &middle, 1))
    return 1;
  inputs[0] = middle;
  lw_operand output = {call->api->request(call, 0, 16, 64, 0), extents};
  if (!output.data || call->api->enqueue(call, 1, inputs, 2, &output, 1))
    return 1;
  call->api->release(call, middle.data);
  return 0;
}

/* (?xf32) -> ?xf32: engine 0 feeds itself on the device, and allocates there. */
EXPORT int32_t h_allocating_on_device(lw_call *call) {
  lw_operand input = {call->arguments[0], call->argument_shapes[0]}, middle, result;
  int64_t slots[2] = {LATEWOOD_ON_DEVICE, 0};
  if (call->api->enqueue_alloc(call, 0, &input, 1, &slots[0], &middle, 1))
    return 1;
  return call->api->enqueue_alloc(call, 0, &middle, 1, &slots[1], &result, 1);
}

/* (4xf32, 4xf32) -> 4xf32: engine 1 allocates on the device what it could have been given. */
EXPORT int32_t h_static_on_device(lw_call *call) {
  static const int64_t extents[1] = {4};
  lw_operand inputs[2] = {{call->arguments[0], extents}, {call->arguments[1], extents}}, middle;
  int64_t slot = LATEWOOD_ON_DEVICE;
  if (call->api->enqueue_alloc(call, 1, inputs, 2, &slot, &middle, 1))
    return 1;
  inputs[0] = middle;
  lw_operand output = {call->api->request(call, 0, 16, 64, 0), extents};
  return output.data ? call->api->enqueue(call, 1, inputs, 2, &output, 1) : 1;
}

/* (4xf32, 4xf32) -> 4xf32: engine 1 gives four elements, and there is memory for three on the device. */
EXPORT int32_t h_mistaken_on_device(lw_call *call) {
  static const int64_t extents[1] = {4}, many[1] = {4000};
  lw_operand inputs[2] = {{call->arguments[0], extents}, {call->arguments[1], extents}};
  lw_operand middle = {call->api->allocate_device(call, 12), many};
  return middle.data ? call->api->enqueue(call, 1, inputs, 2, &middle, 1) : 1;
}

/* (i64) -> ?xi64: engine 2, whose input is a tensor of the host. */
EXPORT int32_t h_counting(lw_call *call) {
  lw_operand input = {call->arguments[0], 0}, result;
  int64_t slot = 0;
  return call->api->enqueue_alloc(call, 2, &input, 1, &slot, &result, 1);
}

/* (i64) -> ?xi64: engine 3 computes that input on the device. */
EXPORT int32_t h_counting_on_device(lw_call *call) {
  lw_operand input = {call->arguments[0], 0}, length, result;
  int64_t slots[2] = {LATEWOOD_ON_DEVICE, 0};
  if (call->api->enqueue_alloc(call, 3, &input, 1, &slots[0], &length, 1))
    return 1;
  length.extents = 0;
  return call->api->enqueue_alloc(call, 2, &length, 1, &slots[1], &result, 1);
}
