// Batch normalisation in training normalises with the microbatch's statistics, and moves the stored ones.
// RUN: pipec-opt %s -split-input-file -pipe-import-batch-norm-training | FileCheck %s

pipe.weight @scale parameter : tensor<3xf32> from #pipe.source<"m", 0, 12>
pipe.weight @bias parameter : tensor<3xf32> from #pipe.source<"m", 12, 12>
pipe.weight @mean buffer : tensor<3xf32> from #pipe.source<"m", 24, 12>
pipe.weight @variance buffer : tensor<3xf32> from #pipe.source<"m", 36, 12>

// CHECK-LABEL: pipe.graph @main
// CHECK-SAME: -> (tensor<2x3x5xf32> {pipe.name = "y"}, tensor<3xf32> {pipe.buffer = "mean", pipe.name = "mean:new"}, tensor<3xf32> {pipe.buffer = "variance", pipe.name = "variance:new"})
pipe.graph @main(%x: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32> {pipe.name = "y"}) {
  %s = pipe.load_weight @scale : tensor<3xf32>
  %b = pipe.load_weight @bias : tensor<3xf32>
  // CHECK-DAG: %[[S:.*]] = pipe.load_weight @scale
  // CHECK-DAG: %[[B:.*]] = pipe.load_weight @bias
  // CHECK-DAG: %[[OLDM:.*]] = pipe.load_weight @mean
  // CHECK-DAG: %[[OLDV:.*]] = pipe.load_weight @variance
  %m = pipe.load_weight @mean : tensor<3xf32>
  %v = pipe.load_weight @variance : tensor<3xf32>
  // CHECK: %[[MEAN:.*]] = pipe.reduce mean %[[X:.*]] dims [0, 2] : (tensor<2x3x5xf32>) -> tensor<3xf32>
  // CHECK: %[[MC:.*]] = pipe.reshape %[[MEAN]] to [3, 1]
  // CHECK: %[[D:.*]] = pipe.sub %[[X]], %[[MC]]
  // CHECK: %[[DD:.*]] = pipe.mul %[[D]], %[[D]]
  // CHECK: %[[VAR:.*]] = pipe.reduce mean %[[DD]] dims [0, 2]
  // CHECK: %[[EPS:.*]] = pipe.constant dense<1.250000e-01>
  // CHECK: %[[SHIFTED:.*]] = pipe.add %[[VAR]], %[[EPS]]
  // CHECK: %[[R:.*]] = pipe.rsqrt %[[SHIFTED]]
  // CHECK: pipe.mul %[[D]]
  // CHECK: %[[Y:.*]] = pipe.add %{{.*}}, %{{.*}} : (tensor<2x3x5xf32>, tensor<3x1xf32>)
  // CHECK: %[[KEEP:.*]] = pipe.constant dense<7.500000e-01>
  // CHECK: pipe.mul %[[OLDM]], %[[KEEP]]
  // CHECK: %[[TAKE:.*]] = pipe.constant dense<2.500000e-01>
  // CHECK: pipe.mul %[[MEAN]], %[[TAKE]]
  // CHECK: %[[NEWM:.*]] = pipe.add
  // The unbiased variance: 10 elements a channel, 10 / 9.
  // CHECK: %[[UNBIASED:.*]] = pipe.constant dense<1.11111116>
  // CHECK: pipe.mul %[[VAR]], %[[UNBIASED]]
  // CHECK: pipe.mul %[[OLDV]]
  // CHECK: %[[NEWV:.*]] = pipe.add
  // CHECK-NOT: pipe.batch_norm
  // CHECK: pipe.output %[[Y]], %[[NEWM]], %[[NEWV]]
  %0 = pipe.batch_norm %x scale %s bias %b mean %m variance %v epsilon 1.25e-1 {momentum = 7.500000e-01 : f64} : (tensor<2x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5xf32>
  pipe.output %0 : tensor<2x3x5xf32>
}

// -----

// Called twice, a module moves its statistics twice. ONNX's variance is the population's.
pipe.weight @mean buffer : tensor<3xf32> from #pipe.source<"m", 24, 12>
pipe.weight @variance buffer : tensor<3xf32> from #pipe.source<"m", 36, 12>
// CHECK-LABEL: pipe.graph @twice
// CHECK-NOT: "mean:new"{{.*}}"mean:new"
pipe.graph @twice(%x: tensor<4x3xf32>, %c: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[OLDM:.*]] = pipe.load_weight @mean
  // CHECK: pipe.mul %[[OLDM]]
  // CHECK: %[[ONCE:.*]] = pipe.add %{{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NOT: dense<1.3333
  // CHECK: pipe.mul %[[ONCE]]
  // CHECK: pipe.output %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>
  %m = pipe.load_weight @mean : tensor<3xf32>
  %v = pipe.load_weight @variance : tensor<3xf32>
  %0 = pipe.batch_norm %x scale %c bias %c mean %m variance %v epsilon 0.0 {population_variance = true} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = pipe.batch_norm %0 scale %c bias %c mean %m variance %v epsilon 0.0 {population_variance = true} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  pipe.output %1 : tensor<4x3xf32>
}

// -----

// Statistics that are no buffers are not moved.
pipe.weight @mean buffer : tensor<3xf32> from #pipe.source<"m", 24, 12>
// CHECK-LABEL: pipe.graph @constants
// CHECK-SAME: -> (tensor<1x3x2xf32>, tensor<3xf32> {pipe.buffer = "mean", pipe.name = "mean:new"})
pipe.graph @constants(%x: tensor<1x3x2xf32>, %c: tensor<3xf32>) -> tensor<1x3x2xf32> {
  %m = pipe.load_weight @mean : tensor<3xf32>
  %0 = pipe.batch_norm %x scale %c bias %c mean %m variance %c epsilon 1.0 : (tensor<1x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2xf32>
  pipe.output %0 : tensor<1x3x2xf32>
}

// -----

// f16 computes in f32; results and statistics are rounded once.
pipe.weight @mean buffer : tensor<3xf16> from #pipe.source<"m", 24, 6>
// CHECK-LABEL: pipe.graph @half
pipe.graph @half(%x: tensor<2x3xf16>, %c: tensor<3xf16>) -> tensor<2x3xf16> {
  // CHECK: %[[OLD:.*]] = pipe.load_weight @mean
  // CHECK: %[[X:.*]] = pipe.convert %{{.*}} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  // CHECK: %[[MEAN:.*]] = pipe.reduce mean %[[X]] dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: pipe.convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  // CHECK: %[[WIDE:.*]] = pipe.convert %[[OLD]] : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK: %[[NEW:.*]] = pipe.add %{{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: pipe.convert %[[NEW]] : (tensor<3xf32>) -> tensor<3xf16>
  %m = pipe.load_weight @mean : tensor<3xf16>
  %0 = pipe.batch_norm %x scale %c bias %c mean %m variance %c epsilon 1.0 : (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  pipe.output %0 : tensor<2x3xf16>
}

// -----

// Instance normalisation with running statistics: the images' channels are those of one image, the statistics are repeated for each.
pipe.weight @mean buffer : tensor<3xf32> from #pipe.source<"m", 24, 12>
pipe.weight @variance buffer : tensor<3xf32> from #pipe.source<"m", 36, 12>
// CHECK-LABEL: pipe.graph @instance
// CHECK-SAME: tensor<3xf32> {pipe.buffer = "mean", pipe.name = "mean:new"}, tensor<3xf32> {pipe.buffer = "variance", pipe.name = "variance:new"})
pipe.graph @instance(%x: tensor<1x6x5xf32>, %c: tensor<6xf32>) -> tensor<1x6x5xf32> {
  // CHECK: %[[OLD:.*]] = pipe.load_weight @mean
  // CHECK: %[[MEAN:.*]] = pipe.reduce mean %{{.*}} dims [0, 2] : (tensor<1x6x5xf32>) -> tensor<6xf32>
  // CHECK: %[[EACH:.*]] = pipe.reshape %[[MEAN]] to [2, 3]
  // CHECK: %[[OVER:.*]] = pipe.reduce mean %[[EACH]] dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: pipe.mul %[[OLD]]
  // CHECK: pipe.mul %[[OVER]]
  // CHECK: pipe.constant dense<1.250000e+00>
  %m = pipe.load_weight @mean : tensor<3xf32>
  %v = pipe.load_weight @variance : tensor<3xf32>
  %m1 = pipe.reshape %m to [1, 3] : (tensor<3xf32>) -> tensor<1x3xf32>
  %m2 = pipe.broadcast %m1 to [2, 3] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %m3 = pipe.reshape %m2 to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %v1 = pipe.reshape %v to [1, 3] : (tensor<3xf32>) -> tensor<1x3xf32>
  %v2 = pipe.broadcast %v1 to [2, 3] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %v3 = pipe.reshape %v2 to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %0 = pipe.batch_norm %x scale %c bias %c mean %m3 variance %v3 epsilon 1.0 : (tensor<1x6x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x5xf32>
  pipe.output %0 : tensor<1x6x5xf32>
}

// -----

// Repeated in another order, elements are no images: nothing moves.
pipe.weight @mean buffer : tensor<3xf32> from #pipe.source<"m", 24, 12>
// CHECK-LABEL: pipe.graph @otherwise
// CHECK-SAME: -> tensor<1x6x5xf32> {
pipe.graph @otherwise(%x: tensor<1x6x5xf32>, %c: tensor<6xf32>) -> tensor<1x6x5xf32> {
  %m = pipe.load_weight @mean : tensor<3xf32>
  %m1 = pipe.reshape %m to [3, 1] : (tensor<3xf32>) -> tensor<3x1xf32>
  %m2 = pipe.broadcast %m1 to [3, 2] : (tensor<3x1xf32>) -> tensor<3x2xf32>
  %m3 = pipe.reshape %m2 to [6] : (tensor<3x2xf32>) -> tensor<6xf32>
  %0 = pipe.batch_norm %x scale %c bias %c mean %m3 variance %c epsilon 1.0 : (tensor<1x6x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x5xf32>
  pipe.output %0 : tensor<1x6x5xf32>
}
