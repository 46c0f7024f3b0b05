/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The contract between compiled code and the runtime.
 *
 * An image (a small ELF shared object inside an executable file) imports nothing. Each public function of the program
 * is one exported symbol of type `lw_function`; everything that it needs from the outside reaches it through the
 * `lw_call` that it is called with: arguments and constants by address, memory, threads and error reports by a table of
 * callbacks.
 *
 * Rules
 *  - C layout, x86-64 System V calling convention, pointers and int64_t only: the compiler builds the same structures
 * in LLVM IR (compiler/Target/ABI.h), and a static_assert on each side fixes the offsets.
 *  - Entries are only appended; `version` changes when the meaning of an entry does.
 *  - `request`, `shape`, `allocate`, `release` and the two `enqueue` are called by the thread that entered the function
 *    only;
 * `parallel_for`, `fail`, `fail_format` and `has_failed` by any, also from inside of a parallel loop. A loop inside a
 * task runs at once, on the task's own thread.
 *  - A callback never throws and never unwinds through compiled code. Compiled code is nounwind.
 *  - Extents are in elements, sizes in bytes. An i1 takes one byte (0 or 1) in memory.
 */
#ifndef LATEWOOD_FORMAT_ABI_H
#define LATEWOOD_FORMAT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATEWOOD_ABI_VERSION 1

/* Memory that the runtime allocates is aligned to this; a caller's buffer is aligned to its element only. */
#define LATEWOOD_ALIGNMENT 64

/* Slots of `enqueue_alloc` that are none. */
#define LATEWOOD_ON_HOST (-1)
#define LATEWOOD_ON_DEVICE (-2)

typedef struct lw_call lw_call;

/* Tasks [begin, end) of a parallel loop. `scratch` is private to the executing thread for the duration of the call, has
 * the size asked for in parallel_for, is 64-byte aligned, and has undefined contents; it is null where that size is 0.
 */
typedef void (*lw_body)(void *frame, int64_t begin, int64_t end, void *scratch);

/* A buffer that an engine reads or writes: row-major, offset 0. `extents` has an entry for each dimension. */
typedef struct lw_operand {
  void *data;
  const int64_t *extents;
} lw_operand;

typedef struct lw_api {
  uint32_t version; /* LATEWOOD_ABI_VERSION */
  uint32_t size;    /* sizeof(lw_api) of the runtime, so that code can test for appended entries */

  /* Runs body over [0, tasks) on the pool, in any order, in any partition into ranges, and returns when all are done.
   */
  void (*parallel_for)(lw_call *call, lw_body body, void *frame, int64_t tasks, int64_t scratch_bytes);

  /* Output slot `result`: memory of `bytes` bytes. `shape` is null where it is not known yet. Null: failed, and the
   * failure is recorded in the call; the function returns at once. Asking again grows the memory (contents are lost).
   */
  void *(*request)(lw_call *call, int64_t result, int64_t bytes, int64_t alignment, const int64_t *shape);

  /* The final extents of slot `result`, whose value lies in the memory that `request` gave. Called once per result.
   * Nonzero: failed. Not called for results whose type is static. */
  int32_t (*shape)(lw_call *call, int64_t result, const int64_t *extents);

  /* Temporary memory, valid until `release` or until the function returns. Null: failed and recorded. */
  void *(*allocate)(lw_call *call, int64_t bytes, int64_t alignment);
  void (*release)(lw_call *call, void *memory);

  /* Records a failure (a runtime::StatusCode and a message, copied) and returns a nonzero value to return. */
  int32_t (*fail)(lw_call *call, int32_t code, const char *message, int64_t length);

  /* An assertion of the host program does not hold: records invalid arguments with this message, in which {0}, {1} ...
   * stand for `values` in decimal, and returns a nonzero value to return. */
  int32_t (*fail_format)(lw_call *call, const char *message, int64_t length, const int64_t *values, int64_t count);

  /* Runs engine number `engine` of the file (a serialized engine of a vendor library) in destination style: result i is
   * written to outputs[i], whose extents the engine must agree with. When it returns, results are complete. Nonzero:
   * failed and recorded. */
  int32_t (*enqueue)(lw_call *call, int64_t engine, const lw_operand *inputs, int64_t input_count,
                     const lw_operand *outputs, int64_t output_count);

  /* As `enqueue`, but result i gets memory when the engine knows its shape: that of output slot slots[i]; where this is
   * LATEWOOD_ON_HOST, temporary memory of the host, and where it is LATEWOOD_ON_DEVICE, of the engines' device.
   * results[i] then says where it is and which extents it has, valid until the function returns. */
  int32_t (*enqueue_alloc)(lw_call *call, int64_t engine, const lw_operand *inputs, int64_t input_count,
                           const int64_t *slots, lw_operand *results, int64_t result_count);

  /* Nonzero once a failure is recorded. Engine functions return nothing: a host program asks before it acts on what
   * they have computed. */
  int32_t (*has_failed)(lw_call *call);

  /* Temporary memory of the engines' device, valid until `release` or until the function returns. Only engines look at
   * it: its address may be that of an input or an output of `enqueue`. Null: failed and recorded. By the thread that
   * entered the function only. */
  void *(*allocate_device)(lw_call *call, int64_t bytes);
} lw_api;

/* One invocation. Owned by the runtime; compiled code reads it. */
struct lw_call {
  const lw_api *api;
  void *const *arguments;                /* data of argument i, row-major, offset 0 */
  const int64_t *const *argument_shapes; /* extents of argument i (null for rank 0) */
  const void *const *constants;          /* data of constant i of the file, 64-byte aligned */
  void *workspace; /* the function's `workspace_bytes`, 64-byte aligned, undefined contents; may be
                    * null where that is 0 */
};

/* A public function. 0: all results are in their slots. Else the failure is recorded in the call. */
typedef int32_t (*lw_function)(lw_call *call);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATEWOOD_FORMAT_ABI_H */
