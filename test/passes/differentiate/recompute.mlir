// With recomputation the forward keeps nothing: backwards start from the stage's inputs, and what B has made again W takes from B.
// RUN: pipec-opt %s -pipe-differentiate=recompute=full | FileCheck %s

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>, %k: tensor<3xi64>) -> tensor<f32> {
  // CHECK: %[[F0:.*]] = pipe.stage 0 (
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = pipe.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %2 : tensor<4xf32>
  }
  // CHECK: %[[SENT:.*]] = pipe.transfer %[[F0]] from 0 to 1
  %3 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  // CHECK: %[[F1:.*]] = pipe.stage 1 (
  %4 = pipe.stage 1 (%a = %3 : tensor<4xf32>, %key = %k : tensor<3xi64>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %1 = pipe.dropout %a key %key ratio 0.5 {stream = 3 : i64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
    %2 = pipe.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = pipe.mul %2, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = pipe.reduce sum %5 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %6 : tensor<f32>
  }
  // CHECK: %[[B1:.*]]:3 = pipe.stage 1 backward_input (%[[KEY:[a-z0-9]+]] = %{{[a-z0-9]+}} : tensor<3xi64>, %[[A:[a-z0-9]+]] = %[[SENT]] : tensor<4xf32>)
  // CHECK-NEXT: %[[KEPT:.*]] = pipe.dropout %[[A]] key %[[KEY]] ratio 5.000000e-01 {stream = 3 : i64}
  // CHECK-NEXT: %[[EXP:.*]] = pipe.exp %[[KEPT]]
  // CHECK: %[[DROPPED:.*]] = pipe.dropout %{{.*}} key %[[KEY]] ratio 5.000000e-01 {stream = 3 : i64}
  // CHECK: pipe.yield %[[DROPPED]],
  // CHECK-SAME: %[[EXP]] :
  // CHECK: pipe.stage 1 backward_weight (
  // CHECK-SAME: = %[[B1]]#
  // CHECK-NOT: pipe.exp
  // CHECK: pipe.transfer %[[B1]]#0 from 1 to 0 gradient
  // CHECK: pipe.stage 0 backward_weight (
  // CHECK: pipe.tanh
  // CHECK: pipe.output %[[F1]]
  pipe.output %4 : tensor<f32>
}
