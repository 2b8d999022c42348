/* Trains a package on one made-up batch, prints the losses, shows a parameter,
 * and saves what was learned: train_package in C.
 * Usage: train_c model.pipe learned.safetensors. The package is compiled with
 * --loss, takes f32 inputs and i64 inputs or labels. Tests: test/install. */
#include "pipec/pipec.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 50, MAX_INPUTS = 8, MAX_RANK = 32 };

typedef struct batch {
  pipec_tensor tensors[MAX_INPUTS];
  int64_t shapes[MAX_INPUTS][MAX_RANK];
  size_t count;
} batch;

static void free_batch(batch *rows) {
  for (size_t i = 0; i < rows->count; ++i)
    free(rows->tensors[i].data);
}

/* A step's rows of one input: microbatches of the first size compiled. */
static int add_input(batch *rows, const pipec_input *input,
                     int64_t microbatches) {
  if (rows->count == MAX_INPUTS)
    return 0;
  pipec_tensor *tensor = &rows->tensors[rows->count];
  int64_t *shape = rows->shapes[rows->count];
  int64_t count = 1;
  for (int32_t d = 0; d < input->rank; ++d) {
    shape[d] = input->shape[d];
    if (d == 0 && !input->whole)
      shape[d] *= microbatches;
    count *= shape[d];
  }
  tensor->name = input->name;
  tensor->dtype = input->dtype;
  tensor->rank = input->rank;
  tensor->shape = shape;
  tensor->data = calloc((size_t)count + 1, 8);
  if (!tensor->data)
    return 0;
  ++rows->count;
  for (int64_t i = 0; i < count; ++i)
    if (input->dtype == PIPEC_F32)
      ((float *)tensor->data)[i] = (float)(i * 7 % 13) / 6.5f - 1;
    else if (input->dtype == PIPEC_I64)
      ((int64_t *)tensor->data)[i] = i % 3;
  return 1;
}

static pipec_status make_batch(const pipec_package *package,
                               int64_t microbatches, batch *rows,
                               pipec_error **error) {
  for (size_t i = 0; i < pipec_package_input_count(package); ++i) {
    pipec_input input;
    input.size = sizeof input;
    pipec_status status = pipec_package_input(package, i, 0, &input, error);
    if (status != PIPEC_OK)
      return status;
    if (input.role != PIPEC_DATA && input.role != PIPEC_LABELS)
      continue; /* the trainer's own */
    if (!add_input(rows, &input, microbatches))
      return PIPEC_RESOURCE_EXHAUSTED;
  }
  return PIPEC_OK;
}

static pipec_status train(pipec_trainer *trainer, const batch *rows,
                          pipec_error **error) {
  for (int i = 0; i < STEPS; ++i) {
    pipec_step_result result;
    result.size = sizeof result;
    pipec_status status =
        pipec_trainer_step(trainer, rows->tensors, rows->count, &result, error);
    if (status != PIPEC_OK)
      return status;
    if (i % 10 == 0 || i + 1 == STEPS)
      printf("step %lld: loss %.4f, gradient norm %.4f\n",
             (long long)result.step, result.loss, result.gradient_norm);
  }
  return PIPEC_OK;
}

static pipec_status show_first_parameter(pipec_trainer *trainer,
                                         pipec_error **error) {
  pipec_tensors *parameters = NULL;
  pipec_tensor first;
  pipec_status status =
      pipec_trainer_tensors(trainer, PIPEC_PARAMETERS, &parameters, error);
  if (status == PIPEC_OK)
    status = pipec_tensors_get(parameters, 0, &first, error);
  if (status == PIPEC_OK && first.dtype == PIPEC_F32)
    printf("%zu parameters; the first is %s and begins with %g\n",
           pipec_tensors_count(parameters), first.name,
           (double)((const float *)first.data)[0]);
  pipec_tensors_free(parameters);
  return status;
}

static pipec_status work(const char *path, const char *learned,
                         pipec_error **error) {
  pipec_package *package = NULL;
  pipec_trainer *trainer = NULL;
  batch rows = {0};
  pipec_trainer_options options;
  pipec_trainer_options_init(&options, sizeof options);
  options.optimizer = "adamw";
  options.lr = 1e-2;
  pipec_status status = pipec_package_open(path, &package, error);
  if (status == PIPEC_OK)
    status = pipec_trainer_create(package, &options, &trainer, error);
  if (status == PIPEC_OK)
    status =
        make_batch(package, pipec_trainer_microbatches(trainer), &rows, error);
  if (status == PIPEC_OK)
    status = train(trainer, &rows, error);
  if (status == PIPEC_OK)
    status = show_first_parameter(trainer, error);
  if (status == PIPEC_OK)
    status = pipec_trainer_save_parameters(trainer, learned, 1, error);
  if (status == PIPEC_OK)
    printf("wrote %s\n", learned);
  free_batch(&rows);
  pipec_trainer_free(trainer);
  pipec_package_free(package);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: train_c model.pipe learned.safetensors\n");
    return 2;
  }
  if (pipec_abi_version() != PIPEC_ABI_VERSION) {
    fprintf(stderr, "train_c: the library has another ABI version\n");
    return 1;
  }
  pipec_error *error = NULL;
  pipec_status status = work(argv[1], argv[2], &error);
  if (status != PIPEC_OK)
    fprintf(stderr, "train_c: %s\n", pipec_error_message(error));
  pipec_error_free(error);
  return status == PIPEC_OK ? 0 : 1;
}
