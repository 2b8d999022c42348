// The loss stands behind the last op, reads its labels and the scale, and is the first result; moved buffers stay results.
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="loss=cross_entropy output=logits labels=y" | FileCheck %s --check-prefix=CE
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="loss=cross_entropy output=logits labels=classes ignore-index=3 label-smoothing=0.25" | FileCheck %s --check-prefix=OWN
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="loss=mse output=logits labels=target" | FileCheck %s --check-prefix=MSE
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="output=single" -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=OUT

// CE-LABEL: pipe.graph @main
// CE-SAME: %[[Y:[a-z0-9]+]]: tensor<2xi64> {pipe.name = "y", pipe.role = "labels"}
// CE-SAME: %[[S:[a-z0-9]+]]: tensor<f32> {pipe.name = "loss_scale", pipe.role = "loss_scale", pipe.whole}
// CE-SAME: -> (tensor<f32> {pipe.name = "loss"}, tensor<3xf32> {pipe.buffer = "stat", pipe.name = "stat:new"})
// CE: %[[X:.*]] = pipe.relu
// CE: %[[L:.*]] = pipe.cross_entropy %[[X]], %[[Y]] ignore -100 smoothing 0.000000e+00
// CE: %[[R:.*]] = pipe.mul %[[L]], %[[S]]
// CE: pipe.output %[[R]], %{{.*}} : tensor<f32>, tensor<3xf32>

// The model has that input: it is read, as i64.
// OWN-LABEL: pipe.graph @main
// OWN-SAME: %[[C:[a-z0-9]+]]: tensor<2xui8> {pipe.name = "classes"}
// OWN-NOT: pipe.role = "labels"
// OWN: %[[Y:.*]] = pipe.convert %[[C]] : (tensor<2xui8>) -> tensor<2xi64>
// OWN: pipe.cross_entropy %{{.*}}, %[[Y]] ignore 3 smoothing 2.500000e-01

// MSE-LABEL: pipe.graph @main
// MSE-SAME: %[[T:[a-z0-9]+]]: tensor<2x3xf32> {pipe.name = "target", pipe.role = "labels"}
// MSE: %[[D:.*]] = pipe.sub %{{.*}}, %[[T]]
// MSE: %[[Q:.*]] = pipe.mul %[[D]], %[[D]]
// MSE: pipe.reduce sum %[[Q]] dims [0, 1]
// MSE: pipe.mul

// The model's own loss, of any shape of one element; f16 is widened. The loss is one place behind the model's last op.
// OUT-LABEL: pipe.graph @main
// OUT-NOT: pipe.role = "labels"
// OUT: pipe.convert %{{.*}} : (tensor<1x1xf16>) -> tensor<1x1xf32>
// OUT: pipe.reshape %{{.*}} to [] : (tensor<1x1xf32>) -> tensor<f32> loc(fused<#pipe.origin<6, "Loss", "loss", "">>
pipe.graph @main(%x: tensor<2x3xf32> {pipe.name = "x"}, %c: tensor<2xui8> {pipe.name = "classes"})
    -> (tensor<1x1xf16> {pipe.name = "single"}, tensor<3xf32> {pipe.name = "stat:new", pipe.buffer = "stat"}, tensor<2x3xf32> {pipe.name = "logits"}) {
  %0 = pipe.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(fused<#pipe.origin<5, "Relu", "r", "m">>["m"])
  %1 = pipe.reduce sum %0 dims [0] : (tensor<2x3xf32>) -> tensor<3xf32> loc(fused<#pipe.origin<2, "Sum", "s", "m">>["m"])
  %2 = pipe.reduce sum %0 dims [0, 1] keep : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %3 = pipe.convert %2 : (tensor<1x1xf32>) -> tensor<1x1xf16>
  pipe.output %3, %1, %0 : tensor<1x1xf16>, tensor<3xf32>, tensor<2x3xf32>
}

// -----

// One output that is no buffer needs no name, and labels of other integers are converted too; i32 ones are read as they are.
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="loss=cross_entropy output=logits labels=u" | FileCheck %s --check-prefix=WIDE
// RUN: pipec-opt %s -split-input-file -pipe-differentiate-attach-loss="loss=cross_entropy output=logits labels=i" | FileCheck %s --check-prefix=NARROW
// WIDE-LABEL: pipe.graph @integers
// WIDE: pipe.convert %{{.*}} : (tensor<2xui64>) -> tensor<2xi64>
// NARROW-LABEL: pipe.graph @integers
// NARROW-NOT: pipe.convert
// NARROW: pipe.cross_entropy {{.*}}tensor<2xi32>
pipe.graph @integers(%x: tensor<2x3xf32>, %u: tensor<2xui64> {pipe.name = "u"}, %i: tensor<2xi32> {pipe.name = "i"})
    -> (tensor<2x3xf32> {pipe.name = "logits"}, tensor<1xf32> {pipe.name = "single"}) {
  %0 = pipe.constant dense<0.0> : tensor<1xf32>
  pipe.output %x, %0 : tensor<2x3xf32>, tensor<1xf32>
}
