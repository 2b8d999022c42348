// All ops of the dialect: the file that tablegen reads for the documentation.
include "ir/ElementwiseOps.td"
include "ir/ReduceOps.td"
include "ir/ShapeOps.td"
include "ir/IndexOps.td"
include "ir/LinearOps.td"
include "ir/NormOps.td"
include "ir/TrainingOps.td"
include "ir/PipelineOps.td"
