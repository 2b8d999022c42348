// Data movement that moves nothing gives way to its operand; pairs are joined.
// RUN: pipec-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: pipe.graph @reshape_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reshape_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reshape %a to [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reshape_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reshape_twice(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.reshape %[[A]] to [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: pipe.output %[[R]]
  %0 = pipe.reshape %a to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = pipe.reshape %0 to [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  pipe.output %r : tensor<3x2xf32>
}

// CHECK-LABEL: pipe.graph @reshape_and_back(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reshape_and_back(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %0 = pipe.reshape %a to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = pipe.reshape %0 to [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @transpose_identity(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @transpose_identity(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.transpose %a by [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @transpose_and_back(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @transpose_and_back(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %0 = pipe.transpose %a by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = pipe.transpose %0 by [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @transpose_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3x4xf32>
pipe.graph @transpose_twice(%a: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.transpose %[[A]] by [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  // CHECK-NEXT: pipe.output %[[R]]
  %0 = pipe.transpose %a by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %r = pipe.transpose %0 by [0, 2, 1] : (tensor<3x4x2xf32>) -> tensor<3x2x4xf32>
  pipe.output %r : tensor<3x2x4xf32>
}

// CHECK-LABEL: pipe.graph @broadcast_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @broadcast_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.broadcast %a to [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @broadcast_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<1xf32>
pipe.graph @broadcast_twice(%a: tensor<1xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.broadcast %[[A]] to [2, 3] : (tensor<1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: pipe.output %[[R]]
  %0 = pipe.broadcast %a to [3] : (tensor<1xf32>) -> tensor<3xf32>
  %r = pipe.broadcast %0 to [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @slice_whole(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @slice_whole(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.slice %a [0, 0] to [2, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @slice_part_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @slice_part_stays(%a: tensor<2x3xf32>) -> tensor<1x3xf32> {
  // CHECK-NEXT: pipe.slice
  // CHECK-NEXT: pipe.output
  %r = pipe.slice %a [1, 0] to [2, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  pipe.output %r : tensor<1x3xf32>
}

// CHECK-LABEL: pipe.graph @reverse_nothing(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reverse_nothing(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.reverse %a dims [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reverse_size_one(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<1x3xf32>
pipe.graph @reverse_size_one(%a: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<1x3xf32>
  %r = pipe.reverse %a dims [0] : (tensor<1x3xf32>) -> tensor<1x3xf32>
  pipe.output %r : tensor<1x3xf32>
}

// CHECK-LABEL: pipe.graph @reverse_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reverse_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %0 = pipe.reverse %a dims [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.reverse %0 dims [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @reverse_other_dims_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @reverse_other_dims_stays(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.reverse
  // CHECK-NEXT: pipe.reverse
  // CHECK-NEXT: pipe.output
  %0 = pipe.reverse %a dims [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.reverse %0 dims [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @pad_nothing(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<f32>
pipe.graph @pad_nothing(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.pad reflect %a, %b low [0, 0] high [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @pad_and_crop_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<f32>
pipe.graph @pad_and_crop_stays(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.pad
  // CHECK-NEXT: pipe.output
  %r = pipe.pad constant %a, %b low [1, 0] high [-1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @concat_one(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @concat_one(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.concat %a dim 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}
