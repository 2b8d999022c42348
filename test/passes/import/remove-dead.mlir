// Dead chains and constants that nothing loads go; parameters and buffers stay.
// RUN: pipec-opt %s -pipe-import-remove-dead | FileCheck %s

// CHECK: pipe.weight @p parameter
pipe.weight @p parameter : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
// CHECK-NEXT: pipe.weight @b buffer
pipe.weight @b buffer : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
// CHECK-NEXT: pipe.weight @used constant
pipe.weight @used constant : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
pipe.weight @unused constant : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
pipe.weight @dead constant : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
// CHECK-NEXT: pipe.graph @main(
pipe.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[U:.*]] = pipe.load_weight @used
  // CHECK-NEXT: pipe.output %[[U]]
  %0 = pipe.load_weight @dead : tensor<2xf32>
  %1 = pipe.add %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.load_weight @used : tensor<2xf32>
  pipe.output %3 : tensor<2xf32>
}
