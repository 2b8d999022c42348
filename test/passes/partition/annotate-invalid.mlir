// What is wrong with a split point is said in its own words.
// RUN: split-file %s %t
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='splits=layers.1.atention:END' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='splits=layers.0:MIDDLE' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='splits=layers.0:BEGIN' 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='splits=layers.1:END' 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='stages=3' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not pipec-opt %t/graph.mlir --pipe-partition-annotate='stages=0' 2>&1 | FileCheck %s --check-prefix=ZERO

// UNKNOWN: split 'layers.1.atention:END': no module or op is called 'layers.1.atention'; closest: layers.1.attention
// RUN: not pipec-opt %t/mask.mlir --pipe-partition-annotate='splits=mask:END' 2>&1 | FileCheck %s --check-prefix=REPEATED
// RUN: not pipec-opt %t/mask.mlir --pipe-partition-annotate='stages=3' 2>&1 | FileCheck %s --check-prefix=BESIDE

// REPEATED: split 'mask:END' leaves stage 0 empty: no operation lies before it but masks, positions and the like, which every stage that reads them computes itself; drop this split
// BESIDE: the model has 2 operations to place beside masks, positions and the like, which every stage that reads them computes itself, too few for 3 stages; ask for 2 or fewer
// FORM: split 'layers.0:MIDDLE' is not of the form PATH:BEGIN or PATH:END
// FIRST: split 'layers.0:BEGIN' leaves stage 0 empty: no operation lies before it
// LAST: split 'layers.1:END' leaves stage 1 empty: no operation lies after it
// MANY: the model has 2 operations to place, too few for 3 stages
// ZERO: the number of stages must be 1 or more, got 0

//--- graph.mlir
pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Relu", "r", "layers.0.attention">>["m"])
  %1 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<1, "Tanh", "t", "layers.1.attention">>["m"])
  pipe.output %1 : tensor<4xf32>
}

//--- mask.mlir
pipe.graph @main(%x: tensor<4xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %zero = pipe.constant dense<0> : tensor<i64>
  %m = pipe.compare gt %ids, %zero : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1> loc(fused<#pipe.origin<0, "Greater", "g", "mask">>["m"])
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<1, "Relu", "r", "a">>["m"])
  %1 = pipe.select %m, %0, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<2, "Where", "w", "b">>["m"])
  pipe.output %1 : tensor<4xf32>
}
