/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What vector code calls when one of its lanes has an argument that the short way cannot serve: all lanes at once, in
 * memory. These are functions of the archive, so that rare code is neither compiled again nor in the way of the loop.
 */
#ifndef LATEWOOD_LIBRARY_SLOWPATHS_H
#define LATEWOOD_LIBRARY_SLOWPATHS_H

#include "Target.h"

/* Arguments of sin, cos and tan over this take the slow path. */
#define LW_TRIG_LIMIT 0x1p27

/* For lanes over the limit (and finite): x = quadrant * pi/2 + high + low modulo 2 pi. Others are left alone. */
void lw_slow_trig(const f64 *restrict x, f64 *restrict high, f64 *restrict low, i64 *restrict quadrant, i64 lanes);

/* The exact remainder, for all lanes. */
void lw_slow_fmod_f32(const f32 *restrict x, const f32 *restrict y, f32 *restrict result, i64 lanes);
void lw_slow_fmod_f64(const f64 *restrict x, const f64 *restrict y, f64 *restrict result, i64 lanes);

#endif
