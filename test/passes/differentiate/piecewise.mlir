// What is behind a piecewise constant op gets a gradient of zeros, so that weight decay moves it as in PyTorch.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>

// CHECK: pipe.stage 0 backward_weight
// CHECK: %[[ZEROS:.*]] = pipe.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: pipe.yield %[[ZEROS]]
// CHECK: pipe.gradient %{{.*}} of @w site 0
pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %1 = pipe.floor %w : (tensor<4xf32>) -> tensor<4xf32>
    %2 = pipe.mul %a, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = pipe.reduce sum %2 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %3 : tensor<f32>
  }
  pipe.output %0 : tensor<f32>
}
