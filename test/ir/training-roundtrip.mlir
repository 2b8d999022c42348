// Losses and derivatives that are ops parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @loss
pipe.graph @loss(%a: tensor<2x3x4xf32>, %l: tensor<2x3xi64>, %b: tensor<4xf64>, %m: tensor<i32>, %g: tensor<f32>, %h: tensor<f64>) {
  // CHECK: pipe.cross_entropy %{{[a-z0-9]+}}, %{{[a-z0-9]+}} ignore -100 smoothing 0.000000e+00 : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f32>
  %0 = pipe.cross_entropy %a, %l ignore -100 smoothing 0.0 : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f32>
  // CHECK: pipe.cross_entropy %{{[a-z0-9]+}}, %{{[a-z0-9]+}} ignore 0 smoothing 1.000000e-01 : (tensor<4xf64>, tensor<i32>) -> tensor<f64>
  %1 = pipe.cross_entropy %b, %m ignore 0 smoothing 0.1 : (tensor<4xf64>, tensor<i32>) -> tensor<f64>
  // CHECK: pipe.cross_entropy_grad %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} ignore -100 smoothing 0.000000e+00 : (tensor<2x3x4xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<2x3x4xf32>
  %2 = pipe.cross_entropy_grad %a, %l, %g ignore -100 smoothing 0.0 : (tensor<2x3x4xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<2x3x4xf32>
  // CHECK: pipe.cross_entropy_grad %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} ignore 0 smoothing 1.000000e+00 : (tensor<4xf64>, tensor<i32>, tensor<f64>) -> tensor<4xf64>
  %3 = pipe.cross_entropy_grad %b, %m, %h ignore 0 smoothing 1.0 : (tensor<4xf64>, tensor<i32>, tensor<f64>) -> tensor<4xf64>
  pipe.output
}

// CHECK-LABEL: pipe.graph @pools
pipe.graph @pools(%x: tensor<1x4x8x8xf32>, %g: tensor<1x4x4x4xf32>, %y: tensor<1x2x8xf16>, %h: tensor<1x2x4xf16>, %i: tensor<1x2x2x2x2xbf16>) {
  // CHECK: pipe.max_pool_grad %{{[a-z0-9]+}}, %{{[a-z0-9]+}} window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  %0 = pipe.max_pool_grad %x, %g window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: pipe.max_pool_grad %{{[a-z0-9]+}}, %{{[a-z0-9]+}} window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x2x8xf16>, tensor<1x2x4xf16>) -> tensor<1x2x8xf16>
  %1 = pipe.max_pool_grad %y, %h window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x2x8xf16>, tensor<1x2x4xf16>) -> tensor<1x2x8xf16>
  // CHECK: pipe.avg_pool_grad %{{[a-z0-9]+}} to [1, 4, 8, 8] window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  %2 = pipe.avg_pool_grad %g to [1, 4, 8, 8] window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: pipe.avg_pool_grad %{{[a-z0-9]+}} to [1, 2, 4, 4, 3] window [2, 2, 2] strides [2, 2, 2] padding [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] {ceil_mode = true, count_include_pad = true} : (tensor<1x2x2x2x2xbf16>) -> tensor<1x2x4x4x3xbf16>
  %3 = pipe.avg_pool_grad %i to [1, 2, 4, 4, 3] window [2, 2, 2] strides [2, 2, 2] padding [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] {ceil_mode = true, count_include_pad = true} : (tensor<1x2x2x2x2xbf16>) -> tensor<1x2x4x4x3xbf16>
  pipe.output
}

// CHECK-LABEL: pipe.graph @resize
pipe.graph @resize(%g: tensor<1x2x6xf32>) {
  // CHECK: pipe.resize_grad nearest %{{[a-z0-9]+}} to [1, 2, 3] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] {coordinates = #pipe<resize_coordinates asymmetric>, rounding = #pipe<resize_rounding floor>} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  %0 = pipe.resize_grad nearest %g to [1, 2, 3] scales [1.0, 1.0, 2.0] {coordinates = #pipe<resize_coordinates asymmetric>, rounding = #pipe<resize_rounding floor>} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  // CHECK: pipe.resize_grad linear %{{[a-z0-9]+}} to [1, 2, 3] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  %1 = pipe.resize_grad linear %g to [1, 2, 3] scales [1.0, 1.0, 2.0] : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  // CHECK: pipe.resize_grad cubic %{{[a-z0-9]+}} to [1, 2, 3] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] {cubic_coeff = -5.000000e-01 : f64, exclude_outside = true} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  %2 = pipe.resize_grad cubic %g to [1, 2, 3] scales [1.0, 1.0, 2.0] {cubic_coeff = -5.000000e-01 : f64, exclude_outside = true} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @stop_gradient
pipe.graph @stop_gradient(%g: tensor<2x3xf32>) {
  // CHECK: pipe.stop_gradient %{{[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = pipe.stop_gradient %g : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @chains
pipe.graph @chains(%g: tensor<2x3xf32>, %s: tensor<3xf32>, %h: tensor<4xbf16>) {
  // CHECK: pipe.chain mul %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = pipe.chain mul %g, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.chain div %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %1 = pipe.chain div %h, %h : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  pipe.output
}
