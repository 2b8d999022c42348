// A resize to the same size at scale 1 is its operand; at another scale it stays.
// RUN: pipec-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: pipe.graph @resize_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @resize_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.resize cubic %a to [2, 3] scales [1.0, 1.0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @resize_scale_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @resize_scale_stays(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.resize
  // CHECK-NEXT: pipe.output
  %r = pipe.resize linear %a to [2, 3] scales [1.0, 1.1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}
