#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derives the coefficients of the device library's elementary functions and writes Coefficients.h.

    python3 derive.py > ../Coefficients.h        (needs mpmath; half a minute)

Polynomials are nearly minimax, with a weight that makes the error relative to the function. The low coefficients are
rounded to the working precision one after the other, and the rest is fitted again after each: the rounding error of an
early coefficient is then absorbed by the later ones. Every table carries its error as a comment.
"""

import struct

import mpmath
from mpmath import cos, lu_solve, matrix, mp, mpf, pi

mp.dps = 60


def round_to(value, bits):
    """Nearest number of `bits` significant bits (24 or 53), far from the limits of the exponent."""
    value = mpf(value)
    if value == 0:
        return value
    exponent = mpmath.floor(mpmath.log(abs(value), 2)) + 1
    scale = mpf(2) ** (bits - exponent)
    return mpmath.nint(value * scale) / scale


def least_squares(f, weight, powers, xs, rounds=8):
    """Coefficients c that make max |weight(x) * (f(x) - sum c_k x^powers[k])| small on the points xs.

    Weighted least squares whose weights grow where the error is large: after a few rounds the error is nearly even. Unlike
    an exchange method it does not mind a basis that vanishes inside the interval."""
    n = len(powers)
    fs, ws, basis = [f(x) for x in xs], [weight(x) for x in xs], [[x**p for p in powers] for x in xs]
    emphasis, best = [mpf(1)] * len(xs), None
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for fx, wx, row, m in zip(fs, ws, basis, emphasis):
            square = wx * wx * m
            for k in range(n):
                t = square * row[k]
                b[k] += t * fx
                for l in range(k + 1):
                    a[k, l] += t * row[l]
        for k in range(n):
            for l in range(k + 1, n):
                a[k, l] = a[l, k]
        solution = lu_solve(a, b)
        c = [solution[k] for k in range(n)]
        errors = [abs(wx * (fx - sum(ck * bk for ck, bk in zip(c, row)))) for fx, wx, row in zip(fs, ws, basis)]
        worst = max(errors)
        if best is None or worst < best[0]:
            best = (worst, c)
        emphasis = [m * (e / worst + mpf("0.01")) for m, e in zip(emphasis, errors)]
        total = sum(emphasis) / len(xs)
        emphasis = [m / total for m in emphasis]
    return best[1]


def fit(f, weight, powers, low, high, bits, alone=4):
    """Coefficients rounded to `bits`: the first few one after the other, with a new fit of the rest after each, the others
    together. Returns them and the largest weighted error."""
    low, high, rest, fixed = mpf(low), mpf(high), list(powers), []

    def points(n):
        return [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]

    xs = points(5 * len(rest) + 20)
    while rest:
        done = list(fixed)
        c = least_squares(lambda x: f(x) - sum(ck * x**p for ck, p in done), weight, rest, xs)
        count = 1 if len(fixed) < alone else len(rest)
        fixed += [(round_to(ck, bits), p) for ck, p in zip(c[:count], rest[:count])]
        rest = rest[count:]
    error = max(abs(weight(x) * (f(x) - sum(ck * x**p for ck, p in fixed))) for x in points(401))
    return [c for c, _ in fixed], error


def literal(value, bits):
    """A hexadecimal C literal: exact, and the same on every compiler."""
    if bits == 24:
        return float(struct.unpack("f", struct.pack("f", float(value)))[0]).hex() + "f"
    return float(value).hex()


def emit(name, coefficients, bits, what, error):
    ctype = "f32" if bits == 24 else "f64"
    print(f"/* {what}; relative error 2^{float(mpmath.log(error, 2)):.1f} */" if error else f"/* {what} */")
    body = ", ".join(literal(c, bits) for c in coefficients)
    print(f"static const {ctype} {name}[{len(coefficients)}] = {{{body}}};\n")


def split(value, bits, keep=None):
    """value as a sum of two numbers; the first with `keep` significant bits."""
    high = round_to(value, keep or bits)
    return high, round_to(value - high, bits)


def series(f, x, small, taylor):
    """f(x), or its series where f would cancel."""
    return taylor(x) if abs(x) < small else f(x)


one = mpf(1)
log2 = mpmath.log(2)


def exp_family(bits):
    name = "f32" if bits == 24 else "f64"
    half = log2 / 2 * mpf("1.0001")
    # exp(r) = 1 + r + r^2 q(r), and the same q for expm1
    q = lambda r: series(lambda t: (mpmath.expm1(t) - t) / t**2, r, mpf("1e-12"), lambda t: one / 2 + t / 6 + t**2 / 24)
    degree = 4 if bits == 24 else 10
    c, e = fit(
        q, lambda r: r**2 / mpmath.exp(r) if abs(r) > 1e-9 else mpf("1e-18"), range(degree + 1), -half, half, bits
    )
    emit(f"lwExpQ_{name}", c, bits, "(exp(r) - 1 - r) / r^2 on |r| <= log(2)/2", e)
    c, e = fit(
        lambda r: q(r),
        lambda r: abs(r) / abs(mpmath.expm1(r) / r) if abs(r) > 1e-9 else mpf("1e-9"),
        range(degree + 1 + (bits == 24)),
        -half,
        half,
        bits,
    )
    emit(f"lwExpm1Q_{name}", c, bits, "the same with the error relative to expm1", e)
    # 2^r = 1 + r * q(r)
    q2 = lambda r: series(lambda t: mpmath.expm1(t * log2) / t, r, mpf("1e-20"), lambda t: log2 + t * log2**2 / 2)
    degree = 5 if bits == 24 else 11
    c, e = fit(q2, lambda r: abs(r) / 2**r + mpf("1e-9"), range(degree + 1), -0.5, 0.5, bits)
    emit(f"lwExp2Q_{name}", c, bits, "(2^r - 1) / r on |r| <= 1/2", e)


def log_family_f32():
    # log(1+f) = f - f^2/2 + f^3 p(f)
    p = lambda f: series(
        lambda t: (mpmath.log1p(t) - t + t**2 / 2) / t**3, f, mpf("1e-9"), lambda t: one / 3 - t / 4 + t**2 / 5
    )
    c, e = fit(p, lambda f: f**2 + mpf("1e-9"), range(9), mpf("-0.2501"), mpf("0.5001"), 24)
    emit("lwLogP_f32", c, 24, "(log(1+f) - f + f^2/2) / f^3 on [-1/4, 1/2]", e)


def log_family_f64():
    # log(1+f) = 2 atanh(s), s = f/(2+f): (2 atanh(s) - 2 s) / s^3 in z = s^2
    s_max = mpf("0.2001")  # f in [-1/4, 1/2]
    g = lambda z: series(
        lambda t: (2 * mpmath.atanh(mpmath.sqrt(t)) / mpmath.sqrt(t) - 2) / t,
        z,
        mpf("1e-12"),
        lambda t: one * 2 / 3 + t * 2 / 5 + t**2 * 2 / 7,
    )
    c, e = fit(g, lambda z: z + mpf("1e-6"), range(9), 0, s_max**2, 53)
    emit("lwLogR_f64", c, 53, "(2 atanh(s)/s - 2) / s^2 in s^2", e)
    # The tail after the s^3 term, for double-double logarithms
    h = lambda z: (g(z) - one * 2 / 3) / z if z > mpf("1e-9") else one * 2 / 5 + z * 2 / 7
    c, e = fit(h, lambda z: z**2 + mpf("1e-6"), range(8), 0, s_max**2, 53)
    emit("lwLogTail_f64", c, 53, "(2 atanh(s)/s - 2 - 2/3 s^2) / s^4 in s^2", e)


def trigonometric(bits):
    name = "f32" if bits == 24 else "f64"
    limit = (pi / 4 * mpf("1.0005")) ** 2
    sine = lambda z: series(
        lambda t: (mpmath.sin(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t,
        z,
        mpf("1e-12"),
        lambda t: -one / 6 + t / 120 - t**2 / 5040,
    )
    c, e = fit(sine, lambda z: z + mpf("1e-9"), range(4 if bits == 24 else 7), 0, limit, bits)
    emit(f"lwSinS_{name}", c, bits, "(sin(x)/x - 1) / x^2 in x^2, |x| <= pi/4", e)
    cosine = lambda z: series(
        lambda t: (mpmath.cos(mpmath.sqrt(t)) - 1 + t / 2) / t**2,
        z,
        mpf("1e-12"),
        lambda t: one / 24 - t / 720 + t**2 / 40320,
    )
    c, e = fit(cosine, lambda z: z**2 + mpf("1e-9"), range(3 if bits == 24 else 6), 0, limit, bits)
    emit(f"lwCosC_{name}", c, bits, "(cos(x) - 1 + x^2/2) / x^4 in x^2", e)


def inverse_trigonometric():
    limit = mpf("0.41422") ** 2
    arctangent = lambda z: series(
        lambda t: (mpmath.atan(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t,
        z,
        mpf("1e-12"),
        lambda t: -one / 3 + t / 5 - t**2 / 7,
    )
    c, e = fit(arctangent, lambda z: z + mpf("1e-6"), range(12), 0, limit, 53)
    emit("lwAtanA_f64", c, 53, "(atan(x)/x - 1) / x^2 in x^2, |x| <= tan(pi/8)", e)
    arcsine = lambda z: series(
        lambda t: (mpmath.asin(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t,
        z,
        mpf("1e-12"),
        lambda t: one / 6 + t * 3 / 40 + t**2 * 15 / 336,
    )
    c, e = fit(arcsine, lambda z: z + mpf("1e-6"), range(13), 0, mpf("0.2501"), 53)
    emit("lwAsinA_f64", c, 53, "(asin(x)/x - 1) / x^2 in x^2, |x| <= 1/2", e)


def hyperbolic():
    sinh = lambda z: series(
        lambda t: (mpmath.sinh(mpmath.sqrt(t)) / mpmath.sqrt(t) - 1) / t,
        z,
        mpf("1e-12"),
        lambda t: one / 6 + t / 120 + t**2 / 5040,
    )
    c, e = fit(sinh, lambda z: z + mpf("1e-9"), range(7), 0, mpf("1.001"), 53)
    emit("lwSinhS_f64", c, 53, "(sinh(x)/x - 1) / x^2 in x^2, |x| <= 1", e)


def error_function():
    erf = lambda z: series(
        lambda t: mpmath.erf(mpmath.sqrt(t)) / mpmath.sqrt(t),
        z,
        mpf("1e-20"),
        lambda t: 2 / mpmath.sqrt(pi) * (1 - t / 3 + t**2 / 10),
    )
    c, e = fit(lambda z: erf(z) - 1, lambda z: 1 / erf(z), range(14), 0, mpf("1.001"), 53)
    emit("lwErfSmall_f64", c, 53, "erf(x)/x - 1 in x^2, |x| <= 1", e)

    # erfc(x) exp(x^2) (1 + 2x) is smooth on [0, inf); t = (x - 4) / (x + 4) maps it to [-1, 1).
    def scaled(t):
        x = 4 * (1 + t) / (1 - t)
        return mpmath.erfc(x) * mpmath.exp(x * x) * (1 + 2 * x)

    c, e = fit(scaled, lambda t: 1 / scaled(t), range(24), mpf("-0.8"), mpf("0.76"), 53)
    emit("lwErfcTail_f64", c, 53, "erfc(x) exp(x^2) (1 + 2x) in t = (x-4)/(x+4), x in [0.44, 29]", e)


def error_function_f32():
    border = mpf("0.93")
    erf = lambda z: series(
        lambda t: mpmath.erf(mpmath.sqrt(t)) / mpmath.sqrt(t),
        z,
        mpf("1e-20"),
        lambda t: 2 / mpmath.sqrt(pi) * (1 - t / 3 + t**2 / 10),
    )
    c, e = fit(lambda z: erf(z) - 1, lambda z: 1 / erf(z), range(7), 0, border**2, 24)
    emit("lwErfSmall_f32", c, 24, "erf(x)/x - 1 in x^2, |x| <= 0.93", e)
    c, e = fit(
        lambda x: -mpmath.log(mpmath.erfc(x)),
        lambda x: mpmath.erfc(x) / mpmath.erf(x),
        range(9),
        border - mpf("0.01"),
        4,
        24,
    )
    emit("lwErfLarge_f32", c, 24, "-log(erfc(x)), 0.92 <= x <= 4; error relative to erf", e)


def complementary_error_function_f32():
    # erfc(x) exp(x^2) = t p(t) with t = 1 / (1 + x/2), which maps [0.9, 10.2] to [0.16, 0.69]; p in t - 1/2.
    def scaled(u):
        x = 2 / (u + mpf("0.5")) - 2
        return mpmath.erfc(x) * mpmath.exp(x * x) / (u + mpf("0.5"))

    first = round_to(scaled(mpf(0)), 24)
    print(f"static const f32 lwErfcFirst_f32 = {literal(first, 24)};")
    c, e = fit(
        lambda u: (scaled(u) - first) / u, lambda u: u / scaled(u), range(9), mpf("-0.337"), mpf("0.191"), 24, alone=2
    )
    emit(
        "lwErfcTail_f32",
        c,
        24,
        "(erfc(x) exp(x^2) / t - first) / u in u = t - 1/2, t = 1/(1 + x/2), x in [0.9, 10.2]",
        e,
    )


def inverse_error_function_f32():
    # In w = -log(1 - x^2) the ratio erfinv(x)/x is smooth; in sqrt(w) it is nearly linear far out.
    def ratio(w):
        if w < mpf("1e-12"):
            return mpmath.sqrt(pi) / 2
        x = mpmath.sqrt(-mpmath.expm1(-w))
        return mpmath.erfinv(x) / x

    c, e = fit(
        lambda t: ratio(t + mpf("2.5")), lambda t: 1 / ratio(t + mpf("2.5")), range(10), mpf("-2.5"), mpf("2.51"), 24
    )
    emit("lwErfInvCenter_f32", c, 24, "erfinv(x)/x in w - 2.5, w = -log(1 - x^2) <= 5", e)
    c, e = fit(
        lambda t: ratio((t + 3) ** 2), lambda t: 1 / ratio((t + 3) ** 2), range(10), mpf("-0.77"), mpf("1.15"), 24
    )
    emit("lwErfInvTail_f32", c, 24, "erfinv(x)/x in sqrt(w) - 3, 5 <= w <= 17", e)


def cube_root():
    c, e = fit(mpmath.cbrt, lambda t: 1 / mpmath.cbrt(t), range(6), mpf("0.374"), mpf("3.01"), 53)
    emit("lwCbrtStart_f64", c, 53, "cbrt(t) on [3/8, 3], where iteration begins", e)


def constants():
    print("/* log(2) in two parts: n * high is exact for every exponent n of the type */")
    high, low = split(log2, 24, 15)
    print(f"static const f32 lwLn2High_f32 = {literal(high, 24)}, lwLn2Low_f32 = {literal(low, 24)};")
    high, low = split(log2, 53, 42)
    print(f"static const f64 lwLn2High_f64 = {literal(high, 53)}, lwLn2Low_f64 = {literal(low, 53)};\n")
    for label, value in (
        ("Log2E", 1 / log2),
        ("Log10E", 1 / mpmath.log(10)),
        ("Log10Of2", log2 / mpmath.log(10)),
        ("PiOver2", pi / 2),
        ("PiOver4", pi / 4),
        ("Pi", +pi),
        ("Ln2Full", +log2),
        ("TwoThirds", one * 2 / 3),
    ):
        for bits, name in ((24, "f32"), (53, "f64")):
            high, low = split(value, bits)
            print(
                f"static const {name} lw{label}_{name} = {literal(high, bits)}, "
                f"lw{label}Low_{name} = {literal(low, bits)};"
            )
    third = round_to(pi / 2 - round_to(pi / 2, 53) - round_to(pi / 2 - round_to(pi / 2, 53), 53), 53)
    print(f"static const f64 lwPiOver2Third_f64 = {literal(third, 53)};")
    print(f"static const f64 lwTwoOverPi_f64 = {literal(2 / pi, 53)};\n")
    print("/* 2/pi: word i has the bits of weight 2^(-64i-1) .. 2^(-64i-64); enough for every f64 */")
    mp.dps = 420
    words, rest = [], 2 / +mpmath.pi
    for _ in range(20):
        rest *= mpf(2) ** 64
        word = int(mpmath.floor(rest))
        rest -= word
        words.append(f"{word:#018x}ul")
    mp.dps = 60
    print(f"static const u64 lwTwoOverPiBits[20] = {{{', '.join(words)}}};\n")


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    print(" *\n * Generated by Coefficients/derive.py; do not edit. Lowest degree first.\n */")
    print("#ifndef LATEWOOD_LIBRARY_COEFFICIENTS_H\n#define LATEWOOD_LIBRARY_COEFFICIENTS_H\n")
    print('#include "Target.h"\n\n/* clang-format off */')
    print('#pragma clang diagnostic ignored "-Wunused-const-variable"\n')
    constants()
    exp_family(24)
    exp_family(53)
    log_family_f32()
    log_family_f64()
    trigonometric(24)
    trigonometric(53)
    inverse_trigonometric()
    hyperbolic()
    cube_root()
    error_function_f32()
    complementary_error_function_f32()
    inverse_error_function_f32()
    error_function()
    print("/* clang-format on */\n#endif")


if __name__ == "__main__":
    main()
