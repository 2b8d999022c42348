// Ops that change nothing go in one sweep; the others keep their order and locations.
// RUN: pipec-opt %s -pipe-import-fold-identities -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: pipe.graph @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>
pipe.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[EXP:.*]] = pipe.exp %[[X]]
  %0 = pipe.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // A constant is neither moved nor merged.
  // CHECK-NEXT: pipe.constant dense<0.000000e+00>
  %c = pipe.constant dense<0.0> : tensor<f32>
  // CHECK-NEXT: pipe.constant dense<0.000000e+00>
  %d = pipe.constant dense<0.0> : tensor<f32>
  // CHECK-NEXT: %[[ADD:.*]] = pipe.add %[[EXP]]
  %1 = pipe.add %0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // The first of a pair stays for pipe-import-remove-dead; the second takes its operand and keeps its location.
  // CHECK-NEXT: pipe.reshape %[[ADD]] to [6]
  %2 = pipe.reshape %1 to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[T:.*]] = pipe.reshape %[[ADD]] to [3, 2] {{.*}} loc(fused<#pipe.origin<7, "Reshape", "r", "m">>[{{.*}}])
  %3 = pipe.reshape %2 to [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32> loc(fused<#pipe.origin<7, "Reshape", "r", "m">>["m.py":1:0])
  %4 = pipe.reshape %2 to [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
  %5 = pipe.convert %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: pipe.output %[[ADD]], %[[T]]
  pipe.output %5, %3 : tensor<2x3xf32>, tensor<3x2xf32>
}
