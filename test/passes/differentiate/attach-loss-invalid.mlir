// What a loss cannot be of, with what there is.
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=huber" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: loss must be cross_entropy, mse or output, got 'huber'
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=mse" 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: the model has several outputs; say which one the loss is of: logits, ids, scalar
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=mse output=stat:new" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the model has no output 'stat:new' for the loss; it has logits, ids, scalar
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=mse output=ids" 2>&1 | FileCheck %s --check-prefix=INTS
// INTS: error: output 'ids' is 'tensor<2xi64>'; a loss needs one of floats
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=cross_entropy output=scalar" 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: output 'scalar' is a scalar; cross_entropy needs classes in the last dimension
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="output=logits" 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: output 'logits' is 'tensor<2x3xf32>'; only a single number is a loss of its own
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=cross_entropy output=logits labels=x" 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: error: input 'x' of the model is 'tensor<2x3xf32>', but the labels of output 'logits' must be 'tensor<2xi64>': the output's shape without its last dimension, which holds the classes; an output [N, C, T]
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=mse output=logits labels=i" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: input 'i' of the model is 'tensor<2xi64>', but the labels of output 'logits' must be 'tensor<2x3xf32>'
// RUN: not pipec-opt %s -pipe-differentiate-attach-loss="loss=cross_entropy output=logits label-smoothing=1.5" 2>&1 | FileCheck %s --check-prefix=SMOOTH
// SMOOTH: error: label smoothing must be from 0 to 1, got 1.5

pipe.graph @main(%x: tensor<2x3xf32> {pipe.name = "x"}, %i: tensor<2xi64> {pipe.name = "i"})
    -> (tensor<2x3xf32> {pipe.name = "logits"}, tensor<2xi64> {pipe.name = "ids"}, tensor<3xf32> {pipe.name = "stat:new", pipe.buffer = "stat"}, tensor<f32> {pipe.name = "scalar"}) {
  %0 = pipe.reduce sum %x dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %1 = pipe.reduce sum %0 dims [0] : (tensor<3xf32>) -> tensor<f32>
  pipe.output %x, %i, %0, %1 : tensor<2x3xf32>, tensor<2xi64>, tensor<3xf32>, tensor<f32>
}
