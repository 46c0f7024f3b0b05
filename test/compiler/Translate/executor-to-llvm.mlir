// RUN: latewood-compile --since=lower %s --emit=llvm | FileCheck %s

module attributes {latewood.phase = "lower", plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "avx2">} {
module @cpu {
  llvm.func @f(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
}
executor.constant @weights = dense<2.0> : tensor<4xf32>

// CHECK-DAG: @latewood_shape_4 = internal constant [1 x i64] [i64 4]
// CHECK-DAG: @latewood_message_0 = internal constant [8 x i8] c"want {0}"

// Tests that a request is a call of the table whose failure ends the function, and that a launch passes addresses and numbers.
// CHECK-LABEL: define i32 @lw_entry_0(ptr %0)
func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>], executor.workspace_bytes = 80} {
  // CHECK: %[[R:.*]] = call ptr %{{.*}}(ptr %0, i64 0, i64 16, i64 4, ptr @latewood_shape_4)
  // CHECK: %[[N:.*]] = icmp eq ptr %[[R]], null
  // CHECK: br i1 %[[N]], label %[[FAILED:.*]], label
  %0 = executor.request 0 : memref<4xf32>
  %n = executor.scalar 7 : i64
  %w = executor.workspace at 64 : memref<16xi8>
  // CHECK: call void @f(ptr %0, ptr %{{.*}}, ptr %[[R]], i64 7, ptr %{{.*}})
  executor.launch @cpu::@f(%a, %0, %n) workspace(%w : memref<16xi8>) : memref<4xf32>, memref<4xf32>, i64
  // CHECK: call void @llvm.memmove{{.*}}(ptr %[[R]], ptr %{{.*}}, i64 16, i1 false)
  %c = executor.get_constant @weights : memref<4xf32>
  executor.copy %c to %0 : memref<4xf32>
  // CHECK: ret i32 0
  return
}

// Tests that sizes saturate, that a negative extent gives no size, and that memory is asked for and given back.
// CHECK-LABEL: define i32 @lw_entry_1(
func.func @dynamic(%a: memref<?x4xf32>) attributes {executor.results = [memref<?x4xf32>]} {
  // CHECK: %[[N:.*]] = load i64, ptr {{.*}} !invariant.load
  %n = executor.dim %a, 0 : memref<?x4xf32>
  // CHECK: call { i64, i1 } @llvm.smul.with.overflow.i64(i64 4, i64 %[[N]])
  // CHECK: select i1 %{{.*}}, i64 9223372036854775807
  // CHECK: select i1 %{{.*}}, i64 -1
  %0 = executor.request 0[%n] : memref<?x4xf32>
  // CHECK: call ptr %{{.*}}(ptr %0, i64 %{{.*}}, i64 64)
  %t = executor.alloc[%n] : memref<?x4xf32>
  // CHECK: store i32 1065353216, ptr
  executor.fill %t with 1.0 : f32 to memref<?x4xf32>
  // CHECK: call void @llvm.memset{{.*}}(ptr %{{.*}}, i8 0,
  executor.fill %t with 0.0 : f32 to memref<?x4xf32>
  // CHECK: call void %{{.*}}(ptr %0, ptr %{{.*}})
  executor.free %t : memref<?x4xf32>
  // CHECK: call i32 %{{.*}}(ptr %0, i64 0, ptr %{{.*}})
  executor.shape 0[%n, %n]
  return
}

// Tests that divisions and shifts have a value for every operand, and that a violated assertion returns what the table says.
// CHECK-LABEL: define i32 @lw_entry_2(
func.func @scalars(%a: memref<2xi32>) {
  // CHECK: %[[X:.*]] = load i32, ptr
  %x = executor.load %a at 0 : memref<2xi32> to i32
  // CHECK: %[[Y:.*]] = load i32, ptr
  %y = executor.load %a at 1 : memref<2xi32> to i32
  // CHECK: %[[ZERO:.*]] = icmp eq i32 %[[Y]], 0
  // CHECK: icmp eq i32 %[[X]], -2147483648
  // CHECK: icmp eq i32 %[[Y]], -1
  // CHECK: %[[SAFE:.*]] = select i1 %{{.*}}, i32 1, i32 %[[Y]]
  // CHECK: %[[Q:.*]] = sdiv i32 %[[X]], %[[SAFE]]
  // CHECK: select i1 %[[ZERO]], i32 -1, i32 %[[Q]]
  %0 = executor.div_s %x, %y : i32
  // CHECK: %[[INSIDE:.*]] = icmp ult i32 %[[Y]], 32
  // CHECK: %[[COUNT:.*]] = select i1 %[[INSIDE]], i32 %[[Y]], i32 0
  // CHECK: %[[S:.*]] = shl i32 %[[X]], %[[COUNT]]
  // CHECK: select i1 %[[INSIDE]], i32 %[[S]], i32 0
  %1 = executor.shl %x, %y : i32
  %c = executor.cmp eq %0, %1 : i32
  // CHECK: %[[CODE:.*]] = call i32 %{{.*}}(ptr %0, ptr @latewood_message_0, i64 8, ptr %{{.*}}, i64 1)
  // CHECK: ret i32 %[[CODE]]
  executor.assert %c, "want {0}"(%x) : i32
  return
}
// Tests that a program with control flow asks behind a launch whether it has failed, and ends then, and that a loop carries an address and
// an extent.
// CHECK-LABEL: define i32 @lw_entry_3(
func.func @control(%a: memref<?xf32>, %n: memref<i64>, %w: memref<4xf32>) attributes {executor.results = []} {
  %k = executor.load %n at 0 : memref<i64> to i64
  %m = executor.cast_s %k : i64 to index
  // CHECK: %[[FIRST:.*]] = call ptr %{{.*}}(ptr %0, i64 %{{.*}}, i64 64)
  %x = executor.alloc[%m] : memref<?xf32>
  // CHECK: phi ptr [ %[[NEXT:.*]], %{{.*}} ], [ %[[FIRST]], %{{.*}} ]
  %r:2 = scf.while (%y = %x, %e = %m) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
    %c = executor.cmp ne %e, %m : index
    scf.condition(%c) %y, %e : memref<?xf32>, index
  } do {
  ^bb0(%y: memref<?xf32>, %e: index):
    // CHECK: %[[NEXT]] = call ptr
    %z = executor.alloc[%e] : memref<?xf32>
    // CHECK: call void @f(
    // CHECK: %[[CODE:.*]] = call i32 %{{.*}}(ptr %0)
    // CHECK: %[[FAILED:.*]] = icmp ne i32 %[[CODE]], 0
    // CHECK: br i1 %[[FAILED]]
    executor.launch @cpu::@f(%y, %z, %k) : memref<?xf32>, memref<?xf32>, i64
    // CHECK: call void %{{.*}}(ptr %0, ptr %{{.*}})
    executor.free %y : memref<?xf32>
    scf.yield %z, %e : memref<?xf32>, index
  }
  return
}
// Tests that a switch is one.
// CHECK-LABEL: define i32 @lw_entry_4(
func.func @choice(%n: memref<i64>) attributes {executor.results = []} {
  %k = executor.load %n at 0 : memref<i64> to i64
  %m = executor.cast_s %k : i64 to index
  // CHECK: switch i64 %{{.*}}, label %{{.*}} [
  // CHECK-NEXT: i64 3, label
  scf.index_switch %m
  case 3 {
    scf.yield
  }
  default {
  }
  return
}
}
