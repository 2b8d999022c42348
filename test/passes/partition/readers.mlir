// What is computed from weights alone lies where it is read first: a transposed table crosses no cut.
// RUN: pipec-opt %s -pipe-partition-annotate=positions=2 -pipe-partition-outline | FileCheck %s

pipe.weight @table parameter : tensor<6x4xf32> from #pipe.source<"m", 0, 96>

// CHECK: pipe.stage 0
// CHECK: load_weight @table
// CHECK-NOT: transpose
// CHECK: pipe.transfer {{.*}} : tensor<4xf32>
// CHECK-NOT: pipe.transfer
// CHECK: pipe.stage 1
// CHECK: pipe.transpose
// CHECK: pipe.dot_general
pipe.graph @main(%x: tensor<i64>) -> tensor<6xf32> {
  %w = pipe.load_weight @table : tensor<6x4xf32>
  %0 = pipe.gather %w, %x dim 0 : (tensor<6x4xf32>, tensor<i64>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Gather", "g", "embed">>["m"])
  %1 = pipe.transpose %w by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32> loc(fused<#pipe.origin<1, "Transpose", "t", "head">>["m"])
  %2 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<2, "Tanh", "a", "act">>["m"])
  %3 = pipe.dot_general %2, %1 contract [0] x [0] : (tensor<4xf32>, tensor<4x6xf32>) -> tensor<6xf32> loc(fused<#pipe.origin<3, "MatMul", "h", "head">>["m"])
  pipe.output %3 : tensor<6xf32>
}
