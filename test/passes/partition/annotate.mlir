// Split points and automatic cuts become stage indices.
// RUN: pipec-opt %s --pipe-partition-annotate='splits=a:END,b:BEGIN' | FileCheck %s --check-prefix=SPLIT
// RUN: pipec-opt %s --pipe-partition-annotate='stages=3' | FileCheck %s --check-prefix=AUTO
// RUN: pipec-opt %s --pipe-partition-annotate='positions=1' | FileCheck %s --check-prefix=POSITION
// RUN: pipec-opt %s --pipe-partition-annotate='splits=node_tanh:BEGIN' | FileCheck %s --check-prefix=POSITION

// SPLIT: pipe.relu {{.*}}pipe.stage_index = 0
// SPLIT: pipe.tanh {{.*}}pipe.stage_index = 1
// SPLIT: pipe.exp {{.*}}pipe.stage_index = 1
// AUTO: pipe.relu {{.*}}pipe.stage_index = 0
// AUTO: pipe.tanh {{.*}}pipe.stage_index = 1
// AUTO: pipe.exp {{.*}}pipe.stage_index = 2
// POSITION: pipe.relu {{.*}}pipe.stage_index = 0
// POSITION: pipe.tanh {{.*}}pipe.stage_index = 1
// POSITION: pipe.exp {{.*}}pipe.stage_index = 1
pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Relu", "node_relu", "a">>["m"])
  %1 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<1, "Tanh", "node_tanh", "b">>["m"])
  %2 = pipe.exp %1 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<2, "Exp", "node_exp", "b.inner">>["m"])
  pipe.output %2 : tensor<4xf32>
}
