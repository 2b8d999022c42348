// The whole phase: a folded condition picks a branch, whose constants fold in turn.
// RUN: pipec-opt %s -pipe-import=require-origin=false | FileCheck %s

// CHECK-NOT: pipe.weight @mask
pipe.weight @mask constant : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
// CHECK: pipe.weight @w parameter
pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
// CHECK-LABEL: pipe.graph @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>
pipe.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[C:.*]] = pipe.constant dense<[-3.000000e+00, -4.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = pipe.add %[[X]], %[[C]]
  // CHECK-NEXT: pipe.output %[[R]]
  %m = pipe.load_weight @mask : tensor<2xf32>
  %0 = pipe.iota dim 0 : tensor<2xi64>
  %1 = pipe.compare ge %0, %0 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %2 = pipe.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %3 = pipe.select %1, %2, %m : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = pipe.neg %3 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = pipe.dropout %x ratio 0.5 : (tensor<2xf32>) -> tensor<2xf32>
  %6 = pipe.add %5, %4 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  pipe.output %6 : tensor<2xf32>
}
