// With backward stages, what they read of a microbatch lies in its context, for all phases of a stage at one place; the rest in the arena.
// RUN: pipec-opt %s -pipe-lower-plan-memory | FileCheck %s

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
  // Three values of 64 bytes with padding: two residuals and the gradient that comes. The graph's input is bound, not kept.
  // CHECK: pipe.stage 0 ({{.*}} {pipe.arena_bytes = 64 : i64, pipe.context_bytes = 192 : i64, pipe.context_offsets = array<i64: -1>, pipe.context_weight_bytes = 192 : i64}
  %0:3 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
    %w = pipe.load_weight @w : tensor<4xf32>
    // CHECK: pipe.mul {{.*}} {pipe.arena_offsets = array<i64: 0>, pipe.context_offsets = array<i64: -1>}
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: pipe.tanh {{.*}}pipe.context_offsets = array<i64: 0>
    %2 = pipe.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    // A reshape lies where its operand lies, in the context too.
    // CHECK: pipe.reshape {{.*}}pipe.context_offsets = array<i64: 0>
    %3 = pipe.reshape %2 to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
    // CHECK: pipe.exp {{.*}}pipe.context_offsets = array<i64: 64>
    %4 = pipe.exp %3 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    // What is sent is kept as well where a backward reads the same bytes.
    // CHECK: pipe.reshape {{.*}}pipe.context_offsets = array<i64: 64>
    %5 = pipe.reshape %4 to [4] : (tensor<2x2xf32>) -> tensor<4xf32>
    pipe.yield %5, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
  }
  %1 = pipe.transfer %0#0 from 0 to 1 : tensor<4xf32>
  // What comes by a transfer may be read by any phase, so it is kept. What W reads comes first; what only B reads, behind it.
  // CHECK: pipe.stage 1 ({{.*}} {pipe.arena_bytes = 64 : i64, pipe.context_bytes = 192 : i64, pipe.context_offsets = array<i64: 0>, pipe.context_weight_bytes = 128 : i64}
  %2:2 = pipe.stage 1 (%a = %1 : tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    // CHECK: pipe.abs {{.*}}pipe.context_offsets = array<i64: 128>
    %4 = pipe.abs %a : (tensor<4xf32>) -> tensor<4xf32>
    %5 = pipe.reduce sum %4 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %5, %4 : tensor<f32>, tensor<4xf32>
  }
  // CHECK: pipe.stage 1 backward_input ({{.*}} pipe.context_bytes = 192 : i64, pipe.context_offsets = array<i64: 0, 128>, pipe.context_weight_bytes = 128 : i64}
  %3:2 = pipe.stage 1 backward_input (%a = %1 : tensor<4xf32>, %b = %2#1 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // B keeps for W what W reads, and only that.
    // CHECK: pipe.mul {{.*}}pipe.context_offsets = array<i64: 64>
    // CHECK: pipe.exp {{.*}}pipe.context_offsets = array<i64: -1>
    %4 = pipe.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = pipe.exp %4 : (tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %5, %4 : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: pipe.stage 1 backward_weight ({{.*}} pipe.context_bytes = 192 : i64, pipe.context_offsets = array<i64: 64, 0>
  %4 = pipe.stage 1 backward_weight (%a = %3#1 : tensor<4xf32>, %b = %1 : tensor<4xf32>) -> tensor<4xf32> {
    %5 = pipe.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %5 : tensor<4xf32>
  }
  %5 = pipe.transfer %3#0 from 1 to 0 gradient : tensor<4xf32>
  // CHECK: pipe.stage 0 backward_weight ({{.*}} pipe.context_bytes = 192 : i64, pipe.context_offsets = array<i64: -1, 0, 64, 128>
  %6 = pipe.stage 0 backward_weight (%a = %x : tensor<4xf32>, %b = %0#1 : tensor<4xf32>, %c = %0#2 : tensor<2x2xf32>, %g = %5 : tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: pipe.mul {{.*}}pipe.context_offsets = array<i64: -1>
    %7 = pipe.mul %g, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %7 : tensor<4xf32>
  }
  pipe.gradient %6 of @w site 0 : tensor<4xf32>
  pipe.gradient %4 of @w site 1 : tensor<4xf32>
  pipe.output %2#0 : tensor<f32>
}
