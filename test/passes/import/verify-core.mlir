// The gate lets through what partitioning expects, and changes nothing.
// RUN: pipec-opt %s -pipe-import-verify-core | FileCheck %s
// RUN: pipec-opt %s -strip-debuginfo -pipe-import-verify-core=require-origin=false | FileCheck %s

// CHECK: pipe.weight @w parameter
pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m.onnx", 0, 16>
// CHECK: pipe.graph @main
pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: pipe.load_weight @w
  %w = pipe.load_weight @w : tensor<4xf32>
  // CHECK-NEXT: pipe.constant
  %c = pipe.constant dense<2.0> : tensor<f32>
  // CHECK-NEXT: pipe.add
  %0 = pipe.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Add", "add", "">>["m.py":1:0])
  // CHECK-NEXT: pipe.mul
  %1 = pipe.mul %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc(fused<#pipe.origin<1, "Mul", "mul", "">>[unknown])
  pipe.output %1 : tensor<4xf32>
}
