// Graphs, weights, stages and transfers parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK: pipe.weight @lin.weight parameter : tensor<10x512xf32> from <"m.onnx", 64, 20480, [1, 0]> aliases ["head.weight"]
pipe.weight @"lin.weight" parameter : tensor<10x512xf32> from #pipe.source<"m.onnx", 64, 20480, [1, 0]> aliases ["head.weight"]
// CHECK: pipe.weight @"0.running/mean" buffer : tensor<f32> from <"m.onnx", 18446744073709551611, 4>
pipe.weight @"0.running/mean" buffer : tensor<f32> from #pipe.source<"m.onnx", 18446744073709551611, 4>
// CHECK: pipe.weight @c constant : tensor<4xi1> from <"@pool", 0, 4>
pipe.weight @c constant : tensor<4xi1> from #pipe.source<"@pool", 0, 4>

// CHECK: pipe.weight @v parameter : tensor<4xf32> from <"m.onnx", 0, 16>
pipe.weight @v parameter : tensor<4xf32> from #pipe.source<"m.onnx", 0, 16>

// CHECK-LABEL: pipe.graph @main(
// CHECK-SAME: %{{.*}}: tensor<8x512xf32> {pipe.name = "x"},
// CHECK-SAME: %{{.*}}: tensor<4xi1> {pipe.name = "mask", pipe.whole})
// CHECK-SAME: -> (tensor<8x10xf32> {pipe.name = "y"}, tensor<8x512xf32>)
// CHECK-SAME: attributes {note = 1 : i64}
pipe.graph @main(%x: tensor<8x512xf32> {pipe.name = "x"}, %mask: tensor<4xi1> {pipe.name = "mask", pipe.whole})
    -> (tensor<8x10xf32> {pipe.name = "y"}, tensor<8x512xf32>) attributes {note = 1 : i64} {
  // CHECK: %[[STAGE0:.*]]:2 = pipe.stage 0 (%[[A:.*]] = %{{.*}} : tensor<8x512xf32>, %{{.*}} = %{{.*}} : tensor<4xi1>)
  // CHECK-SAME: -> (tensor<8x512xf32>, tensor<8x512xf32>) {
  %0:2 = pipe.stage 0 (%a = %x : tensor<8x512xf32>, %b = %mask : tensor<4xi1>) -> (tensor<8x512xf32>, tensor<8x512xf32>) {
    // CHECK: %[[RELU:.*]] = pipe.relu %[[A]]
    %r = pipe.relu %a : (tensor<8x512xf32>) -> tensor<8x512xf32>
    // CHECK: pipe.yield %[[RELU]], %[[A]] : tensor<8x512xf32>, tensor<8x512xf32>
    pipe.yield %r, %a : tensor<8x512xf32>, tensor<8x512xf32>
  }
  // CHECK: %[[SENT:.*]] = pipe.transfer %[[STAGE0]]#0 from 0 to 1 : tensor<8x512xf32>
  %1 = pipe.transfer %0#0 from 0 to 1 : tensor<8x512xf32>
  // CHECK: %[[STAGE1:.*]] = pipe.stage 1 (%{{.*}} = %[[SENT]] : tensor<8x512xf32>) -> tensor<8x10xf32> attributes {note = 2 : i64} {
  %2 = pipe.stage 1 (%a = %1 : tensor<8x512xf32>) -> tensor<8x10xf32> attributes {note = 2 : i64} {
    // CHECK: pipe.load_weight @lin.weight : tensor<10x512xf32>
    %w = pipe.load_weight @"lin.weight" : tensor<10x512xf32>
    %d = pipe.dot_general %a, %w contract [1] x [1] : (tensor<8x512xf32>, tensor<10x512xf32>) -> tensor<8x10xf32>
    pipe.yield %d : tensor<8x10xf32>
  }
  // CHECK: pipe.stage 2 () {
  pipe.stage 2 () {
    // CHECK-NEXT: pipe.yield
    pipe.yield
  }
  // CHECK: pipe.output %[[STAGE1]], %[[STAGE0]]#1 : tensor<8x10xf32>, tensor<8x512xf32>
  pipe.output %2, %0#1 : tensor<8x10xf32>, tensor<8x512xf32>
}

// CHECK-LABEL: pipe.graph @empty() {
pipe.graph @empty() {
  // CHECK-NEXT: pipe.output
  pipe.output
}

// CHECK-LABEL: pipe.graph @trained
pipe.graph @trained(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[F0:.*]]:2 = pipe.stage 0 (
  %0:2 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = pipe.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %r, %r : tensor<4xf32>, tensor<4xf32>
  }
  %1 = pipe.transfer %0#0 from 0 to 1 : tensor<4xf32>
  %2 = pipe.stage 1 (%a = %1 : tensor<4xf32>) -> tensor<4xf32> {
    pipe.yield %a : tensor<4xf32>
  }
  // CHECK: %[[B1:.*]] = pipe.stage 1 backward_input (%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> attributes {note = 3 : i64} {
  %3 = pipe.stage 1 backward_input (%a = %2 : tensor<4xf32>) -> tensor<4xf32> attributes {note = 3 : i64} {
    pipe.yield %a : tensor<4xf32>
  }
  // CHECK: %[[SENT:.*]] = pipe.transfer %[[B1]] from 1 to 0 gradient : tensor<4xf32>
  %4 = pipe.transfer %3 from 1 to 0 gradient : tensor<4xf32>
  // CHECK: %[[W0:.*]] = pipe.stage 0 backward_weight (%{{.*}} = %[[SENT]] : tensor<4xf32>, %{{.*}} = %[[F0]]#1 : tensor<4xf32>) -> tensor<4xf32> {
  %5 = pipe.stage 0 backward_weight (%g = %4 : tensor<4xf32>, %r = %0#1 : tensor<4xf32>) -> tensor<4xf32> {
    %p = pipe.mul %g, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %p : tensor<4xf32>
  }
  // CHECK: pipe.gradient %[[W0]] of @v site 0 : tensor<4xf32>
  pipe.gradient %5 of @v site 0 : tensor<4xf32>
  // CHECK: pipe.gradient %[[W0]] of @v site 7 {note = 4 : i64} : tensor<4xf32>
  pipe.gradient %5 of @v site 7 {note = 4 : i64} : tensor<4xf32>
  pipe.output %2 : tensor<4xf32>
}
