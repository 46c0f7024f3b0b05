/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface of the runtime: load an executable file, look at its functions, call them. C11; the C++ and Python
 * interfaces stand on the same core, and objects are the same objects.
 *
 *   identity   A handle is the address of an object. Two handles are equal when they name the same object.
 *   ownership  Objects are counted. A function that puts a handle into `*out` gives the caller one reference, which
 *              `latewood_X_release` gives back; `latewood_X_retain` adds one. Releasing NULL does nothing. Objects keep
 *              what they need: a session its client and its executable; a buffer its memory, whatever becomes of the
 *              session that made it. They may be released in any order, on any thread. Arguments are borrowed for the
 *              duration of a call, unless said otherwise. A `const char *`, `const int64_t *` or `latewood_function *`
 *              that is returned lives as long as the object that it was asked of.
 *   errors     Functions that can fail return a status: NULL for success, or else an object with a code and a message,
 *              which the caller destroys. On failure nothing has happened: `*out` is as it was. No exception leaves the
 *              library, and NULL where an object is expected is an error and not a crash. Functions that cannot fail
 *              return their value, and take no NULL.
 *   threads    Every function may be called on any thread. A session makes one call at a time (a second thread waits);
 *              different sessions run in parallel. The elements of a buffer are the caller's to synchronize.
 *   units      Sizes are in bytes; extents and strides in elements. Elements take whole bytes in memory: an i1 one
 * byte, 0 or 1. versions   LATEWOOD_C_API_VERSION goes up when something is added; nothing is changed or taken away. A
 * structure begins with `struct_size`, which the caller sets to sizeof: the library reads and writes no more than that,
 * so that programs built against an older header go on working.
 */
#ifndef LATEWOOD_RUNTIME_LATEWOOD_H
#define LATEWOOD_RUNTIME_LATEWOOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATEWOOD_C_API_VERSION 2
#define LATEWOOD_C_API __attribute__((visibility("default")))

/* The LATEWOOD_C_API_VERSION that the library was built with, which is at least that of this header. */
LATEWOOD_C_API uint32_t latewood_c_api_version(void);
/* The version of the library, "0.1.0". */
LATEWOOD_C_API const char *latewood_version(void);

typedef struct latewood_status latewood_status;
typedef struct latewood_client latewood_client;
typedef struct latewood_executable latewood_executable;
typedef struct latewood_function latewood_function;
typedef struct latewood_buffer latewood_buffer;
typedef struct latewood_session latewood_session;
typedef struct latewood_stream latewood_stream;
typedef struct latewood_event latewood_event;

/* ---- Statuses ---------------------------------------------------------------------------------------------------- */

typedef int32_t latewood_status_code;
enum {
  LATEWOOD_OK = 0,
  LATEWOOD_INVALID_ARGUMENT = 1,    /* the caller gave something that cannot be taken */
  LATEWOOD_NOT_FOUND = 2,           /* a file, function or library that does not exist */
  LATEWOOD_OUT_OF_MEMORY = 3,       /* the system gave no memory */
  LATEWOOD_UNIMPLEMENTED = 4,       /* valid, but this build or this machine cannot do it */
  LATEWOOD_DATA_CORRUPTION = 5,     /* a file whose contents are not what they were when written */
  LATEWOOD_FAILED_PRECONDITION = 6, /* valid, but not in this state: a donated buffer, for example */
  LATEWOOD_UNAVAILABLE = 7,         /* the machine lacks something: a CPU feature, a device */
  LATEWOOD_INTERNAL = 8             /* a fault of the library or of the compiler */
};

/* LATEWOOD_OK for NULL. */
LATEWOOD_C_API latewood_status_code latewood_status_get_code(const latewood_status *status);
/* "function 'main', argument 0: ...", without the code. "" for NULL. */
LATEWOOD_C_API const char *latewood_status_get_message(const latewood_status *status);
LATEWOOD_C_API void latewood_status_destroy(latewood_status *status);
/* "InvalidArgument", "NotFound", ... */
LATEWOOD_C_API const char *latewood_status_code_name(latewood_status_code code);

/* ---- Element types ----------------------------------------------------------------------------------------------- */

/* Spelled as in StableHLO. */
typedef int32_t latewood_element_type;
enum {
  LATEWOOD_TYPE_invalid = 0,
  LATEWOOD_TYPE_i1 = 1,
  LATEWOOD_TYPE_i2 = 2,
  LATEWOOD_TYPE_i4 = 3,
  LATEWOOD_TYPE_i8 = 4,
  LATEWOOD_TYPE_i16 = 5,
  LATEWOOD_TYPE_i32 = 6,
  LATEWOOD_TYPE_i64 = 7,
  LATEWOOD_TYPE_ui2 = 8,
  LATEWOOD_TYPE_ui4 = 9,
  LATEWOOD_TYPE_ui8 = 10,
  LATEWOOD_TYPE_ui16 = 11,
  LATEWOOD_TYPE_ui32 = 12,
  LATEWOOD_TYPE_ui64 = 13,
  LATEWOOD_TYPE_f4E2M1FN = 14,
  LATEWOOD_TYPE_f6E2M3FN = 15,
  LATEWOOD_TYPE_f6E3M2FN = 16,
  LATEWOOD_TYPE_f8E3M4 = 17,
  LATEWOOD_TYPE_f8E4M3 = 18,
  LATEWOOD_TYPE_f8E4M3B11FNUZ = 19,
  LATEWOOD_TYPE_f8E4M3FN = 20,
  LATEWOOD_TYPE_f8E4M3FNUZ = 21,
  LATEWOOD_TYPE_f8E5M2 = 22,
  LATEWOOD_TYPE_f8E5M2FNUZ = 23,
  LATEWOOD_TYPE_f8E8M0FNU = 24,
  LATEWOOD_TYPE_bf16 = 25,
  LATEWOOD_TYPE_f16 = 26,
  LATEWOOD_TYPE_f32 = 27,
  LATEWOOD_TYPE_f64 = 28,
  LATEWOOD_TYPE_complex_f32 = 29,
  LATEWOOD_TYPE_complex_f64 = 30
};

/* "f32", "complex<f64>"; "invalid" for a number that is no type. */
LATEWOOD_C_API const char *latewood_element_type_name(latewood_element_type type);
/* Bytes of one element in a buffer; 0 for a number that is no type. */
LATEWOOD_C_API size_t latewood_element_type_size(latewood_element_type type);

/* ---- Client: the threads, the devices, the memory counters. One for each process is the usual number. --------------
 */

typedef struct latewood_client_options {
  size_t struct_size;
  /* Threads for parallel loops, the calling one included. 0: the environment variable LATEWOOD_NUM_THREADS, or else the
   * processors that this process may use. */
  int32_t thread_count;
} latewood_client_options;

/* `options` may be NULL. */
LATEWOOD_C_API latewood_status *latewood_client_create(const latewood_client_options *options, latewood_client **out);
LATEWOOD_C_API void latewood_client_retain(latewood_client *client);
LATEWOOD_C_API void latewood_client_release(latewood_client *client);
LATEWOOD_C_API int32_t latewood_client_thread_count(const latewood_client *client);

typedef struct latewood_client_statistics {
  size_t struct_size;
  /* Memory of buffers and sessions of the client: how often the system was asked and given back to; bytes now, and the
   * most there were. */
  uint64_t system_allocations, system_releases;
  int64_t system_live_bytes, system_peak_bytes;
} latewood_client_statistics;

LATEWOOD_C_API latewood_status *latewood_client_get_statistics(const latewood_client *client,
                                                               latewood_client_statistics *statistics);

/* ---- Executables: immutable, shared freely between sessions and threads --------------------------------------------
 */

typedef struct latewood_load_options {
  size_t struct_size;
  /* Nonzero: verify the checksums of constants, too, which reads the whole file. */
  int32_t verify_fully;
  /* Nonzero: open the file to look at it, without loading code: a file for another machine opens, too. Sessions refuse
   * it. */
  int32_t inspect_only;
} latewood_load_options;

/* Maps a file, which must not be changed in place while it is in use (replacing it by renaming is fine). An executable
 * is code: it is verified to be intact and to fit this machine, and then trusted. `options` may be NULL. */
LATEWOOD_C_API latewood_status *latewood_executable_load(const char *path, const latewood_load_options *options,
                                                         latewood_executable **out);
/* Opens a file in memory, from a copy. */
LATEWOOD_C_API latewood_status *latewood_executable_load_memory(const void *bytes, size_t size,
                                                                const latewood_load_options *options,
                                                                latewood_executable **out);
LATEWOOD_C_API void latewood_executable_retain(latewood_executable *executable);
LATEWOOD_C_API void latewood_executable_release(latewood_executable *executable);

LATEWOOD_C_API const char *latewood_executable_name(const latewood_executable *executable);
LATEWOOD_C_API size_t latewood_executable_function_count(const latewood_executable *executable);
/* NULL if there are not so many. Functions are borrowed: they live as long as their executable. */
LATEWOOD_C_API const latewood_function *latewood_executable_function(const latewood_executable *executable,
                                                                     size_t index);
/* Fails with LATEWOOD_NOT_FOUND and the names that there are. */
LATEWOOD_C_API latewood_status *latewood_executable_find_function(const latewood_executable *executable,
                                                                  const char *name, const latewood_function **out);

/* An extent that is known only when the program runs. */
#define LATEWOOD_DYNAMIC_EXTENT (-1)

/* What a function takes or gives: a row-major array without gaps. */
typedef struct latewood_value_info {
  size_t struct_size;
  const char *name; /* in the source program; may be "" */
  latewood_element_type type;
  int64_t rank;
  const int64_t *shape; /* `rank` extents, LATEWOOD_DYNAMIC_EXTENT where unknown; NULL for rank 0 */
  /* Bounds of the extents and the extents that the code is tuned for, `rank` of each; NULL where there are none. */
  const int64_t *min_shape, *opt_shape, *max_shape;
  /* Nonzero for an argument whose memory the call takes away: the buffer cannot be used again. */
  int32_t is_donated;
} latewood_value_info;

LATEWOOD_C_API const char *latewood_function_name(const latewood_function *function);
LATEWOOD_C_API size_t latewood_function_argument_count(const latewood_function *function);
LATEWOOD_C_API size_t latewood_function_result_count(const latewood_function *function);
LATEWOOD_C_API latewood_status *latewood_function_argument(const latewood_function *function, size_t index,
                                                           latewood_value_info *info);
LATEWOOD_C_API latewood_status *latewood_function_result(const latewood_function *function, size_t index,
                                                         latewood_value_info *info);

/* ---- Buffers: typed, shaped arrays ------------------------------------------------------------------------------- */

/* New memory, 64-byte aligned, row-major, contents undefined. `shape` has `rank` extents; NULL for rank 0. */
LATEWOOD_C_API latewood_status *latewood_buffer_create(latewood_client *client, latewood_element_type type,
                                                       int64_t rank, const int64_t *shape, latewood_buffer **out);
/* New memory with a copy of the elements at `data`. `strides` in elements; NULL: row-major without gaps. */
LATEWOOD_C_API latewood_status *latewood_buffer_create_copy(latewood_client *client, const void *data,
                                                            latewood_element_type type, int64_t rank,
                                                            const int64_t *shape, const int64_t *strides,
                                                            latewood_buffer **out);

/* Called once, on the thread that drops the last reference to the memory. */
typedef void (*latewood_release_callback)(void *context);

/* A window on the caller's memory, which must live until `release` has been called (also when this function fails).
 * `data` is aligned to the element, and may be NULL only when there are no elements. `release` may be NULL where the
 * memory outlives everything. Functions take buffers without gaps; others can be copied. A read-only buffer can be an
 * argument, and not a result. */
LATEWOOD_C_API latewood_status *latewood_buffer_create_view(latewood_client *client, void *data,
                                                            latewood_element_type type, int64_t rank,
                                                            const int64_t *shape, const int64_t *strides,
                                                            int32_t is_read_only, latewood_release_callback release,
                                                            void *context, latewood_buffer **out);
LATEWOOD_C_API void latewood_buffer_retain(latewood_buffer *buffer);
LATEWOOD_C_API void latewood_buffer_release(latewood_buffer *buffer);

LATEWOOD_C_API latewood_element_type latewood_buffer_type(const latewood_buffer *buffer);
LATEWOOD_C_API int64_t latewood_buffer_rank(const latewood_buffer *buffer);
/* `rank` entries each. */
LATEWOOD_C_API const int64_t *latewood_buffer_shape(const latewood_buffer *buffer);
LATEWOOD_C_API const int64_t *latewood_buffer_strides(const latewood_buffer *buffer);
LATEWOOD_C_API int64_t latewood_buffer_element_count(const latewood_buffer *buffer);
/* Bytes of the elements, without gaps between them. */
LATEWOOD_C_API size_t latewood_buffer_size(const latewood_buffer *buffer);
LATEWOOD_C_API int32_t latewood_buffer_is_read_only(const latewood_buffer *buffer);
/* Address of the first element. The elements of a result of `latewood_session_enqueue` are there after
 * `latewood_buffer_wait`. */
LATEWOOD_C_API void *latewood_buffer_data(const latewood_buffer *buffer);

/* The elements start[d] + i * step[d] below limit[d] of each dimension, as a buffer on the same memory, which it keeps
 * (also when `buffer` is released). 0 <= start <= limit <= extent, and steps are at least 1; anything else is an error.
 * `step` may be NULL: all 1. Functions take slices without gaps between their elements; others can be copied. Since
 * version 2. */
LATEWOOD_C_API latewood_status *latewood_buffer_slice(const latewood_buffer *buffer, const int64_t *start,
                                                      const int64_t *limit, const int64_t *step, latewood_buffer **out);
/* The same elements in row-major order with another shape, as a buffer on the same memory, which it keeps. `buffer` has
 * no gaps, and as many elements. Since version 2. */
LATEWOOD_C_API latewood_status *latewood_buffer_reshape(const latewood_buffer *buffer, int64_t rank,
                                                        const int64_t *shape, latewood_buffer **out);

/* Exchange with other libraries without a copy, in the structures of the DLPack protocol (dlpack.h, which is not needed
 * here). An export shares the memory and keeps it until the receiver calls the tensor's deleter; waits until the buffer
 * is ready. The older form cannot say that memory is read-only, and refuses such buffers. Since version 2. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
LATEWOOD_C_API latewood_status *latewood_buffer_export_dlpack(latewood_buffer *buffer,
                                                              struct DLManagedTensorVersioned **out);
LATEWOOD_C_API latewood_status *latewood_buffer_export_dlpack_unversioned(latewood_buffer *buffer,
                                                                          struct DLManagedTensor **out);
/* A buffer on the tensor's memory. The tensor is taken over: its deleter is called once, when the memory is no longer
 * needed, and at once on failure. Only memory that the host can read is taken. Since version 2. */
LATEWOOD_C_API latewood_status *latewood_buffer_import_dlpack(struct DLManagedTensorVersioned *tensor,
                                                              latewood_buffer **out);
LATEWOOD_C_API latewood_status *latewood_buffer_import_dlpack_unversioned(struct DLManagedTensor *tensor,
                                                                          latewood_buffer **out);

/* Copies all elements out of or into the buffer; outside they are row-major without gaps. `size` must be that of the
 * buffer. Both wait until the buffer is ready. */
LATEWOOD_C_API latewood_status *latewood_buffer_read(const latewood_buffer *buffer, void *data, size_t size);
LATEWOOD_C_API latewood_status *latewood_buffer_write(latewood_buffer *buffer, const void *data, size_t size);

/* 0 while a call on a stream is going to write the buffer, and after it was donated. */
LATEWOOD_C_API int32_t latewood_buffer_is_ready(const latewood_buffer *buffer);
/* Blocks until that call has run. Fails if the call failed, or the buffer was donated. */
LATEWOOD_C_API latewood_status *latewood_buffer_wait(const latewood_buffer *buffer);

/* ---- Sessions: call functions ------------------------------------------------------------------------------------ */

LATEWOOD_C_API latewood_status *latewood_session_create(latewood_client *client, latewood_executable *executable,
                                                        latewood_session **out);
LATEWOOD_C_API void latewood_session_retain(latewood_session *session);
LATEWOOD_C_API void latewood_session_release(latewood_session *session);

/* Calls a function of the session's executable. `arguments` has one buffer for each argument; its element type and
 * shape are those of the signature. `results` has one slot for each result, which holds on entry
 *   a buffer   the function writes it (it may overlap arguments); it stays the caller's, with the same references
 *   NULL       the library allocates, and puts a buffer there that the caller owns a reference to
 * each slot separately, at each call. On failure the slots are as they were, and the contents of given buffers are
 * undefined. Memory of results is used again once they are released: in a loop of equal calls the system is asked for
 * none. */
LATEWOOD_C_API latewood_status *latewood_session_call(latewood_session *session, const latewood_function *function,
                                                      latewood_buffer *const *arguments, size_t argument_count,
                                                      latewood_buffer **results, size_t result_count);

/* The shape that result `result` of such a call would have, without the call: from the arguments' extents and small
 * integers in them. `extents` has one entry for each dimension of the result; -1 stands for an extent that only the
 * call itself finds out. Fails where the call would fail for its arguments' shapes. */
LATEWOOD_C_API latewood_status *latewood_session_output_shape(latewood_session *session,
                                                              const latewood_function *function,
                                                              latewood_buffer *const *arguments, size_t argument_count,
                                                              size_t result, int64_t *extents);

/* Puts the call into a stream and returns. Errors in arguments are reported at once; those of the call by waiting for a
 * result or for the stream. Result buffers exist at once, their elements when the call has run. What the call needs is
 * kept alive; the caller changes neither arguments nor given buffers before it has run. A function whose result shapes
 * are known only when it has run does so before this returns, unless every result is given. */
LATEWOOD_C_API latewood_status *latewood_session_enqueue(latewood_session *session, const latewood_function *function,
                                                         latewood_buffer *const *arguments, size_t argument_count,
                                                         latewood_buffer **results, size_t result_count,
                                                         latewood_stream *stream);

/* Memory asked for with one purpose. */
typedef struct latewood_allocation_counter {
  uint64_t count, bytes;
  int64_t live_bytes, peak_bytes;
} latewood_allocation_counter;

typedef struct latewood_session_statistics {
  size_t struct_size;
  uint64_t calls, failed_calls;
  latewood_allocation_counter results;     /* results that the library allocated */
  latewood_allocation_counter temporaries; /* asked for by compiled code during a call */
  latewood_allocation_counter staging;     /* stand-ins for given buffers that could not be written in place */
  int64_t workspace_bytes;
  int64_t scratch_bytes_per_thread;
  /* What the session took from the system for all of the above, scratch excepted. */
  uint64_t system_allocations, system_releases;
  int64_t system_live_bytes, system_peak_bytes;
  int64_t cached_bytes; /* of these, released results waiting to be used again */
  /* Since version 2: time inside of calls, all of them and the longest; bytes of the arguments and of the results of
   * calls that succeeded. */
  uint64_t call_nanoseconds, longest_call_nanoseconds;
  uint64_t argument_bytes, result_bytes;
  /* Since version 2, too: engines of vendor libraries. Their runs, the copies to their device and back, and the memory
   * there that the session holds. */
  uint64_t engine_runs, engine_uploads, engine_uploaded_bytes, engine_downloads, engine_downloaded_bytes;
  int64_t engine_live_bytes, engine_peak_bytes;
} latewood_session_statistics;

LATEWOOD_C_API latewood_status *latewood_session_get_statistics(const latewood_session *session,
                                                                latewood_session_statistics *statistics);
/* Gives the memory of released results back to the system. */
LATEWOOD_C_API void latewood_session_release_cached_memory(latewood_session *session);

/* ---- Traces: what the runtime does, for chrome://tracing and Perfetto ----------------------------------------------
 */

/* Starts a recording, of which the process has one at a time. */
LATEWOOD_C_API latewood_status *latewood_trace_start(void);
/* Ends it and writes it, as JSON in Chrome's trace event format. */
LATEWOOD_C_API latewood_status *latewood_trace_stop(const char *path);

/* ---- Streams: ordered queues of calls, each with a thread of its own --------------------------------------------- */

LATEWOOD_C_API latewood_status *latewood_stream_create(latewood_stream **out);
LATEWOOD_C_API void latewood_stream_retain(latewood_stream *stream);
/* The last release waits for what is enqueued. */
LATEWOOD_C_API void latewood_stream_release(latewood_stream *stream);
/* Blocks until everything enqueued so far has run; gives the first failure since the last time. */
LATEWOOD_C_API latewood_status *latewood_stream_synchronize(latewood_stream *stream);
LATEWOOD_C_API int32_t latewood_stream_is_idle(const latewood_stream *stream);
/* An event that is ready when everything enqueued so far has run. */
LATEWOOD_C_API latewood_status *latewood_stream_record(latewood_stream *stream, latewood_event **out);
/* What is enqueued from now on starts when the event (of any stream) is ready. */
LATEWOOD_C_API latewood_status *latewood_stream_wait_for(latewood_stream *stream, latewood_event *event);

LATEWOOD_C_API void latewood_event_retain(latewood_event *event);
LATEWOOD_C_API void latewood_event_release(latewood_event *event);
LATEWOOD_C_API int32_t latewood_event_is_ready(const latewood_event *event);
/* Blocks until then; gives the first failure of work before the event. */
LATEWOOD_C_API latewood_status *latewood_event_wait(latewood_event *event);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATEWOOD_RUNTIME_LATEWOOD_H */
