// One value per channel has no statistics.
// RUN: not pipec-opt %s -pipe-import-batch-norm-training=rows=1 2>&1 | FileCheck %s --check-prefixes=CHECK,ROWS
// RUN: not pipec-opt %s -pipe-import-batch-norm-training 2>&1 | FileCheck %s --check-prefixes=CHECK,NONE
// CHECK: error: BatchNorm in training mode gets 'tensor<1x3x1xf32>'
// ROWS-SAME: of a microbatch of 1 row, one value per channel; expected 2 or more
// NONE-SAME: , one value per channel; expected 2 or more
// CHECK-SAME: --batch-norm frozen
pipe.graph @main(%x: tensor<1x3x1xf32>, %c: tensor<3xf32>) -> tensor<1x3x1xf32> {
  %0 = pipe.batch_norm %x scale %c bias %c mean %c variance %c epsilon 1.0 : (tensor<1x3x1xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x1xf32>
  pipe.output %0 : tensor<1x3x1xf32>
}
