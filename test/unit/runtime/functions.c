/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Public functions as the compiler would emit them, one for each thing that a session must get right. Their signatures are
 * in TestExecutable.cpp.
 */
#include "latewood/format/abi.h"

#define EXPORT __attribute__((visibility("default")))
#define SLOT(type, result, count) ((type *)request(call, result, (count) * (int64_t)sizeof(type)))

static void *request(lw_call *call, int64_t result, int64_t bytes) {
  return call->api->request(call, result, bytes, 64, 0);
}

static void copy(void *to, const void *from, int64_t bytes) {
  for (volatile int64_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
}

static int32_t fail(lw_call *call, int32_t code, const char *message) {
  int64_t length = 0;
  while (message[length])
    ++length;
  return call->api->fail(call, code, message, length);
}

/* (4xf32, 4xf32) -> 4xf32: a + b + constant 0 */
EXPORT int32_t f_add(lw_call *call) {
  const float *a = call->arguments[0], *b = call->arguments[1], *c = call->constants[0];
  float *out = SLOT(float, 0, 4);
  if (!out)
    return 1;
  for (int i = 0; i < 4; ++i)
    out[i] = a[i] + b[i] + c[i];
  return 0;
}

/* (4xf32, 4xf32) -> (4xf32, 4xf32): the arguments, swapped. Results are requested first. */
EXPORT int32_t f_swap(lw_call *call) {
  float *x = SLOT(float, 0, 4), *y = SLOT(float, 1, 4);
  if (!x || !y)
    return 1;
  copy(x, call->arguments[1], 16);
  copy(y, call->arguments[0], 16);
  return 0;
}

/* (8xf32) -> 8xf32: reversed; wrong if written over its argument. */
EXPORT int32_t f_reverse(lw_call *call) {
  const float *a = call->arguments[0];
  float *out = SLOT(float, 0, 8);
  if (!out)
    return 1;
  for (int i = 0; i < 8; ++i)
    out[i] = a[7 - i];
  return 0;
}

/* (8xf32) -> 8xf32: doubled; right at the same address, and the signature says so. */
EXPORT int32_t f_double(lw_call *call) {
  const float *a = call->arguments[0];
  float *out = SLOT(float, 0, 8);
  if (!out)
    return 1;
  for (int i = 0; i < 8; ++i)
    out[i] = 2 * a[i];
  return 0;
}

/* (?xf32) -> ?xf32: the positive elements. Memory is requested before the length is known. */
EXPORT int32_t f_positive(lw_call *call) {
  const float *a = call->arguments[0];
  int64_t n = call->argument_shapes[0][0], count = 0;
  float *out = SLOT(float, 0, n);
  if (!out)
    return 1;
  for (int64_t i = 0; i < n; ++i)
    if (a[i] > 0)
      out[count++] = a[i];
  return call->api->shape(call, 0, &count);
}

/* (?x2xf32) -> ?x2xf32: negated. The shape is known at the request. */
EXPORT int32_t f_negate(lw_call *call) {
  const float *a = call->arguments[0];
  int64_t shape[2] = {call->argument_shapes[0][0], 2}, n = 2 * shape[0];
  float *out = call->api->request(call, 0, n * 4, 64, shape);
  if (!out)
    return 1;
  for (int64_t i = 0; i < n; ++i)
    out[i] = -a[i];
  return call->api->shape(call, 0, shape);
}

/* (i64) -> ?xi64: 0, 1, … n-1, grown in steps: asking again loses the contents. */
EXPORT int32_t f_grow(lw_call *call) {
  int64_t n = *(const int64_t *)call->arguments[0];
  if (!SLOT(int64_t, 0, 1))
    return 1;
  int64_t *out = SLOT(int64_t, 0, n);
  if (!out)
    return 1;
  for (int64_t i = 0; i < n; ++i)
    out[i] = i;
  return call->api->shape(call, 0, &n);
}

/* (i64) -> (1xi64): the shape of what f_grow gives. */
EXPORT int32_t f_length(lw_call *call) {
  int64_t *extents = SLOT(int64_t, 0, 1);
  if (!extents)
    return 1;
  extents[0] = *(const int64_t *)call->arguments[0];
  return 0;
}

/* (f32, i1) -> (f32, i1, 0xf32): scalars and an empty result. */
EXPORT int32_t f_scalars(lw_call *call) {
  float *x = SLOT(float, 0, 1);
  char *y = SLOT(char, 1, 1);
  if (!x || !y || !SLOT(float, 2, 0))
    return 1;
  *x = *(const float *)call->arguments[0] + 1;
  *y = !*(const char *)call->arguments[1];
  return call->argument_shapes[0] == 0 ? 0 : 1;
}

/* (i32) -> i32: fails for negative numbers, else gives the argument. */
EXPORT int32_t f_check(lw_call *call) {
  int32_t x = *(const int32_t *)call->arguments[0];
  int32_t *out = SLOT(int32_t, 0, 1);
  if (!out)
    return 1;
  *out = x;
  return x < 0 ? fail(call, 1, "the number must not be negative") : 0;
}

/* () -> f32: returns without a result. */
EXPORT int32_t f_forget(lw_call *call) { return 0; }

/* () -> f32: requests too little, then nothing of its own. */
EXPORT int32_t f_short(lw_call *call) {
  call->api->request(call, 0, 1, 64, 0);
  return 0;
}

/* () -> (): asks for a result that there is not. */
EXPORT int32_t f_range(lw_call *call) { return call->api->request(call, 5, 4, 64, 0) ? 0 : 1; }

/* (64xf32) -> 64xf32: through temporaries and the workspace. */
EXPORT int32_t f_temporaries(lw_call *call) {
  float *out = SLOT(float, 0, 64);
  float *a = call->api->allocate(call, 256, 64), *b = call->api->allocate(call, 256, 256);
  if (!out || !a || !b || (int64_t)b % 256 != 0 || (int64_t)call->workspace % 64 != 0)
    return 1;
  float *w = call->workspace;
  for (int i = 0; i < 64; ++i)
    a[i] = ((const float *)call->arguments[0])[i] + 1;
  for (int i = 0; i < 64; ++i)
    w[i] = a[i] * 2;
  call->api->release(call, a);
  for (int i = 0; i < 64; ++i)
    b[i] = w[i] + 1;
  copy(out, b, 256);
  return 0; /* b is left to the runtime */
}

/* An engine function: out is 0, 1, ... Without memory of its own it does nothing, and the call knows. */
static void count_up(lw_call *call, int64_t *out, int64_t n) {
  int64_t *own = call->api->allocate(call, 8 * n, 64);
  if (!own)
    return;
  for (int64_t i = 0; i < n; ++i)
    own[i] = i;
  copy(out, own, 8 * n);
  call->api->release(call, own);
}

/* (i64) -> ?xi64: 0, 1, ... n-1, by a loop as compiled programs have it, that makes what it carries anew each time. */
EXPORT int32_t f_generations(lw_call *call) {
  int64_t n = *(const int64_t *)call->arguments[0], m = 0;
  int64_t *x = call->api->allocate(call, 0, 64);
  if (!x)
    return 1;
  while (m < n) {
    int64_t *y = call->api->allocate(call, 8 * (m + 1), 64);
    if (!y)
      return 1;
    count_up(call, y, ++m);
    if (call->api->has_failed(call))
      return 1;
    call->api->release(call, x);
    x = y;
  }
  int64_t *out = call->api->request(call, 0, 8 * m, 8, &m);
  if (!out)
    return 1;
  copy(out, x, 8 * m);
  call->api->release(call, x);
  return 0;
}

/* (f32, f32) -> f32: the product, which is a denormal number where the test wants one. */
EXPORT int32_t f_multiply(lw_call *call) {
  float *out = SLOT(float, 0, 1);
  if (!out)
    return 1;
  *out = *(const float *)call->arguments[0] * *(const float *)call->arguments[1];
  return 0;
}

struct frame {
  lw_call *call;
  const float *in;
  float *out;
};

static void squares(void *frame, int64_t begin, int64_t end, void *scratch) {
  struct frame *f = frame;
  float *row = scratch;
  for (int64_t task = begin; task < end; ++task) {
    for (int i = 0; i < 64; ++i)
      row[i] = f->in[64 * task + i];
    for (int i = 0; i < 64; ++i)
      f->out[64 * task + i] = row[i] * row[i];
  }
}

/* (1024x64xf32) -> 1024x64xf32: squares, in parallel. */
EXPORT int32_t f_squares(lw_call *call) {
  struct frame frame = {call, call->arguments[0], SLOT(float, 0, 1024 * 64)};
  if (!frame.out)
    return 1;
  call->api->parallel_for(call, squares, &frame, 1024, 256);
  return 0;
}

static void inner(void *frame, int64_t begin, int64_t end, void *scratch) {
  float *memory = scratch;
  for (int64_t i = begin; i < end; ++i) {
    memory[0] = ((float *)frame)[i];
    ((float *)frame)[i] = memory[0] + 1;
  }
}

static void outer(void *frame, int64_t begin, int64_t end, void *scratch) {
  struct frame *f = frame;
  float *row = scratch;
  for (int64_t task = begin; task < end; ++task) {
    for (int i = 0; i < 64; ++i)
      row[i] = f->in[64 * task + i];
    f->call->api->parallel_for(f->call, inner, row, 64, 256);
    for (int i = 0; i < 64; ++i)
      f->out[64 * task + i] = row[i];
  }
}

/* (1024x64xf32) -> 1024x64xf32: plus one, by a parallel loop inside a parallel loop. */
EXPORT int32_t f_nested(lw_call *call) {
  struct frame frame = {call, call->arguments[0], SLOT(float, 0, 1024 * 64)};
  if (!frame.out)
    return 1;
  call->api->parallel_for(call, outer, &frame, 1024, 256);
  return 0;
}

static void failing(void *frame, int64_t begin, int64_t end, void *scratch) { fail(frame, 1, "a task failed"); }

/* () -> (): every task fails. */
EXPORT int32_t f_failing_tasks(lw_call *call) {
  call->api->parallel_for(call, failing, call, 256, 0);
  return 0;
}

static int32_t plus1(int32_t x) { return x + 1; }
static int32_t times2(int32_t x) { return x * 2; }
static int32_t minus3(int32_t x) { return x - 3; }
static int32_t (*const volatile table[])(int32_t) = {plus1, times2, minus3, plus1, times2, minus3};

/* (i32) -> i32: through a table of addresses, which needs relocations. */
EXPORT int32_t f_table(lw_call *call) {
  int32_t x = *(const int32_t *)call->arguments[0];
  int32_t *out = SLOT(int32_t, 0, 1);
  if (!out)
    return 1;
  for (int i = 0; i < 6; ++i)
    x = table[i](x);
  *out = x;
  return 0;
}

/* () -> (): does nothing. */
EXPORT int32_t f_nothing(lw_call *call) { return 0; }
