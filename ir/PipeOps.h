// All ops of the dialect.
#ifndef PIPEC_IR_PIPEOPS_H
#define PIPEC_IR_PIPEOPS_H

#include "ir/ElementwiseOps.h"
#include "ir/IndexOps.h"
#include "ir/LinearOps.h"
#include "ir/NormOps.h"
#include "ir/PipelineOps.h"
#include "ir/ReduceOps.h"
#include "ir/ShapeOps.h"
#include "ir/TrainingOps.h"

#endif // PIPEC_IR_PIPEOPS_H
