// No gradient where none is needed: upstream of the first trained parameter, of frozen ones, of buffers, of integers, and through ops without a derivative.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s

pipe.weight @frozen parameter : tensor<4xf32> from #pipe.source<"m", 0, 16> {pipe.frozen}
pipe.weight @buffer buffer : tensor<4xf32> from #pipe.source<"m", 16, 16>
pipe.weight @table parameter : tensor<5x4xf32> from #pipe.source<"m", 32, 80>
pipe.weight @integers parameter : tensor<4xi64> from #pipe.source<"m", 112, 32>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>, %ids: tensor<i64>) -> tensor<f32> {
  // CHECK: pipe.stage 0 ({{.*}}) -> tensor<4xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %w = pipe.load_weight @frozen : tensor<4xf32>
    %b = pipe.load_weight @buffer : tensor<4xf32>
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = pipe.mul %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %2 : tensor<4xf32>
  }
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  %2 = pipe.stage 1 (%a = %1 : tensor<4xf32>, %i = %ids : tensor<i64>) -> tensor<4xf32> {
    %t = pipe.load_weight @table : tensor<5x4xf32>
    %n = pipe.load_weight @integers : tensor<4xi64>
    %3 = pipe.gather %t, %i dim 0 : (tensor<5x4xf32>, tensor<i64>) -> tensor<4xf32>
    %4 = pipe.add %a, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = pipe.convert %n : (tensor<4xi64>) -> tensor<4xf32>
    %6 = pipe.mul %4, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %6 : tensor<4xf32>
  }
  %3 = pipe.transfer %2 from 1 to 2 : tensor<4xf32>
  %4 = pipe.stage 2 (%a = %3 : tensor<4xf32>) -> tensor<f32> {
    %w = pipe.load_weight @frozen : tensor<4xf32>
    %5 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %is = pipe.compare gt %5, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %6 = pipe.convert %is : (tensor<4xi1>) -> tensor<4xf32>
    %7 = pipe.convert %5 : (tensor<4xf32>) -> tensor<4xi32>
    %8 = pipe.convert %7 : (tensor<4xi32>) -> tensor<4xf32>
    %9 = pipe.mul %5, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %10 = pipe.mul %9, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %11 = pipe.reduce sum %10 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %11 : tensor<f32>
  }
  // The last stage trains nothing of its own: it only hands the gradient on.
  // CHECK: %[[B2:.*]] = pipe.stage 2 backward_input
  // CHECK-NOT: pipe.stage 2 backward_weight
  // CHECK-NOT: pipe.stage 1 backward_input
  // CHECK: pipe.transfer %[[B2]] from 2 to 1 gradient
  // CHECK: %[[W1:.*]] = pipe.stage 1 backward_weight
  // CHECK: pipe.scatter_nd add
  // CHECK-NOT: pipe.stage 0 backward
  // CHECK-NOT: pipe.transfer
  // CHECK: pipe.gradient %[[W1]] of @table site 0
  // CHECK-NOT: pipe.gradient
  // CHECK: pipe.output
  pipe.output %4 : tensor<f32>
}
