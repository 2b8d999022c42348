// Reductions, cumulative ops and selections of extremes parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @reduce
pipe.graph @reduce(%a: tensor<2x3x4xf32>, %b: tensor<2xi1>) {
  // CHECK: pipe.reduce sum %{{.*}} dims [1] keep : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  %0 = pipe.reduce sum %a dims [1] keep : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: pipe.reduce mean %{{.*}} dims [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %1 = pipe.reduce mean %a dims [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: pipe.reduce prod %{{.*}} dims [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  %2 = pipe.reduce prod %a dims [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  // CHECK: pipe.reduce max %{{.*}} dims [] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = pipe.reduce max %a dims [] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: pipe.reduce min %{{.*}} dims [0] : (tensor<2xi1>) -> tensor<i1>
  %4 = pipe.reduce min %b dims [0] : (tensor<2xi1>) -> tensor<i1>
  pipe.output
}

// CHECK-LABEL: pipe.graph @arg_reduce
pipe.graph @arg_reduce(%a: tensor<2x3xi32>) {
  // CHECK: pipe.arg_reduce argmax %{{.*}} dim 1 : (tensor<2x3xi32>) -> tensor<2xi64>
  %0 = pipe.arg_reduce argmax %a dim 1 : (tensor<2x3xi32>) -> tensor<2xi64>
  // CHECK: pipe.arg_reduce argmin %{{.*}} dim 0 keep last : (tensor<2x3xi32>) -> tensor<1x3xi64>
  %1 = pipe.arg_reduce argmin %a dim 0 keep last : (tensor<2x3xi32>) -> tensor<1x3xi64>
  pipe.output
}

// CHECK-LABEL: pipe.graph @cumulative
pipe.graph @cumulative(%a: tensor<2x3xf16>) {
  // CHECK: pipe.cumulative cumsum %{{.*}} dim 1 : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %0 = pipe.cumulative cumsum %a dim 1 : (tensor<2x3xf16>) -> tensor<2x3xf16>
  // CHECK: pipe.cumulative cumprod %{{.*}} dim 0 exclusive reverse : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = pipe.cumulative cumprod %a dim 0 exclusive reverse : (tensor<2x3xf16>) -> tensor<2x3xf16>
  pipe.output
}

// CHECK-LABEL: pipe.graph @top_k
pipe.graph @top_k(%a: tensor<2x3xf32>) {
  // CHECK: pipe.top_k %{{.*}} k 2 dim 1 : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  %0:2 = pipe.top_k %a k 2 dim 1 : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  // CHECK: pipe.top_k %{{.*}} k 0 dim 0 {largest = false} : (tensor<2x3xf32>) -> (tensor<0x3xf32>, tensor<0x3xi64>)
  %1:2 = pipe.top_k %a k 0 dim 0 {largest = false} : (tensor<2x3xf32>) -> (tensor<0x3xf32>, tensor<0x3xi64>)
  pipe.output
}

// CHECK-LABEL: pipe.graph @first
pipe.graph @first(%a: tensor<2x3xf32>) {
  // CHECK: pipe.reduce max %{{.*}} dims [1] keep {select_first} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %0 = pipe.reduce max %a dims [1] keep {select_first} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  pipe.output
}
