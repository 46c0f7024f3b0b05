// RUN: latewood-opt %s --verify-diagnostics --pass-pipeline='builtin.module(latewood-record-options{target=nosuchcpu})'

// Tests that an unknown target is refused.
// expected-error @below {{nosuchcpu}}
module {
}
