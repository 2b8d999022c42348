// The origin of an op survives printing and parsing, in fused locations (PIPE-I4).
// RUN: pipec-opt %s -mlir-print-debuginfo | pipec-opt -mlir-print-debuginfo | FileCheck %s
// RUN: pipec-opt %s --emit-bytecode | pipec-opt -mlir-print-debuginfo | FileCheck %s

// CHECK-DAG: #[[X:.*]] = loc("x")
// CHECK: pipe.relu %{{.*}} loc(#[[NODE:[a-z0-9]+]])
// CHECK: pipe.stage 0 (%{{.*}} = %{{.*}} : tensor<4xf32> loc({{(#loc[0-9]*|"x")}})) {
// CHECK-DAG: #[[LINE:.*]] = loc("model.py":10:0)
// CHECK-DAG: #[[NODE]] = loc(fused<#pipe.origin<12, "MatMul", "node \22linear\22", "layer0.lin">>[#[[LINE]]])
pipe.graph @main(%x: tensor<4xf32>) {
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<12, "MatMul", "node \22linear\22", "layer0.lin">>["model.py":10:0])
  pipe.stage 0 (%a = %x : tensor<4xf32> loc("x")) {
    pipe.yield
  }
  pipe.output
}
