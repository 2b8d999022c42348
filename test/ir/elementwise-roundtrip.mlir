// Every elementwise op parses, prints and parses again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @unary_float
pipe.graph @unary_float(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: pipe.abs %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = pipe.abs %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.neg %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = pipe.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sign %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = pipe.sign %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.relu %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = pipe.relu %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.floor %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = pipe.floor %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.ceil %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = pipe.ceil %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.round %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = pipe.round %5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sqrt %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = pipe.sqrt %6 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.reciprocal %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = pipe.reciprocal %7 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.rsqrt %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = pipe.rsqrt %8 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.exp %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = pipe.exp %9 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.expm1 %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = pipe.expm1 %10 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.log %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = pipe.log %11 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.log1p %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = pipe.log1p %12 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sin %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = pipe.sin %13 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.cos %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = pipe.cos %14 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.tan %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = pipe.tan %15 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.asin %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = pipe.asin %16 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.acos %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %18 = pipe.acos %17 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.atan %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = pipe.atan %18 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sinh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = pipe.sinh %19 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.cosh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = pipe.cosh %20 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.tanh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = pipe.tanh %21 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.asinh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = pipe.asinh %22 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.acosh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %24 = pipe.acosh %23 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.atanh %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %25 = pipe.atanh %24 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.erf %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = pipe.erf %25 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sigmoid %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %27 = pipe.sigmoid %26 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.silu %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %28 = pipe.silu %27 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.softplus %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %29 = pipe.softplus %28 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.gelu %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %30 = pipe.gelu %29 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output %30 : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @gelu_tanh
pipe.graph @gelu_tanh(%arg0: tensor<f64>) -> tensor<f64> {
  // CHECK: pipe.gelu %{{.*}} {tanh_approximation = true} : (tensor<f64>) -> tensor<f64>
  %0 = pipe.gelu %arg0 {tanh_approximation = true} : (tensor<f64>) -> tensor<f64>
  pipe.output %0 : tensor<f64>
}

// Every element type of PIPE-I1.
// CHECK-LABEL: pipe.graph @element_types
pipe.graph @element_types(%arg0: tensor<2xi1>) -> tensor<2xf64> {
  // CHECK: pipe.convert %{{.*}} : (tensor<2xi1>) -> tensor<2xi8>
  %0 = pipe.convert %arg0 : (tensor<2xi1>) -> tensor<2xi8>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xi8>) -> tensor<2xi16>
  %1 = pipe.convert %0 : (tensor<2xi8>) -> tensor<2xi16>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xi16>) -> tensor<2xi32>
  %2 = pipe.convert %1 : (tensor<2xi16>) -> tensor<2xi32>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xi32>) -> tensor<2xi64>
  %3 = pipe.convert %2 : (tensor<2xi32>) -> tensor<2xi64>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xi64>) -> tensor<2xui8>
  %4 = pipe.convert %3 : (tensor<2xi64>) -> tensor<2xui8>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xui8>) -> tensor<2xui16>
  %5 = pipe.convert %4 : (tensor<2xui8>) -> tensor<2xui16>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xui16>) -> tensor<2xui32>
  %6 = pipe.convert %5 : (tensor<2xui16>) -> tensor<2xui32>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xui32>) -> tensor<2xui64>
  %7 = pipe.convert %6 : (tensor<2xui32>) -> tensor<2xui64>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xui64>) -> tensor<2xf16>
  %8 = pipe.convert %7 : (tensor<2xui64>) -> tensor<2xf16>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xf16>) -> tensor<2xbf16>
  %9 = pipe.convert %8 : (tensor<2xf16>) -> tensor<2xbf16>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xbf16>) -> tensor<2xf32>
  %10 = pipe.convert %9 : (tensor<2xbf16>) -> tensor<2xf32>
  // CHECK: pipe.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xf64>
  %11 = pipe.convert %10 : (tensor<2xf32>) -> tensor<2xf64>
  pipe.output %11 : tensor<2xf64>
}

// CHECK-LABEL: pipe.graph @predicates
pipe.graph @predicates(%arg0: tensor<2x3xf32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>) {
  // CHECK: pipe.is_nan %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %0 = pipe.is_nan %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.is_inf %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = pipe.is_inf %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.is_inf %{{.*}} {detect_negative = false} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = pipe.is_inf %arg0 {detect_negative = false} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.not %{{.*}} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = pipe.not %2 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  pipe.output %0, %1, %2, %3 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @binary_float
pipe.graph @binary_float(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: pipe.add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = pipe.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.sub %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = pipe.sub %0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.mul %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = pipe.mul %1, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.div %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = pipe.div %2, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.maximum %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = pipe.maximum %3, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.minimum %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = pipe.minimum %4, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.pow %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %6 = pipe.pow %5, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.atan2 %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = pipe.atan2 %6, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.remainder trunc %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %8 = pipe.remainder trunc %7, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: pipe.remainder floor %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %9 = pipe.remainder floor %8, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %9 : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @binary_bits
pipe.graph @binary_bits(%arg0: tensor<2x3xi32>, %arg1: tensor<i32>) -> tensor<2x3xi32> {
  // CHECK: pipe.bitwise_and %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %0 = pipe.bitwise_and %arg0, %arg1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK: pipe.bitwise_or %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %1 = pipe.bitwise_or %0, %arg1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK: pipe.bitwise_xor %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %2 = pipe.bitwise_xor %1, %arg1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK: pipe.shift_left %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %3 = pipe.shift_left %2, %arg1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK: pipe.shift_right %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %4 = pipe.shift_right %3, %arg1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK: pipe.bitwise_not %{{.*}} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = pipe.bitwise_not %4 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output %5 : tensor<2x3xi32>
}

// CHECK-LABEL: pipe.graph @binary_bool
pipe.graph @binary_bool(%arg0: tensor<2x3xi1>, %arg1: tensor<2x1xi1>) -> tensor<2x3xi1> {
  // CHECK: pipe.and %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  %0 = pipe.and %arg0, %arg1 : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  // CHECK: pipe.or %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  %1 = pipe.or %0, %arg1 : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  // CHECK: pipe.xor %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  %2 = pipe.xor %1, %arg1 : (tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x3xi1>
  pipe.output %2 : tensor<2x3xi1>
}

// CHECK-LABEL: pipe.graph @compare_select
pipe.graph @compare_select(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: pipe.compare eq %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %0 = pipe.compare eq %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.compare ne %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %1 = pipe.compare ne %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.compare lt %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %2 = pipe.compare lt %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.compare le %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %3 = pipe.compare le %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.compare gt %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %4 = pipe.compare gt %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.compare ge %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %5 = pipe.compare ge %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: pipe.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %6 = pipe.select %0, %arg0, %arg1 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %6 : tensor<2x3xf32>
}

// CHECK-LABEL: pipe.graph @corners
pipe.graph @corners(%a: tensor<2xf32>, %b: tensor<f32>) {
  // CHECK: pipe.maximum %{{.*}}, %{{.*}} {bound} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = pipe.maximum %a, %b {bound} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: pipe.minimum %{{.*}}, %{{.*}} {bound} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = pipe.minimum %0, %b {bound} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: pipe.sqrt %{{.*}} {flat_at_zero} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.sqrt %1 {flat_at_zero} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: pipe.pow %{{.*}}, %{{.*}} {flat_at_zero} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = pipe.pow %2, %b {flat_at_zero} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  pipe.output
}
