"""Runs or trains a package from Python by ctypes: no module but the standard library.

  embed.py LIBRARY run model.pipe                           inputs of zeros, prints the outputs
  embed.py LIBRARY train model.pipe learned.safetensors     50 steps on a made-up batch

LIBRARY is the path of libpipec.so. Structures are those of pipec/pipec.h. Tests: test/install.
"""

import ctypes as c
import sys

BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 2, 12: 4, 13: 8}  # by PIPEC_BOOL, ..
I64, F32 = 5, 12
DATA, LABELS = 0, 1


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("dtype", c.c_int32), ("rank", c.c_int32), ("shape", c.POINTER(c.c_int64)), ("data", c.c_void_p)]


class Input(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("shape", c.POINTER(c.c_int64)), ("rank", c.c_int32),
                ("dtype", c.c_int32), ("role", c.c_int32), ("whole", c.c_int32)]


class StepResult(c.Structure):
    _fields_ = [("size", c.c_size_t), ("step", c.c_int64), ("loss", c.c_double), ("gradient_norm", c.c_double), ("learning_rate", c.c_double)]


class TrainerOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("optimizer", c.c_char_p), ("lr_schedule", c.c_char_p)] + [
        (name, c.c_double) for name in "lr weight_decay momentum dampening beta1 beta2 eps clip_norm".split()] + [
        (name, c.c_int64) for name in "warmup_steps total_steps accumulate".split()] + [
        (name, c.c_uint64) for name in "seed memory_limit".split()] + [
        (name, c.c_int32) for name in "nesterov transmit_shared_weights reference_kernels check_numerics".split()]


class Pipec:
    """The library's functions; one that fails raises RuntimeError with its message."""

    def __init__(self, path):
        self.library = c.CDLL(path)
        if self.library.pipec_abi_version() != 1:
            raise RuntimeError(f"{path} has another ABI version")
        self.library.pipec_error_message.restype = c.c_char_p
        self.library.pipec_tensors_count.restype = c.c_size_t
        self.library.pipec_package_input_count.restype = c.c_size_t
        self.library.pipec_trainer_microbatches.restype = c.c_int64

    def call(self, name, *arguments):
        error = c.c_void_p()
        if getattr(self.library, name)(*arguments, c.byref(error)) != 0:
            message = self.library.pipec_error_message(error).decode(errors="replace")
            self.library.pipec_error_free(error)
            raise RuntimeError(message)

    def open(self, path):
        package = c.c_void_p()
        self.call("pipec_package_open", path.encode(), c.byref(package))
        return package

    def batch(self, package, microbatches, value):
        """A tensor for each input that the caller feeds; value(i, dtype) is the number at place i."""
        tensors = []
        for index in range(self.library.pipec_package_input_count(package)):
            port = Input(size=c.sizeof(Input))
            self.call("pipec_package_input", package, c.c_size_t(index), c.c_size_t(0), c.byref(port))
            if port.role not in (DATA, LABELS):
                continue
            shape = (c.c_int64 * max(port.rank, 1))(*port.shape[:port.rank])
            if port.rank and not port.whole:
                shape[0] *= microbatches
            count = 1
            for size in shape[:port.rank]:
                count *= size
            kind = {I64: c.c_int64, F32: c.c_float}.get(port.dtype)
            data = (kind * count)(*[value(i, port.dtype) for i in range(count)]) if kind else c.create_string_buffer(count * BYTES[port.dtype])
            tensors.append(Tensor(port.name, port.dtype, port.rank, shape, c.cast(data, c.c_void_p)))
            tensors[-1].keep = data
        array = (Tensor * len(tensors))(*tensors)
        array.keep = tensors
        return array


def run(pipec, path):
    package, session, outputs = pipec.open(path), c.c_void_p(), c.c_void_p()
    pipec.call("pipec_session_create", package, None, c.byref(session))
    batch = pipec.batch(package, 1, lambda i, dtype: 0)
    pipec.call("pipec_session_run", session, batch, c.c_size_t(len(batch)), c.c_int64(0), c.byref(outputs))
    for index in range(pipec.library.pipec_tensors_count(outputs)):
        output = Tensor()
        pipec.call("pipec_tensors_get", outputs, c.c_size_t(index), c.byref(output))
        shape = output.shape[:output.rank]
        numbers = c.cast(output.data, c.POINTER(c.c_float))[:4] if output.dtype == F32 else []
        print(f"{output.name.decode()}: {'x'.join(map(str, shape))}", *(f"{number:g}" for number in numbers))
    pipec.library.pipec_tensors_free(outputs)
    pipec.library.pipec_session_free(session)
    pipec.library.pipec_package_free(package)


def train(pipec, path, learned):
    package, trainer = pipec.open(path), c.c_void_p()
    options = TrainerOptions()
    pipec.library.pipec_trainer_options_init(c.byref(options), c.c_size_t(c.sizeof(options)))
    options.optimizer, options.lr = b"adamw", 1e-2
    pipec.call("pipec_trainer_create", package, c.byref(options), c.byref(trainer))
    batch = pipec.batch(package, pipec.library.pipec_trainer_microbatches(trainer),
                        lambda i, dtype: i % 3 if dtype == I64 else (i * 7 % 13) / 6.5 - 1)
    result = StepResult(size=c.sizeof(StepResult))
    for step in range(50):
        pipec.call("pipec_trainer_step", trainer, batch, c.c_size_t(len(batch)), c.byref(result))
        if step % 10 == 0 or step == 49:
            print(f"step {result.step}: loss {result.loss:.4f}, gradient norm {result.gradient_norm:.4f}")
    pipec.call("pipec_trainer_save_parameters", trainer, learned.encode(), c.c_int32(1))
    print(f"wrote {learned}")
    pipec.library.pipec_trainer_free(trainer)
    pipec.library.pipec_package_free(package)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2] == "run":
        run(Pipec(sys.argv[1]), sys.argv[3])
    elif len(sys.argv) == 5 and sys.argv[2] == "train":
        train(Pipec(sys.argv[1]), *sys.argv[3:])
    else:
        sys.exit(__doc__)
