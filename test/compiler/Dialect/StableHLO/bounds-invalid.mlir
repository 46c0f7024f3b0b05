// RUN: latewood-opt %s --verify-diagnostics --split-input-file

// Tests that there is one bound per dimension.
// expected-error @below {{bounds are one per dimension, but there are 1 for 2 dimensions}}
func.func private @count(tensor<?x4xf32, #stablehlo.bounds<16>>)

// -----

// Tests that an extent that is known has no bound.
// expected-error @below {{dimension 1 has the extent 4 and can have no bound}}
func.func private @known(tensor<?x4xf32, #stablehlo.bounds<16, 8>>)

// -----

// Tests that a bound is not negative.
// expected-error @below {{the bound of dimension 0 is negative: -3}}
func.func private @negative(tensor<?x4xf32, #stablehlo.bounds<-3, ?>>)
