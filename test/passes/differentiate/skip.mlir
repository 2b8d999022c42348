// A value that several stages read has one running gradient: it goes from the last reader to the one before, which adds its own, and ends where the value was made.
// A reader without a derivative is passed by.
// RUN: pipec-opt %s -pipe-differentiate | FileCheck %s

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>

// CHECK-LABEL: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %1 = pipe.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %1 : tensor<4xf32>
  }
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  %2 = pipe.transfer %0 from 0 to 2 : tensor<4xf32>
  %3 = pipe.transfer %0 from 0 to 3 : tensor<4xf32>
  %4 = pipe.stage 1 (%a = %1 : tensor<4xf32>) -> tensor<4xf32> {
    %5 = pipe.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %6 = pipe.mul %5, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %6 : tensor<4xf32>
  }
  %5 = pipe.transfer %4 from 1 to 2 : tensor<4xf32>
  %6 = pipe.stage 2 (%a = %2 : tensor<4xf32>, %b = %5 : tensor<4xf32>) -> tensor<4xf32> {
    %is = pipe.compare gt %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %7 = pipe.convert %is : (tensor<4xi1>) -> tensor<4xf32>
    %8 = pipe.sub %b, %7 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %8 : tensor<4xf32>
  }
  %7 = pipe.transfer %6 from 2 to 3 : tensor<4xf32>
  %8 = pipe.stage 3 (%a = %3 : tensor<4xf32>, %b = %7 : tensor<4xf32>) -> tensor<f32> {
    %9 = pipe.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %10 = pipe.reduce sum %9 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %10 : tensor<f32>
  }
  // CHECK: %[[B3:.*]]:2 = pipe.stage 3 backward_input
  // CHECK: %[[TO2:.*]] = pipe.transfer %[[B3]]#[[MAIN:[01]]] from 3 to 2 gradient
  // CHECK: %[[B2:.*]] = pipe.stage 2 backward_input (%[[G:.*]] = %[[TO2]] : tensor<4xf32>)
  // CHECK-NEXT: pipe.yield %[[G]]
  // The sums are made where a reader is, in reverse order of the readers.
  // CHECK-DAG: %[[FROM3:.*]] = pipe.transfer %[[B3]]#{{[01]}} from 3 to 1 gradient
  // CHECK-DAG: %[[FROM2:.*]] = pipe.transfer %[[B2]] from 2 to 1 gradient
  // CHECK: %[[B1:.*]] = pipe.stage 1 backward_input (
  // CHECK-SAME: = %[[FROM3]] : tensor<4xf32>
  // CHECK: %[[TO0:.*]] = pipe.transfer %[[B1]] from 1 to 0 gradient
  // CHECK-NOT: from 3 to 0
  // CHECK-NOT: from 2 to 0
  // CHECK: pipe.stage 0 backward_weight (
  // CHECK-SAME: = %[[TO0]] : tensor<4xf32>
  pipe.output %8 : tensor<f32>
}
