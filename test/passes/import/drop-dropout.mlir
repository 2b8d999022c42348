// Dropout gives way to its operand, chains of it too.
// RUN: pipec-opt %s -pipe-import-drop-dropout | FileCheck %s

// CHECK-LABEL: pipe.graph @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = pipe.relu %[[X]]
  // CHECK-NEXT: pipe.output %[[R]]
  %0 = pipe.dropout %x ratio 0.1 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.dropout %0 ratio 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pipe.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %2 : tensor<4xf32>
}
