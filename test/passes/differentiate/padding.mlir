// The row of a table that stands for padding gets no gradient.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s

pipe.weight @w parameter : tensor<4x2xf32> from #pipe.source<"m", 0, 32>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<3xi64>) -> tensor<f32> {
  // CHECK: pipe.gather {{.*}} dim 0 {padding_index = 1 : i64}
  %0 = pipe.stage 0 (%a = %x : tensor<3xi64>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4x2xf32>
    %1 = pipe.gather %w, %a dim 0 {padding_index = 1 : i64} : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
    %2 = pipe.reduce sum %1 dims [0, 1] : (tensor<3x2xf32>) -> tensor<f32>
    pipe.yield %2 : tensor<f32>
  }
  // CHECK: pipe.stage 0 backward_weight
  // CHECK: %[[SUM:.*]] = pipe.scatter_nd add
  // CHECK-DAG: %[[BELOW:.*]] = pipe.slice %[[SUM]] {{.*}} -> tensor<1x2xf32>
  // CHECK-DAG: %[[ZERO:.*]] = pipe.constant dense<0.000000e+00> : tensor<1x2xf32>
  // CHECK-DAG: %[[ABOVE:.*]] = pipe.slice %[[SUM]] {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[GRAD:.*]] = pipe.concat %[[BELOW]], %[[ZERO]], %[[ABOVE]] dim 0
  // CHECK: pipe.yield %[[GRAD]]
  pipe.output %0 : tensor<f32>
}
