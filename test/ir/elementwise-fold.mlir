// Elementwise ops that restate a value give way to it; float arithmetic stays.
// RUN: pipec-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: pipe.graph @neg_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @neg_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %0 = pipe.neg %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @not_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @not_twice(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi1>
  %0 = pipe.not %a : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %r = pipe.not %0 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  pipe.output %r : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @bitwise_not_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @bitwise_not_twice(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %0 = pipe.bitwise_not %a : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = pipe.bitwise_not %0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @abs_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @abs_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.abs %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.abs %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.abs %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @sign_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @sign_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.sign %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.sign %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.sign %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @relu_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @relu_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.relu %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @floor_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @floor_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.floor %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.floor %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.floor %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @ceil_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @ceil_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.ceil %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.ceil %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.ceil %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @round_twice(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @round_twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.round %[[A]]
  // CHECK-NEXT: pipe.output %[[R]] : tensor<2x3xf32>
  %0 = pipe.round %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.round %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @exp_twice_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @exp_twice_stays(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.exp
  // CHECK-NEXT: pipe.exp
  // CHECK-NEXT: pipe.output
  %0 = pipe.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = pipe.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @convert_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @convert_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.convert %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @add_zero(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @add_zero(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<0> : tensor<i32>
  %r = pipe.add %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @zero_add(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @zero_add(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<0> : tensor<i32>
  %r = pipe.add %c, %a : (tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @sub_zero(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @sub_zero(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<0> : tensor<i32>
  %r = pipe.sub %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @mul_one(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @mul_one(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<1> : tensor<i32>
  %r = pipe.mul %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @one_mul(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @one_mul(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<1> : tensor<i32>
  %r = pipe.mul %c, %a : (tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @div_one(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @div_one(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<1> : tensor<i32>
  %r = pipe.div %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @bitwise_and_ones(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @bitwise_and_ones(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<-1> : tensor<i32>
  %r = pipe.bitwise_and %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @bitwise_or_zero(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @bitwise_or_zero(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %c = pipe.constant dense<0> : tensor<i32>
  %r = pipe.bitwise_or %a, %c : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @and_true(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @and_true(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi1>
  %c = pipe.constant dense<true> : tensor<i1>
  %r = pipe.and %a, %c : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  pipe.output %r : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @or_false(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @or_false(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi1>
  %c = pipe.constant dense<false> : tensor<i1>
  %r = pipe.or %a, %c : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  pipe.output %r : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @unsigned_and_ones(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xui8>
pipe.graph @unsigned_and_ones(%a: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<4xui8>
  %c = pipe.constant dense<255> : tensor<ui8>
  %r = pipe.bitwise_and %a, %c : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
  pipe.output %r : tensor<4xui8>
}

// CHECK-LABEL: pipe.graph @and_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @and_same(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi1>
  %r = pipe.and %a, %a : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  pipe.output %r : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @or_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @or_same(%a: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi1>
  %r = pipe.or %a, %a : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  pipe.output %r : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @bitwise_and_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @bitwise_and_same(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %r = pipe.bitwise_and %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @bitwise_or_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @bitwise_or_same(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xi32>
  %r = pipe.bitwise_or %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @maximum_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @maximum_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.maximum %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @minimum_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @minimum_same(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.minimum %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @add_float_zero_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @add_float_zero_stays(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.constant
  // CHECK-NEXT: pipe.add
  // CHECK-NEXT: pipe.output
  %c = pipe.constant dense<0.0> : tensor<f32>
  %r = pipe.add %a, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @mul_float_one_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @mul_float_one_stays(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.constant
  // CHECK-NEXT: pipe.mul
  // CHECK-NEXT: pipe.output
  %c = pipe.constant dense<1.0> : tensor<f32>
  %r = pipe.mul %a, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @zero_sub_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xi32>
pipe.graph @zero_sub_stays(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.constant
  // CHECK-NEXT: pipe.sub
  // CHECK-NEXT: pipe.output
  %c = pipe.constant dense<0> : tensor<i32>
  %r = pipe.sub %c, %a : (tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @add_zero_that_stretches_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3xi32>
pipe.graph @add_zero_that_stretches_stays(%a: tensor<3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: pipe.constant
  // CHECK-NEXT: pipe.add
  // CHECK-NEXT: pipe.output
  %c = pipe.constant dense<0> : tensor<2x3xi32>
  %r = pipe.add %a, %c : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %r : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @select_true(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @select_true(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %c = pipe.constant dense<true> : tensor<i1>
  %r = pipe.select %c, %a, %b : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @select_false(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @select_false(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[B]] : tensor<2x3xf32>
  %c = pipe.constant dense<false> : tensor<i1>
  %r = pipe.select %c, %a, %b : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @select_same(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @select_same(%a: tensor<2x3xf32>, %b: tensor<2x3xi1>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.output %[[A]] : tensor<2x3xf32>
  %r = pipe.select %b, %a, %a : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @select_that_stretches_stays(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3xf32>, %[[B:[a-z0-9]+]]: tensor<2x3xi1>
pipe.graph @select_that_stretches_stays(%a: tensor<3xf32>, %b: tensor<2x3xi1>) -> tensor<2x3xf32> {
  // CHECK-NEXT: pipe.select
  // CHECK-NEXT: pipe.output
  %r = pipe.select %b, %a, %a : (tensor<2x3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %r : tensor<2x3xf32>
}
