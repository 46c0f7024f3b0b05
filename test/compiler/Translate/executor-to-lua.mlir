// RUN: latewood-compile --since=lower %s --emit=lua | FileCheck %s

// CHECK: -- The host program of a module, written by latewood
// CHECK: local core, cpu, int = core, cpu, int
// CHECK: kernels.main_cluster_0 = cpu.kernel("lw_kernel_0")
// CHECK: kernels["odd.name"] = cpu.kernel("lw_kernel_1")
module attributes {latewood.phase = "lower", plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "avx2">} {
module @cpu {
  llvm.func @main_cluster_0(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @"odd.name"(!llvm.ptr, !llvm.ptr, i64, i1, !llvm.ptr)
}
executor.constant @other = dense<1.0> : tensor<4xf32>
executor.constant @weights = dense<2.0> : tensor<4xf32>

// Tests that buffers are addresses, and that a static shape is not repeated.
// CHECK: -- main(memref<4xf32>) -> (memref<4xf32>)
// CHECK-NEXT: function lw_entry_0(args)
func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>], executor.workspace_bytes = 80} {
  // CHECK-NEXT: local [[R:b[0-9]+]] = core.request(0, 16, 4)
  %0 = executor.request 0 : memref<4xf32>
  // CHECK-NEXT: local [[C:b[0-9]+]] = core.constant(1)
  %c = executor.get_constant @weights : memref<4xf32>
  // CHECK-NEXT: local [[W:b[0-9]+]] = core.workspace(64)
  %w = executor.workspace at 64 : memref<16xi8>
  // CHECK-NEXT: cpu.launch(kernels.main_cluster_0, args[1], [[R]], [[W]])
  executor.launch @cpu::@main_cluster_0(%a, %0) workspace(%w : memref<16xi8>) : memref<4xf32>, memref<4xf32>
  // CHECK-NEXT: core.copy([[R]], [[C]], 16)
  executor.copy %c to %0 : memref<4xf32>
  // CHECK-NEXT: end
  return
}

// Tests dynamic extents: of an argument, of what was made with them, and in sizes.
// CHECK: function lw_entry_1(args)
func.func @dynamic(%a: memref<?x4xf32>) attributes {executor.results = [memref<?x4xf32>, memref<?xf32>]} {
  // CHECK-NEXT: local [[N:n[0-9]+]] = core.dim(0, 0)
  %n = executor.dim %a, 0 : memref<?x4xf32>
  // CHECK-NEXT: local [[R:b[0-9]+]] = core.request(0, core.bytes(4, [[N]], 4), 4, [[N]], 4)
  %0 = executor.request 0[%n] : memref<?x4xf32>
  // CHECK-NEXT: core.request(1, core.bytes(4, [[N]]), 4)
  %1 = executor.request 1 unshaped[%n] : memref<?xf32>
  // CHECK-NEXT: core.shape(1, [[N]])
  executor.shape 1[%n]
  // CHECK-NEXT: local [[T:b[0-9]+]] = core.alloc(core.bytes(4, [[N]], 4))
  %t = executor.alloc[%n] : memref<?x4xf32>
  // CHECK-NEXT: core.fill([[T]], core.bytes(4, [[N]], 4), 0x3F800000, 4)
  executor.fill %t with 1.0 : f32 to memref<?x4xf32>
  // CHECK-NEXT: local [[V:b[0-9]+]] = core.offset([[T]], [[N]])
  %v = executor.view %t at %n : memref<?x4xf32> to memref<2xi32>
  // CHECK-NEXT: local [[L:n[0-9]+]] = core.load_i32([[V]], 4)
  %l = executor.load %v at 1 : memref<2xi32> to i32
  // CHECK-NEXT: core.store_i32([[V]], 0, [[L]])
  executor.store %l to %v at 0 : i32 to memref<2xi32>
  // CHECK-NEXT: core.free([[T]])
  executor.free %t : memref<?x4xf32>
  %true = executor.scalar true
  // CHECK-NEXT: cpu.launch(kernels["odd.name"], [[R]], [[N]], true, false)
  executor.launch @cpu::@"odd.name"(%0, %n, %true) : memref<?x4xf32>, index, i1
  // CHECK-NEXT: if not true then core.fail("want {0}\010", [[N]]) end
  executor.assert %true, "want {0}\0A"(%n) : index
  return
}

// Tests that narrow integers stay sign-extended, and that operations that Lua defines otherwise are calls.
// CHECK: function lw_entry_2(args)
func.func @scalars(%a: memref<2xi8>, %b: memref<2xi1>) {
  // CHECK: local [[X:n[0-9]+]] = core.load_i8(args[1], 0)
  %x = executor.load %a at 0 : memref<2xi8> to i8
  %y = executor.scalar -128 : i8
  // CHECK-NEXT: = (([[X]] + (-128)) + 0x80 & 0xFF) - 0x80
  %0 = executor.add %x, %y : i8
  // CHECK-NEXT: = ((int.div_u(([[X]] & 0xFF), ((-128) & 0xFF))) + 0x80 & 0xFF) - 0x80
  %1 = executor.div_u %x, %y : i8
  // CHECK-NEXT: local [[Z:n[0-9]+]] = [[X]]
  %z = executor.cast_s %x : i8 to i64
  %low = executor.scalar -9223372036854775808 : i64
  // CHECK-NEXT: = int.rem_s([[Z]], 0x8000000000000000)
  %2 = executor.rem_s %z, %low : i64
  // CHECK-NEXT: local [[C:c[0-9]+]] = (([[X]] ~ 0x8000000000000000) < ((-128) ~ 0x8000000000000000))
  %c = executor.cmp lt_u %x, %y : i8
  // CHECK-NEXT: local [[D:c[0-9]+]] = core.load_i1(args[2], 1)
  %d = executor.load %b at 1 : memref<2xi1> to i1
  // CHECK-NEXT: = [[C]] ~= [[D]]
  %3 = executor.xor %c, %d : i1
  // CHECK-NEXT: = [[C]] and [[D]] or not [[C]] and [[C]]
  %4 = executor.select %c, %d, %c : i1
  // CHECK-NEXT: = [[C]] and 1 or 0
  %5 = executor.cast_u %c : i1 to i32
  return
}

// Tests control flow: results are declared before it, and carried values assigned at once.
// CHECK: function lw_entry_3(args)
func.func @control(%a: memref<2xi64>) {
  // CHECK-NEXT: local [[X:n[0-9]+]] = core.load_i64(args[1], 0)
  %x = executor.load %a at 0 : memref<2xi64> to i64
  %zero = executor.scalar 0 : i64
  %two = executor.scalar 2 : i64
  // CHECK-NEXT: local [[C:c[0-9]+]] = ([[X]] > 0)
  %c = executor.cmp gt_s %x, %zero : i64
  // CHECK-NEXT: local [[R:n[0-9]+]] = false
  // CHECK-NEXT: if [[C]] then
  // CHECK-NEXT: [[R]] = [[X]]
  // CHECK-NEXT: else
  // CHECK-NEXT: [[R]] = 2
  // CHECK-NEXT: end
  %r = scf.if %c -> i64 {
    scf.yield %x : i64
  } else {
    scf.yield %two : i64
  }
  // CHECK-NEXT: local [[S:n[0-9]+]] = 0
  // CHECK-NEXT: if 0 < [[R]] then
  // CHECK-NEXT: for [[I:i[0-9]+]] = 0, [[R]] - 1, 2 do
  // CHECK-NEXT: local [[T:n[0-9]+]] = [[S]] + [[I]]
  // CHECK-NEXT: [[S]] = [[T]]
  // CHECK-NEXT: end
  // CHECK-NEXT: end
  %s = scf.for %i = %zero to %r step %two iter_args(%sum = %zero) -> i64 : i64 {
    %t = executor.add %sum, %i : i64
    scf.yield %t : i64
  }
  // CHECK: local [[P:n[0-9]+]] = [[R]]
  // CHECK-NEXT: local [[Q:n[0-9]+]] = [[S]]
  // CHECK-NEXT: while true do
  // CHECK-NEXT: local [[E:c[0-9]+]] = [[P]] ~= [[Q]]
  // CHECK-NEXT: if not [[E]] then
  // CHECK: break
  // CHECK-NEXT: end
  // CHECK: [[P]], [[Q]] = [[Q2:n[0-9]+]], [[P2:n[0-9]+]]
  %w:2 = scf.while (%p = %r, %q = %s) : (i64, i64) -> (i64, i64) {
    %e = executor.cmp ne %p, %q : i64
    scf.condition(%e) %p, %q : i64, i64
  } do {
  ^bb0(%p: i64, %q: i64):
    scf.yield %q, %p : i64, i64
  }
  return
}

// Tests that a switch is a chain of conditions, and that buffers that a loop carries are freed like any other.
// CHECK: function lw_entry_4(args)
func.func @carried(%n: memref<i64>) attributes {executor.results = []} {
  // CHECK: local [[K:n[0-9]+]] = core.load_i64(args[1], 0)
  %k = executor.load %n at 0 : memref<i64> to i64
  // CHECK: local [[M:n[0-9]+]] = [[K]]
  %m = executor.cast_s %k : i64 to index
  // CHECK: local [[X:b[0-9]+]] = core.alloc(core.bytes(4, [[M]]))
  %x = executor.alloc[%m] : memref<?xf32>
  // CHECK: local [[Y:b[0-9]+]] = [[X]]
  // CHECK: while true do
  %r:2 = scf.while (%y = %x, %e = %m) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
    %c = executor.cmp ne %e, %m : index
    scf.condition(%c) %y, %e : memref<?xf32>, index
  } do {
  ^bb0(%y: memref<?xf32>, %e: index):
    // CHECK: local [[Z:b[0-9]+]] = core.alloc
    %z = executor.alloc[%e] : memref<?xf32>
    // CHECK: core.free(
    executor.free %y : memref<?xf32>
    // CHECK: [[Y]], {{n[0-9]+}} = [[Z]],
    scf.yield %z, %e : memref<?xf32>, index
  }
  // CHECK: if [[E:n[0-9]+]] == 3 then
  // CHECK: elseif [[E]] == {{\(?}}-1{{\)?}} then
  // CHECK: else
  // CHECK: end
  %s = scf.index_switch %r#1 -> i64
  case 3 {
    scf.yield %k : i64
  }
  case -1 {
    scf.yield %k : i64
  }
  default {
    scf.yield %k : i64
  }
  return
}
}
