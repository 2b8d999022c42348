// A reduction over no dimensions is its operand; over a dimension of 1 it stays (0 + -0 is 0).
// RUN: pipec-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: pipe.graph @reduce_sum(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reduce_sum(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reduce sum %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reduce_mean(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reduce_mean(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reduce mean %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reduce_prod(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reduce_prod(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reduce prod %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reduce_max(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reduce_max(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reduce max %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reduce_min(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reduce_min(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reduce min %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @size_one_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<1xf32>
pipe.graph @size_one_stays(%a: tensor<1xf32>) -> tensor<1xf32> {
  // CHECK-NEXT: pipe.reduce
  // CHECK-NEXT: pipe.output
  %r = pipe.reduce sum %a dims [0] keep : (tensor<1xf32>) -> tensor<1xf32>
  pipe.output %r : tensor<1xf32>
}
