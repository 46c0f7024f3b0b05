// RUN: latewood-opt %s --verify-diagnostics --pass-pipeline='builtin.module(latewood-record-options{target=nosuchcpu})'

// Tests that an unknown target is refused.
// expected-error @below {{nosuchcpu}}
module {
}

// RUN: not latewood-opt %s --pass-pipeline='builtin.module(latewood-record-options{target=x86-64-v3 host=forth})' 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: unknown host 'forth'; the hosts are native, lua
