// A weight that one op reads twice has two sites; a loss of the first stage alone leaves the others without backwards.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s

pipe.weight @w parameter : tensor<f32> from #pipe.source<"m", 0, 4>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = pipe.stage 0 (%a = %x : tensor<f32>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<f32>
    %1 = pipe.mul %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = pipe.add %a, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    pipe.yield %2 : tensor<f32>
  }
  %3 = pipe.transfer %0 from 0 to 1 : tensor<f32>
  %4 = pipe.stage 1 (%a = %3 : tensor<f32>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<f32>
    %5 = pipe.mul %a, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    pipe.yield %5 : tensor<f32>
  }
  // CHECK-NOT: pipe.stage 1 backward
  // CHECK-NOT: gradient :
  // CHECK: %[[W:.*]]:2 = pipe.stage 0 backward_weight ()
  // CHECK: pipe.gradient %[[W]]#0 of @w site 0
  // CHECK-NEXT: pipe.gradient %[[W]]#1 of @w site 1
  // CHECK-NEXT: pipe.output
  pipe.output %0, %4 : tensor<f32>, tensor<f32>
}
