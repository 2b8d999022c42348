// No gradient through a stop_gradient: y = h + (round(h) - h) has the gradient of h.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s
// Its result lies where its operand lies.
// RUN: pipec-opt %s -pipe-differentiate -pipe-lower-plan-memory | FileCheck %s --check-prefix=PLAN

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
  // CHECK: pipe.stage 0 (
  // PLAN: pipe.sub {{.*}}pipe.arena_offsets = array<i64: [[AT:[0-9]+]]>
  // PLAN-NEXT: pipe.stop_gradient {{.*}}pipe.arena_offsets = array<i64: [[AT]]>
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %h = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = pipe.round %h : (tensor<4xf32>) -> tensor<4xf32>
    %d = pipe.sub %r, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = pipe.stop_gradient %d : (tensor<4xf32>) -> tensor<4xf32>
    %y = pipe.add %h, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l = pipe.reduce sum %y dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %l : tensor<f32>
  }
  // CHECK: pipe.stage 0 backward_weight (%[[X:[a-z0-9_]+]] = %{{.*}} : tensor<4xf32>)
  // CHECK-NOT: pipe.sub
  // CHECK: %[[SPREAD:.*]] = pipe.broadcast
  // CHECK-NEXT: %[[DW:.*]] = pipe.chain mul %[[SPREAD]], %[[X]]
  // CHECK-NEXT: pipe.yield %[[DW]]
  pipe.output %0 : tensor<f32>
}
