/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The names of CUDA that TensorRT's headers need, for builds without the CUDA toolkit: a stream and an event are
 * pointers. Whoever calls CUDA finds its functions at run time (Libraries.h).
 */
#ifndef LATEWOOD_RUNTIME_TENSORRT_CUDA_RUNTIME_API_H
#define LATEWOOD_RUNTIME_TENSORRT_CUDA_RUNTIME_API_H

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

#endif
