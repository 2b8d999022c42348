// A folded value has the location of the op that it replaces, as has its declaration.
// RUN: pipec-opt %s -pipe-import-fold-constants -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK: pipe.weight @constant.0 {{.*}} loc(fused<#pipe.origin<3, "Range", "ids", "emb">>["m.py":4:0])
pipe.graph @main() -> (tensor<20xi64>, tensor<i64>) {
  // CHECK: pipe.load_weight @constant.0 {{.*}} loc(fused<#pipe.origin<3, "Range", "ids", "emb">>["m.py":4:0])
  %0 = pipe.iota dim 0 : tensor<20xi64> loc(fused<#pipe.origin<3, "Range", "ids", "emb">>["m.py":4:0])
  %1 = pipe.constant dense<2> : tensor<i64>
  // CHECK: pipe.constant dense<-2> {{.*}} loc(fused<#pipe.origin<4, "Neg", "neg", "emb">>["m.py":5:0])
  %2 = pipe.neg %1 : (tensor<i64>) -> tensor<i64> loc(fused<#pipe.origin<4, "Neg", "neg", "emb">>["m.py":5:0])
  pipe.output %0, %2 : tensor<20xi64>, tensor<i64>
}
