/* Runs a package once on inputs of zeros and prints its outputs: run_package in
 * C. Usage: run_c model.pipe. Tests: test/install. */
#include "pipec/pipec.h"

#include <stdio.h>
#include <stdlib.h>

static size_t byte_size(int32_t dtype) {
  switch (dtype) {
  case PIPEC_BOOL:
  case PIPEC_I8:
  case PIPEC_U8:
    return 1;
  case PIPEC_I16:
  case PIPEC_U16:
  case PIPEC_F16:
  case PIPEC_BF16:
    return 2;
  case PIPEC_I32:
  case PIPEC_U32:
  case PIPEC_F32:
    return 4;
  default:
    return 8;
  }
}

/* One microbatch of zeros for input `index`; the caller frees tensor->data. */
static pipec_status make_input(const pipec_package *package, size_t index,
                               pipec_tensor *tensor, pipec_error **error) {
  pipec_input input;
  input.size = sizeof input;
  pipec_status status = pipec_package_input(package, index, 0, &input, error);
  if (status != PIPEC_OK)
    return status;
  size_t count = 1;
  for (int32_t d = 0; d < input.rank; ++d)
    count *= (size_t)input.shape[d];
  tensor->name = input.name;
  tensor->dtype = input.dtype;
  tensor->rank = input.rank;
  tensor->shape = input.shape; /* lives as long as the package */
  tensor->data = calloc(count ? count : 1, byte_size(input.dtype));
  return tensor->data ? PIPEC_OK : PIPEC_RESOURCE_EXHAUSTED;
}

static void print_tensor(const pipec_tensor *tensor) {
  size_t count = 1;
  printf("%s:", tensor->name);
  for (int32_t d = 0; d < tensor->rank; ++d) {
    printf("%s%lld", d ? "x" : " ", (long long)tensor->shape[d]);
    count *= (size_t)tensor->shape[d];
  }
  if (tensor->dtype == PIPEC_F32)
    for (size_t i = 0; i < count && i < 8; ++i)
      printf(" %g", (double)((const float *)tensor->data)[i]);
  printf("\n");
}

static pipec_status run(const pipec_package *package, pipec_error **error) {
  size_t count = pipec_package_input_count(package), made = 0;
  pipec_tensor *inputs = calloc(count ? count : 1, sizeof *inputs);
  pipec_session *session = NULL;
  pipec_tensors *outputs = NULL;
  pipec_status status = inputs ? PIPEC_OK : PIPEC_RESOURCE_EXHAUSTED;
  for (; status == PIPEC_OK && made < count; ++made)
    status = make_input(package, made, &inputs[made], error);
  if (status == PIPEC_OK)
    status = pipec_session_create(package, NULL, &session, error);
  if (status == PIPEC_OK)
    status = pipec_session_run(session, inputs, count, 0, &outputs, error);
  for (size_t i = 0; status == PIPEC_OK && i < pipec_tensors_count(outputs);
       ++i) {
    pipec_tensor output;
    status = pipec_tensors_get(outputs, i, &output, error);
    if (status == PIPEC_OK)
      print_tensor(&output);
  }
  pipec_tensors_free(outputs);
  pipec_session_free(session);
  for (size_t i = 0; i < made; ++i)
    free(inputs[i].data);
  free(inputs);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: run_c model.pipe\n");
    return 2;
  }
  if (pipec_abi_version() != PIPEC_ABI_VERSION) {
    fprintf(stderr, "run_c: the library has another ABI version\n");
    return 1;
  }
  pipec_error *error = NULL;
  pipec_package *package = NULL;
  pipec_status status = pipec_package_open(argv[1], &package, &error);
  if (status == PIPEC_OK)
    status = run(package, &error);
  if (status != PIPEC_OK)
    fprintf(stderr, "run_c: %s\n", pipec_error_message(error));
  pipec_error_free(error);
  pipec_package_free(package);
  return status == PIPEC_OK ? 0 : 1;
}
