// Roots of sums of powers are flat at 0, whatever the exporter put between; other roots are not.
// RUN: pipec-opt %s -split-input-file -pipe-import-flatten-roots | FileCheck %s

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<2x3xf32>, %n: tensor<2xf32>, %p: tensor<2x1x4xf32>) -> tensor<2xf32> {
  %two = pipe.constant dense<2.0> : tensor<f32>
  %half = pipe.constant dense<0.5> : tensor<1xf32>
  %three = pipe.constant dense<3.0> : tensor<f32>
  %square = pipe.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = pipe.reduce sum %square dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: pipe.sqrt %{{.*}} {flat_at_zero}
  %norm = pipe.sqrt %sum : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: pipe.pow %{{.*}}, %{{[^:{]*}} : (tensor<2x3xf32>
  %power = pipe.pow %x, %three : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %mean = pipe.reduce mean %power dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %scaled = pipe.mul %two, %mean : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %divided = pipe.div %scaled, %three : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %shaped = pipe.reshape %divided to [2] : (tensor<2x1xf32>) -> tensor<2xf32>
  // CHECK: pipe.pow %{{.*}} {flat_at_zero}
  %root = pipe.pow %shaped, %half : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %size = pipe.abs %p : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  %windows = pipe.avg_pool %size window [4] strides [4] padding [0, 0] dilations [1] : (tensor<2x1x4xf32>) -> tensor<2x1x1xf32>
  // CHECK: pipe.sqrt %{{.*}} {flat_at_zero}
  %pooled = pipe.sqrt %windows : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %flat = pipe.reshape %pooled to [2] : (tensor<2x1x1xf32>) -> tensor<2xf32>
  // The sum of what is no power; a power that is no root; no sum.
  // CHECK: pipe.sqrt %{{[^{]*}} : (tensor<2xf32>)
  %plain = pipe.reduce sum %x dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %other = pipe.sqrt %plain : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: pipe.pow %{{[^{]*}} : (tensor<2xf32>, tensor<f32>)
  %grown = pipe.pow %sum, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: pipe.sqrt %{{[^{]*}} : (tensor<2xf32>)
  %alone = pipe.sqrt %n : (tensor<2xf32>) -> tensor<2xf32>
  %a = pipe.add %norm, %root : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = pipe.add %a, %flat : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = pipe.add %b, %other : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = pipe.add %c, %grown : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %e = pipe.add %d, %alone : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  pipe.output %e : tensor<2xf32>
}
