// Ops on constants are computed; parameters, buffers and what exceeds max-bytes are not.
// RUN: pipec-opt %s -split-input-file -pipe-import-fold-constants -pipe-import-remove-dead | FileCheck %s
// RUN: pipec-opt %s -split-input-file -pipe-import-fold-constants='max-bytes=31' | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: pipe.graph @chain
// SMALL-LABEL: pipe.graph @chain
pipe.graph @chain() -> tensor<4xi64> {
  // CHECK-NEXT: %[[C:.*]] = pipe.constant dense<[0, 2, 4, 6]> : tensor<4xi64>
  // CHECK-NEXT: pipe.output %[[C]]
  // 32 bytes are too many.
  // SMALL: pipe.iota
  // SMALL: pipe.mul
  %0 = pipe.iota dim 0 : tensor<4xi64>
  %1 = pipe.constant dense<2> : tensor<i64>
  %2 = pipe.mul %0, %1 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  pipe.output %2 : tensor<4xi64>
}

// -----

// More than 16 elements go to the pool; equal contents of one type share a declaration.
// CHECK: pipe.weight @constant.0 constant : tensor<20xi64> from <"@pool", 0, 160>
// CHECK-NOT: pipe.weight
// CHECK-LABEL: pipe.graph @pool
pipe.graph @pool(%x: tensor<20xi64>) -> (tensor<20xi64>, tensor<20xi64>) {
  // CHECK-NEXT: %[[A:.*]] = pipe.load_weight @constant.0 : tensor<20xi64>
  %0 = pipe.iota dim 0 : tensor<20xi64>
  // CHECK-NEXT: %[[R:.*]] = pipe.add %{{.*}}, %[[A]]
  %1 = pipe.add %x, %0 : (tensor<20xi64>, tensor<20xi64>) -> tensor<20xi64>
  // CHECK-NEXT: %[[B:.*]] = pipe.load_weight @constant.0 : tensor<20xi64>
  %2 = pipe.iota dim 0 : tensor<20xi64>
  // CHECK-NEXT: pipe.output %[[R]], %[[B]]
  pipe.output %1, %2 : tensor<20xi64>, tensor<20xi64>
}

// -----

// A value that folded and other ops read is made once, where it stood.
// CHECK-LABEL: pipe.graph @shared
pipe.graph @shared(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  // CHECK-NEXT: %[[A:.*]] = pipe.constant dense<5> : tensor<i32>
  %0 = pipe.constant dense<2> : tensor<i32>
  %1 = pipe.constant dense<3> : tensor<i32>
  %2 = pipe.add %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[B:.*]] = pipe.constant dense<-5> : tensor<i32>
  %3 = pipe.neg %2 : (tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = pipe.mul %{{.*}}, %[[A]]
  %4 = pipe.mul %x, %2 : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: pipe.output %[[X]], %[[B]], %[[A]]
  pipe.output %4, %3, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}

// -----

pipe.weight @p parameter : tensor<2xf32> from #pipe.source<"m.onnx", 0, 8>
pipe.weight @b buffer : tensor<2xf32> from #pipe.source<"m.onnx", 8, 8>
pipe.weight @c constant : tensor<2xf32> from #pipe.source<"m.onnx", 16, 8>
// What lies in a file is not read: weights never enter memory.
// CHECK-LABEL: pipe.graph @weights
pipe.graph @weights() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-3: pipe.neg
  %p = pipe.load_weight @p : tensor<2xf32>
  %b = pipe.load_weight @b : tensor<2xf32>
  %c = pipe.load_weight @c : tensor<2xf32>
  %0 = pipe.neg %p : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.neg %b : (tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.neg %c : (tensor<2xf32>) -> tensor<2xf32>
  pipe.output %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A kernel's error leaves the op for run time: index 7 of 2.
// CHECK-LABEL: pipe.graph @bad_index
pipe.graph @bad_index() -> tensor<i64> {
  // CHECK: pipe.gather
  %0 = pipe.constant dense<[1, 2]> : tensor<2xi64>
  %1 = pipe.constant dense<7> : tensor<i64>
  %2 = pipe.gather %0, %1 dim 0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  pipe.output %2 : tensor<i64>
}

// -----

// Folding neither fills gigabytes nor computes for minutes, however small the result.
// CHECK-LABEL: pipe.graph @expensive
pipe.graph @expensive() -> (tensor<f32>, tensor<256x256xbf16>) {
  // CHECK: pipe.reduce
  %0 = pipe.constant dense<1.0> : tensor<1073741824xf32>
  %1 = pipe.reduce sum %0 dims [0] : (tensor<1073741824xf32>) -> tensor<f32>
  // CHECK: pipe.dot_general
  %2 = pipe.constant dense<1.0> : tensor<256x8192xbf16>
  %3 = pipe.dot_general %2, %2 contract [1] x [1] : (tensor<256x8192xbf16>, tensor<256x8192xbf16>) -> tensor<256x256xbf16>
  pipe.output %1, %3 : tensor<f32>, tensor<256x256xbf16>
}

// -----

// Splats stay in the IR, whatever their size; bool too.
// CHECK-LABEL: pipe.graph @splat
pipe.graph @splat() -> tensor<64x64xi1> {
  // CHECK-NEXT: pipe.constant dense<true> : tensor<64x64xi1>
  // CHECK-NEXT: pipe.output
  %0 = pipe.iota dim 0 : tensor<64x64xi64>
  %1 = pipe.compare eq %0, %0 : (tensor<64x64xi64>, tensor<64x64xi64>) -> tensor<64x64xi1>
  pipe.output %1 : tensor<64x64xi1>
}

// -----

// Ops with two results, of which one is read.
// CHECK-LABEL: pipe.graph @two_results
pipe.graph @two_results() -> tensor<2xi64> {
  // CHECK-NEXT: pipe.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK-NEXT: pipe.output
  %0 = pipe.constant dense<[3.0, 5.0, 4.0]> : tensor<3xf32>
  %1:2 = pipe.top_k %0 k 2 dim 0 : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  pipe.output %1#1 : tensor<2xi64>
}
