/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads the executable of examples/affine.mlir and calls it in the three ways there are: with a result that the library
 * allocates, into memory of the caller, and on a stream.
 */
#include <latewood/runtime/latewood.h>

#include <stdio.h>
#include <stdlib.h>

static void check(latewood_status *status) {
  if (!status)
    return;
  fprintf(stderr, "affine: %s: %s\n", latewood_status_code_name(latewood_status_get_code(status)),
          latewood_status_get_message(status));
  latewood_status_destroy(status);
  exit(1);
}

static void print_value(const char *what, size_t index, const latewood_value_info *info) {
  printf("%s %zu:", what, index);
  for (int64_t d = 0; d < info->rank; ++d)
    printf(" %lld", (long long)info->shape[d]);
  printf(" of %s\n", latewood_element_type_name(info->type));
}

static void print_matrix(const float *elements, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      printf("%g%c", (double)elements[i * columns + j], j + 1 < columns ? ' ' : '\n');
}

static void released(void *context) { *(int *)context = 1; }

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: affine FILE.lwx\n");
    return 2;
  }
  latewood_client_options options = {.struct_size = sizeof options, .thread_count = 2};
  latewood_client *client = NULL;
  latewood_executable *executable = NULL;
  latewood_session *session = NULL;
  const latewood_function *function = NULL;
  check(latewood_client_create(&options, &client));
  check(latewood_executable_load(argv[1], NULL, &executable));
  check(latewood_executable_find_function(executable, "main", &function));
  check(latewood_session_create(client, executable, &session));

  latewood_value_info info = {.struct_size = sizeof info};
  for (size_t i = 0; i < latewood_function_argument_count(function); ++i) {
    check(latewood_function_argument(function, i, &info));
    print_value("argument", i, &info);
  }
  for (size_t i = 0; i < latewood_function_result_count(function); ++i) {
    check(latewood_function_result(function, i, &info));
    print_value("result", i, &info);
  }

  const float x[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const float w[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  float b[2] = {10, 20}, out[4][2] = {{0}};
  const int64_t x_shape[2] = {4, 3}, w_shape[2] = {3, 2}, b_shape[1] = {2}, out_shape[2] = {4, 2};
  int b_is_free = 0;
  latewood_buffer *arguments[3] = {NULL}, *result = NULL, *destination = NULL;
  check(latewood_buffer_create_copy(client, x, LATEWOOD_TYPE_f32, 2, x_shape, NULL, &arguments[0]));
  check(latewood_buffer_create_copy(client, w, LATEWOOD_TYPE_f32, 2, w_shape, NULL, &arguments[1]));
  /* No copy: the buffer is a window on b, until `released` is called. */
  check(latewood_buffer_create_view(client, b, LATEWOOD_TYPE_f32, 1, b_shape, NULL, 1, released, &b_is_free,
                                    &arguments[2]));

  /* The slot is empty: the library allocates, and the buffer is ours. */
  check(latewood_session_call(session, function, arguments, 3, &result, 1));
  print_matrix(latewood_buffer_data(result), 4, 2);
  latewood_buffer_release(result);

  /* The slot holds a buffer: the function writes it. Here it is a window on our own array. */
  check(latewood_buffer_create_view(client, out, LATEWOOD_TYPE_f32, 2, out_shape, NULL, 0, NULL, NULL, &destination));
  b[0] = 100;
  check(latewood_session_call(session, function, arguments, 3, &destination, 1));
  print_matrix(&out[0][0], 4, 2);
  latewood_buffer_release(destination);

  /* On a stream: the call returns at once, and the result is there after waiting for it. */
  latewood_stream *stream = NULL;
  check(latewood_stream_create(&stream));
  result = NULL;
  check(latewood_session_enqueue(session, function, arguments, 3, &result, 1, stream));
  check(latewood_buffer_wait(result));
  check(latewood_buffer_read(result, out, sizeof out));
  printf("last %g\n", (double)out[3][1]);

  /* A part of a buffer is a buffer on the same memory, which it keeps. */
  const int64_t start[2] = {2, 0}, limit[2] = {4, 2};
  latewood_buffer *rows = NULL, *shared = NULL;
  check(latewood_buffer_slice(result, start, limit, NULL, &rows));
  latewood_buffer_release(result);
  print_matrix(latewood_buffer_data(rows), 2, 2);

  /* To another library without a copy, and (here) back. */
  struct DLManagedTensorVersioned *tensor = NULL;
  check(latewood_buffer_export_dlpack(rows, &tensor));
  check(latewood_buffer_import_dlpack(tensor, &shared));
  printf("shared: %d\n", latewood_buffer_data(shared) == latewood_buffer_data(rows));
  latewood_buffer_release(rows);
  latewood_buffer_release(shared);

  /* What a mistake looks like. */
  latewood_buffer *wrong[3] = {arguments[0], arguments[0], arguments[2]};
  result = NULL;
  latewood_status *status = latewood_session_call(session, function, wrong, 3, &result, 1);
  printf("%s: %s\n", latewood_status_code_name(latewood_status_get_code(status)), latewood_status_get_message(status));
  latewood_status_destroy(status);

  latewood_session_statistics statistics = {.struct_size = sizeof statistics};
  check(latewood_session_get_statistics(session, &statistics));
  printf("calls %llu, %llu bytes of results; time: %d\n", (unsigned long long)statistics.calls,
         (unsigned long long)statistics.result_bytes, statistics.call_nanoseconds > 0);

  /* In any order. */
  latewood_client_release(client);
  latewood_session_release(session);
  latewood_executable_release(executable);
  latewood_stream_release(stream);
  for (int i = 0; i < 3; ++i)
    latewood_buffer_release(arguments[i]);
  printf("b is free: %d\n", b_is_free);
  return 0;
}
