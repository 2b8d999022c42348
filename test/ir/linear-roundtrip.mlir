// Matrix products, convolutions and pools parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @dot_general
pipe.graph @dot_general(%a: tensor<8x4xf32>, %b: tensor<5x4xf32>, %c: tensor<2x3x4xi32>, %d: tensor<4x2x5xi32>, %e: tensor<4xf16>) {
  // CHECK: pipe.dot_general %{{.*}}, %{{.*}} contract [1] x [1] : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  %0 = pipe.dot_general %a, %b contract [1] x [1] : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
  // CHECK: pipe.dot_general %{{.*}}, %{{.*}} batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xi32>, tensor<4x2x5xi32>) -> tensor<2x3x5xi32>
  %1 = pipe.dot_general %c, %d batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xi32>, tensor<4x2x5xi32>) -> tensor<2x3x5xi32>
  // CHECK: pipe.dot_general %{{.*}}, %{{.*}} contract [] x [] : (tensor<4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
  %2 = pipe.dot_general %e, %e contract [] x [] : (tensor<4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
  pipe.output
}

// CHECK-LABEL: pipe.graph @convolution
pipe.graph @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %v: tensor<4x3x3x3xf32>, %y: tensor<1x2x8xf32>, %u: tensor<2x2x3xf32>) {
  // CHECK: pipe.convolution %{{.*}}, %{{.*}} strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  %0 = pipe.convolution %x, %w strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] {groups = 2} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: pipe.convolution %{{.*}}, %{{.*}} strides [1] padding [-1, 2] dilations [1] : (tensor<1x2x8xf32>, tensor<2x2x3xf32>) -> tensor<1x2x7xf32>
  %1 = pipe.convolution %y, %u strides [1] padding [-1, 2] dilations [1] : (tensor<1x2x8xf32>, tensor<2x2x3xf32>) -> tensor<1x2x7xf32>
  // CHECK: pipe.conv_transpose %{{.*}}, %{{.*}} strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] output_padding [1, 0] {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x16x10xf32>
  %2 = pipe.conv_transpose %x, %v strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] output_padding [1, 0] {groups = 2} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x16x10xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @pools
pipe.graph @pools(%x: tensor<1x4x8x8xf32>, %i: tensor<1x4x8xi32>, %v: tensor<1x2x4x4x4xf16>) {
  // CHECK: pipe.max_pool %{{.*}} window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %0 = pipe.max_pool %x window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: pipe.max_pool %{{.*}} window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xi32>) -> tensor<1x4x4xi32>
  %1 = pipe.max_pool %i window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xi32>) -> tensor<1x4x4xi32>
  // CHECK: pipe.avg_pool %{{.*}} window [2, 2, 2] strides [2, 2, 2] padding [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] {count_include_pad = true} : (tensor<1x2x4x4x4xf16>) -> tensor<1x2x2x2x2xf16>
  %2 = pipe.avg_pool %v window [2, 2, 2] strides [2, 2, 2] padding [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] {count_include_pad = true} : (tensor<1x2x4x4x4xf16>) -> tensor<1x2x2x2x2xf16>
  pipe.output
}
