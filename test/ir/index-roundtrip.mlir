// Gather, scatter and resize parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @gather
pipe.graph @gather(%a: tensor<5x3xf32>, %i: tensor<2x4xi64>, %j: tensor<2x3xi32>, %k: tensor<5x1xi64>) {
  // CHECK: pipe.gather %{{.*}}, %{{.*}} dim 0 : (tensor<5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
  %0 = pipe.gather %a, %i dim 0 : (tensor<5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
  // CHECK: pipe.gather_elements %{{.*}}, %{{.*}} dim 1 : (tensor<5x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  %1 = pipe.gather_elements %a, %j dim 1 : (tensor<5x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  // CHECK: pipe.gather_nd %{{.*}}, %{{.*}} : (tensor<5x3xf32>, tensor<5x1xi64>) -> tensor<5x3xf32>
  %2 = pipe.gather_nd %a, %k : (tensor<5x3xf32>, tensor<5x1xi64>) -> tensor<5x3xf32>
  // CHECK: pipe.gather_nd %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : (tensor<5x3xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  %3 = pipe.gather_nd %a, %k {batch_dims = 1} : (tensor<5x3xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @scatter
pipe.graph @scatter(%a: tensor<5x3xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>, %j: tensor<4x1xi32>, %v: tensor<4x3xf32>) {
  // CHECK: pipe.scatter_elements set %{{.*}}, %{{.*}}, %{{.*}} dim 0 : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %0 = pipe.scatter_elements set %a, %i, %u dim 0 : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  // CHECK: pipe.scatter_elements max
  %1 = pipe.scatter_elements max %a, %i, %u dim 0 : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  // CHECK: pipe.scatter_elements min
  %2 = pipe.scatter_elements min %a, %i, %u dim 0 : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  // CHECK: pipe.scatter_nd add %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %3 = pipe.scatter_nd add %a, %j, %v : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  // CHECK: pipe.scatter_nd mul
  %4 = pipe.scatter_nd mul %a, %j, %v : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @resize
pipe.graph @resize(%a: tensor<1x2x3xf32>) {
  // CHECK: pipe.resize nearest %{{.*}} to [1, 2, 6] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] {coordinates = #pipe<resize_coordinates asymmetric>, rounding = #pipe<resize_rounding floor>} : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
  %0 = pipe.resize nearest %a to [1, 2, 6] scales [1.0, 1.0, 2.0] {coordinates = #pipe<resize_coordinates asymmetric>, rounding = #pipe<resize_rounding floor>} : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
  // CHECK: pipe.resize linear %{{.*}} to [1, 2, 6] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
  %1 = pipe.resize linear %a to [1, 2, 6] scales [1.0, 1.0, 2.0] : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
  // CHECK: pipe.resize cubic %{{.*}} {{.*}} {cubic_coeff = -5.000000e-01 : f64, exclude_outside = true}
  %2 = pipe.resize cubic %a to [1, 2, 6] scales [1.0, 1.0, 2.0] {cubic_coeff = -0.5 : f64, exclude_outside = true} : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
  pipe.output
}
