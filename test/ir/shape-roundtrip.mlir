// Literals and data movement parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @literals
pipe.graph @literals() {
  // CHECK: pipe.constant dense<[1, 2]> : tensor<2xi64>
  %0 = pipe.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK: pipe.constant dense<true> : tensor<1024xi1>
  %1 = pipe.constant dense<true> : tensor<1024xi1>
  // CHECK: pipe.constant dense<> : tensor<0xf32>
  %2 = pipe.constant dense<> : tensor<0xf32>
  // CHECK: pipe.constant dense<0x7FC00000> : tensor<f32>
  %3 = pipe.constant dense<0x7FC00000> : tensor<f32>
  // CHECK: pipe.iota dim 1 : tensor<2x16xi64>
  %4 = pipe.iota dim 1 : tensor<2x16xi64>
  pipe.output
}

// CHECK-LABEL: pipe.graph @move
pipe.graph @move(%a: tensor<2x3xf32>, %v: tensor<f32>) {
  // CHECK: pipe.reshape %{{.*}} to [3, 1, 2] : (tensor<2x3xf32>) -> tensor<3x1x2xf32>
  %0 = pipe.reshape %a to [3, 1, 2] : (tensor<2x3xf32>) -> tensor<3x1x2xf32>
  // CHECK: pipe.reshape %{{.*}} to [] : (tensor<1xf32>) -> tensor<f32>
  %s = pipe.slice %a [0, 0] to [1, 1] by [1, 1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %t = pipe.reshape %s to [1] : (tensor<1x1xf32>) -> tensor<1xf32>
  %u = pipe.reshape %t to [] : (tensor<1xf32>) -> tensor<f32>
  // CHECK: pipe.transpose %{{.*}} by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = pipe.transpose %a by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: pipe.broadcast %{{.*}} to [4, 2, 3] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %2 = pipe.broadcast %a to [4, 2, 3] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: pipe.slice %{{.*}} [0, 1] to [2, 3] by [1, 2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %3 = pipe.slice %a [0, 1] to [2, 3] by [1, 2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  // CHECK: pipe.slice %{{.*}} [1, 3] to [1, 3] by [1, 9] : (tensor<2x3xf32>) -> tensor<0x0xf32>
  %4 = pipe.slice %a [1, 3] to [1, 3] by [1, 9] : (tensor<2x3xf32>) -> tensor<0x0xf32>
  // CHECK: pipe.reverse %{{.*}} dims [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = pipe.reverse %a dims [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.pad constant %{{.*}}, %{{.*}} low [1, -1] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
  %6 = pipe.pad constant %a, %v low [1, -1] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
  // CHECK: pipe.pad reflect %{{.*}}, %{{.*}} low [1, 0] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %7 = pipe.pad reflect %a, %v low [1, 0] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  // CHECK: pipe.pad edge %{{.*}}, %{{.*}} low [5, 0] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<7x5xf32>
  %8 = pipe.pad edge %a, %v low [5, 0] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<7x5xf32>
  // CHECK: pipe.pad wrap %{{.*}}, %{{.*}} low [2, 0] high [0, 3] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %9 = pipe.pad wrap %a, %v low [2, 0] high [0, 3] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  // CHECK: pipe.concat %{{.*}}, %{{.*}}, %{{.*}} dim 0 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  %10 = pipe.concat %a, %a, %a dim 0 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  pipe.output
}
