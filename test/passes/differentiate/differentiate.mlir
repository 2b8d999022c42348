// Each stage gets the programs of its gradients: of its inputs, which go to the stage before, and of its parameters. What they read is kept.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s
// RUN: pipec-opt %s -pipe-differentiate -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOC

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>
pipe.weight @v parameter : tensor<4xf32> from #pipe.source<"m", 16, 16>

// CHECK-LABEL: pipe.graph @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
pipe.graph @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  // The forward yields what it yielded, and behind that what backwards read.
  // CHECK: %[[F0:.*]]:3 = pipe.stage 0 (
  // CHECK: %[[TANH:.*]] = pipe.tanh
  // CHECK: pipe.yield %{{.*}}, %[[TANH]], %[[TANH]] :
  %0:2 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {note = 1 : i64} {
    %w = pipe.load_weight @w : tensor<4xf32>
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = pipe.tanh %1 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<7, "Tanh", "t", "m">>["m"])
    %3 = pipe.mul %2, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %3, %2 : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: %[[SENT:.*]] = pipe.transfer %[[F0]]#0 from 0 to 1 :
  %4 = pipe.transfer %0#0 from 0 to 1 : tensor<4xf32>
  // CHECK: %[[F1:.*]]:2 = pipe.stage 1 (
  // CHECK: %[[EXP:.*]] = pipe.exp
  // CHECK: pipe.yield %{{.*}}, %[[EXP]] :
  %5 = pipe.stage 1 (%a = %4 : tensor<4xf32>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %v = pipe.load_weight @v : tensor<4xf32>
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = pipe.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = pipe.mul %2, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = pipe.reduce sum %3 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %6 : tensor<f32>
  }
  // The input's gradient, and what the weights' gradients start from. Weights are read again.
  // CHECK: %[[B1:.*]]:3 = pipe.stage 1 backward_input (%[[R:.*]] = %[[F1]]#1 : tensor<4xf32>)
  // CHECK: %[[ONE:.*]] = pipe.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[SPREAD:.*]] = pipe.broadcast
  // CHECK: %[[V:.*]] = pipe.load_weight @v
  // CHECK: %[[DEXP:.*]] = pipe.chain mul %[[SPREAD]], %[[V]]
  // CHECK: %[[DMUL:.*]] = pipe.chain mul %[[DEXP]], %[[R]]
  // CHECK: %[[W:.*]] = pipe.load_weight @w
  // CHECK: %[[DX:.*]] = pipe.chain mul %[[DMUL]], %[[W]]
  // CHECK: pipe.yield %[[DX]], %[[DMUL]], %[[SPREAD]]
  // Nothing of it is computed twice.
  // CHECK: %[[W1:.*]]:2 = pipe.stage 1 backward_weight (%[[P:.*]] = %[[B1]]#1 : tensor<4xf32>, %[[A:.*]] = %[[SENT]] : tensor<4xf32>, %[[Q:.*]] = %[[B1]]#2 : tensor<4xf32>, %[[S:.*]] = %[[F1]]#1 : tensor<4xf32>)
  // CHECK-NEXT: %[[DV:.*]] = pipe.chain mul %[[Q]], %[[S]]
  // CHECK-NEXT: %[[DW:.*]] = pipe.chain mul %[[P]], %[[A]]
  // CHECK-NEXT: pipe.yield %[[DV]], %[[DW]]
  // CHECK: %[[BACK:.*]] = pipe.transfer %[[B1]]#0 from 1 to 0 gradient
  // The first stage has no input whose gradient anybody wants.
  // CHECK-NOT: backward_input
  // CHECK: %[[W0:.*]]:2 = pipe.stage 0 backward_weight (
  // CHECK-SAME: = %[[X]] : tensor<4xf32>
  // CHECK-SAME: = %[[F0]]#2 : tensor<4xf32>
  // CHECK-SAME: = %[[BACK]] : tensor<4xf32>
  // Ops carry the location of what they derive.
  // LOC: pipe.stage 0 backward_weight
  // LOC: pipe.sub {{.*}} loc(fused<#pipe.origin<7, "Tanh", "t", "m">>["m"])
  // Uses of a weight are counted over all stages, in the order of the ops.
  // CHECK: pipe.gradient %[[W0]]#1 of @w site 0
  // CHECK-NEXT: pipe.gradient %[[W0]]#0 of @w site 1
  // CHECK-NEXT: pipe.gradient %[[W1]]#1 of @w site 2
  // CHECK-NEXT: pipe.gradient %[[W1]]#0 of @v site 0
  // CHECK-NEXT: pipe.output %[[F1]]#0, %[[F0]]#1
  pipe.output %5, %0#1 : tensor<f32>, tensor<4xf32>
}
