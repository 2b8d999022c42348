/* pipec's C interface: open a package, run it, train it. C99, and C++.
 *
 *   pipec_package *package = NULL;
 *   pipec_error *error = NULL;
 *   if (pipec_package_open("model.pipe", &package, &error) != PIPEC_OK)
 *     fprintf(stderr, "%s\n", pipec_error_message(error));
 *
 * Rules that hold for every function:
 *
 * Errors. A function that can fail returns a pipec_status and takes, as its
 * last argument, a place for an error, which may be NULL. On failure *error is
 * a new object that the caller frees (NULL when memory ran out even for it),
 * and nothing else is written; on success it is set to NULL. Errors belong to
 * the call, not to a thread. No C++ exception leaves the library, and nothing
 * aborts. NULL where an object is needed, and an object of another kind, are
 * PIPEC_INVALID_ARGUMENT. An object that was freed must not be used again.
 *
 * Ownership. What is returned through a pointer to pointer belongs to the
 * caller, who frees it with the function of its name (free functions take
 * NULL). Everything else is borrowed and lives as long as the object it came
 * from. Objects keep alive what they need: a package may be freed as soon as a
 * session or trainer is made, and a list of tensors keeps its bytes.
 *
 * Threads. Different objects may be used by different threads at once. A
 * package, an error and a list of tensors may be read by several threads; a
 * session or a trainer must be used by one at a time: a call while another is
 * under way is PIPEC_INVALID_ARGUMENT.
 *
 * Versions. PIPEC_ABI_VERSION rises when a compiled program would have to be
 * compiled again. Structures that may grow begin with their size, which
 * pipec_*_init sets, so that a program and a library of different ages agree:
 * fields that the caller does not have keep their defaults; fields that the
 * library does not have must be zero, else PIPEC_UNSUPPORTED.
 */
#ifndef PIPEC_PIPEC_H
#define PIPEC_PIPEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PIPEC_ABI_VERSION 1

/* The ABI version of the library that is linked; a program compares it with
 * PIPEC_ABI_VERSION before anything else. */
uint32_t pipec_abi_version(void);

/* ---- errors ---- */

/* What the caller can do about it; see pipec/status.h. */
typedef int32_t pipec_status;
enum {
  PIPEC_OK = 0,
  PIPEC_INVALID_ARGUMENT = 1,   /* fix the arguments and call again */
  PIPEC_IO = 2,                 /* check the path and the disk */
  PIPEC_DATA_LOSS = 3,          /* a file is corrupt: make it again */
  PIPEC_UNSUPPORTED = 4,        /* this build cannot do it */
  PIPEC_RESOURCE_EXHAUSTED = 5, /* smaller batches or more stages */
  PIPEC_NUMERIC_ERROR = 6,      /* check_numerics met a NaN or infinity */
  PIPEC_CANCELLED = 7,          /* another stage failed first */
  PIPEC_INTERNAL = 8            /* a fault of pipec: please report it */
};

typedef struct pipec_error pipec_error;

/* One message that names file, stage, input or option. Borrowed; never NULL
 * (a text that says so for NULL). */
const char *pipec_error_message(const pipec_error *error);
/* The status that the failing call returned; PIPEC_INTERNAL for NULL. */
pipec_status pipec_error_status(const pipec_error *error);
void pipec_error_free(pipec_error *error);

/* ---- tensors ---- */

/* Element types, numbered as in packages. */
enum {
  PIPEC_BOOL = 1, /* one byte, 0 or 1 */
  PIPEC_I8 = 2,
  PIPEC_I16 = 3,
  PIPEC_I32 = 4,
  PIPEC_I64 = 5,
  PIPEC_U8 = 6,
  PIPEC_U16 = 7,
  PIPEC_U32 = 8,
  PIPEC_U64 = 9,
  PIPEC_F16 = 10,
  PIPEC_BF16 = 11,
  PIPEC_F32 = 12,
  PIPEC_F64 = 13
};

/* A dense, row-major, little-endian tensor that someone else owns. As an
 * argument: name, shape and data are read during the call only, and not
 * written. As a result: borrowed from the object it came from. */
typedef struct pipec_tensor {
  const char *name;
  int32_t dtype;        /* PIPEC_F32, .. */
  int32_t rank;         /* 0 to 32; 0 is a scalar, whose shape may be NULL */
  const int64_t *shape; /* rank sizes, from the outermost */
  void *data;           /* aligned for its dtype; NULL only without elements */
} pipec_tensor;

/* Tensors by name, in name order. */
typedef struct pipec_tensors pipec_tensors;

/* 0 for NULL. */
size_t pipec_tensors_count(const pipec_tensors *tensors);
/* Tensor number `index`, from 0. Error: PIPEC_INVALID_ARGUMENT when there is
 * none. */
pipec_status pipec_tensors_get(const pipec_tensors *tensors, size_t index,
                               pipec_tensor *tensor, pipec_error **error);
/* The tensor of that name; a tied parameter answers to each of its names.
 * Error: PIPEC_INVALID_ARGUMENT when there is none. */
pipec_status pipec_tensors_find(const pipec_tensors *tensors, const char *name,
                                pipec_tensor *tensor, pipec_error **error);
void pipec_tensors_free(pipec_tensors *tensors);

/* ---- packages ---- */

/* A model.pipe folder, opened and checked. */
typedef struct pipec_package pipec_package;

/* Errors: PIPEC_IO, PIPEC_DATA_LOSS (corrupt), PIPEC_UNSUPPORTED (another
 * format version). */
pipec_status pipec_package_open(const char *path, pipec_package **package,
                                pipec_error **error);
void pipec_package_free(pipec_package *package);

typedef struct pipec_package_options {
  size_t size;
  /* Folders whose files a package may name as its weights, beside its own. One
   * that was compiled with its weights in place needs none: it knows what lies
   * in their files, which one from elsewhere cannot know of others. */
  const char *const *allow_external; /* NULL without any */
  size_t allow_external_count;       /* 0 */
} pipec_package_options;

/* Sets the first `size` bytes to the defaults. Pass sizeof *options. */
void pipec_package_options_init(pipec_package_options *options, size_t size);

/* pipec_package_open with options; NULL: the defaults. */
pipec_status pipec_package_open_with(const char *path,
                                     const pipec_package_options *options,
                                     pipec_package **package,
                                     pipec_error **error);

/* Whether it was compiled for training (1) or for inference (0); 0 for NULL. */
int32_t pipec_package_is_trainable(const pipec_package *package);
/* Number of stages; 0 for NULL. */
size_t pipec_package_stage_count(const pipec_package *package);
/* Number of microbatch sizes that it was compiled for; 0 for NULL. */
size_t pipec_package_variant_count(const pipec_package *package);
/* Number of inputs, the runtime's own (see role) too; 0 for NULL. */
size_t pipec_package_input_count(const pipec_package *package);

/* Who feeds an input. */
enum {
  PIPEC_DATA = 0,       /* the caller */
  PIPEC_LABELS = 1,     /* the caller */
  PIPEC_LOSS_SCALE = 2, /* the runtime: not to be passed */
  PIPEC_RANDOM_KEY = 3, /* the runtime: not to be passed */
  PIPEC_LOSS_TOTAL = 4  /* the runtime: not to be passed */
};

typedef struct pipec_input {
  size_t size; /* sizeof(pipec_input) */
  const char *name;
  const int64_t *shape; /* of one microbatch */
  int32_t rank;
  int32_t dtype;
  int32_t role;
  int32_t whole; /* 1: every microbatch gets it uncut, else it is cut along
                    axis 0 */
} pipec_input;

/* Input `index` in microbatch size `variant`, both from 0. input->size must be
 * set. Error: PIPEC_INVALID_ARGUMENT when there is none. */
pipec_status pipec_package_input(const pipec_package *package, size_t index,
                                 size_t variant, pipec_input *input,
                                 pipec_error **error);

/* ---- running ---- */

typedef struct pipec_session_options {
  size_t size;
  uint64_t memory_limit;     /* bytes; 0: none */
  int32_t queue_capacity;    /* microbatches that may wait on a transfer; 2 */
  int32_t reference_kernels; /* 1: only the plain kernels, slow; 0 */
  int32_t check_numerics;    /* 1: stop at the first NaN or infinity; 0 */
  int32_t reserved;          /* 0 */
} pipec_session_options;

/* Sets the first `size` bytes to the defaults. Pass sizeof *options. */
void pipec_session_options_init(pipec_session_options *options, size_t size);

/* A package loaded and ready to run, one worker thread a stage. */
typedef struct pipec_session pipec_session;

/* `options` NULL: the defaults. Errors: PIPEC_DATA_LOSS, PIPEC_IO for weights,
 * PIPEC_RESOURCE_EXHAUSTED. */
pipec_status pipec_session_create(const pipec_package *package,
                                  const pipec_session_options *options,
                                  pipec_session **session, pipec_error **error);
/* Ends the workers. Not while a run is under way. */
void pipec_session_free(pipec_session *session);

/* Runs a whole batch and waits for it. `microbatches` is the number of pieces
 * of axis 0, cut as torch.tensor_split does; 0: as many as the compiled sizes
 * give. Outputs are whole-batch tensors, independent of the session. A failed
 * run leaves the session usable. Errors: PIPEC_INVALID_ARGUMENT for missing,
 * surplus, doubled or mis-shaped inputs. */
pipec_status pipec_session_run(pipec_session *session,
                               const pipec_tensor *inputs, size_t input_count,
                               int64_t microbatches, pipec_tensors **outputs,
                               pipec_error **error);

/* ---- training ---- */

/* torch.optim's options, with its defaults. */
typedef struct pipec_trainer_options {
  size_t size;
  const char *optimizer;   /* "sgd", "adam", "adamw"; NULL: "adamw" */
  const char *lr_schedule; /* "constant", "linear", "cosine"; NULL: constant */
  double lr;               /* 1e-3 */
  double weight_decay;     /* below 0, the default: 0.01 for adamw, else 0 */
  double momentum;         /* of sgd; 0 */
  double dampening;        /* of sgd; 0 */
  double beta1, beta2;     /* of adam and adamw; 0.9, 0.999 */
  double eps;              /* of adam and adamw; 1e-8 */
  double clip_norm;        /* largest global norm; 0: not clipped */
  int64_t warmup_steps;    /* of lr_schedule; 0 */
  int64_t total_steps;     /* of linear and cosine; 0 */
  int64_t accumulate;      /* a step's rows come in so many equal parts; 1 */
  uint64_t seed;           /* of dropout; 0 */
  uint64_t memory_limit;   /* bytes; 0: none */
  int32_t nesterov;        /* of sgd; 0 */
  int32_t transmit_shared_weights; /* 1: one stage owns a shared weight; 0 */
  int32_t reference_kernels;       /* 1: only the plain kernels, slow; 0 */
  int32_t check_numerics;          /* 1: stop at the first NaN or infinity; 0 */
} pipec_trainer_options;

/* Sets the first `size` bytes to the defaults. Pass sizeof *options. */
void pipec_trainer_options_init(pipec_trainer_options *options, size_t size);

/* A package for training, loaded: workers, weights, gradients and optimizer
 * state. */
typedef struct pipec_trainer pipec_trainer;

/* `options` NULL: the defaults. Errors: PIPEC_INVALID_ARGUMENT for a package
 * for inference and for options out of range, PIPEC_RESOURCE_EXHAUSTED,
 * PIPEC_DATA_LOSS. */
pipec_status pipec_trainer_create(const pipec_package *package,
                                  const pipec_trainer_options *options,
                                  pipec_trainer **trainer, pipec_error **error);
/* Ends the workers. Not while a step is under way. */
void pipec_trainer_free(pipec_trainer *trainer);

/* Microbatches of a step, which its rows are cut into: those that the package
 * was compiled for, times accumulate. 0 for NULL. */
int64_t pipec_trainer_microbatches(const pipec_trainer *trainer);

typedef struct pipec_step_result {
  size_t size;          /* sizeof(pipec_step_result), set by the caller */
  int64_t step;         /* the number of this step, from 0 */
  double loss;          /* of the whole batch */
  double gradient_norm; /* global, before clipping */
  double learning_rate; /* of this step */
} pipec_step_result;

/* One update from a batch of inputs and labels; waits for it. `result` may be
 * NULL. After a failed step, weights and optimizer state are as before it.
 * Errors: PIPEC_INVALID_ARGUMENT for missing, surplus, doubled or mis-shaped
 * tensors, PIPEC_NUMERIC_ERROR, PIPEC_RESOURCE_EXHAUSTED. */
pipec_status pipec_trainer_step(pipec_trainer *trainer,
                                const pipec_tensor *batch, size_t count,
                                pipec_step_result *result, pipec_error **error);

/* The number of the next step, which the learning rate and dropout depend on;
 * -1 for NULL. Setting it, to 0 up to 2^62, belongs to resuming. */
int64_t pipec_trainer_next_step(const pipec_trainer *trainer);
pipec_status pipec_trainer_set_next_step(pipec_trainer *trainer, int64_t step,
                                         pipec_error **error);

/* What a trainer holds. */
enum {
  PIPEC_PARAMETERS = 0,
  PIPEC_BUFFERS = 1,
  PIPEC_GRADIENTS = 2,      /* of the last step, before clipping and decay;
                               parameters that had none are absent */
  PIPEC_OPTIMIZER_STATE = 3 /* under its names in checkpoints */
};

/* The tensors of a kind, under their PyTorch names. They alias the trainer's
 * memory: reading them is for between steps, their values change with the next
 * step, and writing goes by pipec_trainer_write. */
pipec_status pipec_trainer_tensors(pipec_trainer *trainer, int32_t kind,
                                   pipec_tensors **tensors,
                                   pipec_error **error);
/* Copies values into tensors of a kind (not gradients), and brings them to
 * every stage. A tied parameter may have any of its names, or several with the
 * same values. All are checked
 * before any is written. Errors: PIPEC_INVALID_ARGUMENT for an unknown name,
 * another dtype or shape, and new values for a parameter that was frozen when
 * the package was compiled. */
pipec_status pipec_trainer_write(pipec_trainer *trainer, int32_t kind,
                                 const pipec_tensor *tensors, size_t count,
                                 pipec_error **error);

/* Writes parameters and buffers, under all their PyTorch names, as a
 * safetensors file. Appears whole or not at all; a file that exists is
 * PIPEC_IO unless `overwrite` is 1. */
pipec_status pipec_trainer_save_parameters(pipec_trainer *trainer,
                                           const char *path, int32_t overwrite,
                                           pipec_error **error);

/* ---- checkpoints ---- */

/* Writes the folder `directory`/step-<k>, k being the next step: parameters and
 * buffers under their PyTorch names, optimizer state, step and seed. It
 * appears whole or not at all. `keep` above 0: all but so many of the latest
 * are removed; below 0 is PIPEC_INVALID_ARGUMENT. Errors: PIPEC_IO, also where
 * that step's folder exists. */
pipec_status pipec_trainer_save_checkpoint(pipec_trainer *trainer,
                                           const char *directory, int64_t keep,
                                           pipec_error **error);
/* Goes on where a checkpoint was written, whatever the cut and the schedule of
 * that run. `path` is a checkpoint, or a folder of some, of which the latest is
 * taken. Errors: PIPEC_INVALID_ARGUMENT for another model, kind of optimizer,
 * or seed where something is random; PIPEC_IO; PIPEC_DATA_LOSS;
 * PIPEC_UNSUPPORTED. After an error, free the trainer and make a new one. */
pipec_status pipec_trainer_resume(pipec_trainer *trainer, const char *path,
                                  pipec_error **error);

#ifdef __cplusplus
}
#endif

#endif /* PIPEC_PIPEC_H */
