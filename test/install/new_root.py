#!/usr/bin/env python3
"""An installed pipec on a machine that has neither the checkout nor the build: installs everything, moves it, and makes a root
in a mount namespace that holds the system's folders, what was moved and copies of the examples. There it runs and trains by the
command, and builds and runs the examples in C (CMake in C alone, pkg-config), C++ (the same) and Python.

Exit status 77, with the reason, where the machine permits no mount namespace.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

WORK = "/pipec-test"
SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc"]
# What a user's environment may hold is no help here.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}


def succeed(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def inside(*command, **options):
    return succeed(*command, env=ENVIRONMENT, **options)


def expect(text, pattern):
    if not re.search(pattern, text, re.S):
        sys.exit(f"expected {pattern!r} in\n{text}")


def enter(root, hidden):
    """Makes `root` the root of this process: the system's folders, none of `hidden`, and what lies in it already as it is."""
    for name in SYSTEM:
        source, target = "/" + name, os.path.join(root, name)
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isdir(source):
            os.mkdir(target)
            succeed("mount", "--rbind", source, target)
    os.mkdir(os.path.join(root, "root"))
    for path in hidden:
        within = root + path
        if os.path.isdir(within):  # a checkout below /usr, say
            succeed("mount", "-t", "tmpfs", "none", within)
    os.mkdir(os.path.join(root, "tmp"))
    os.chroot(root)
    os.chdir(WORK)
    for path in hidden:
        if os.path.isdir(path) and os.listdir(path):
            sys.exit(f"{path} can still be seen")


def check_symbols():
    """The C interface is all that the library exports."""
    symbols = inside("nm", "-D", "--defined-only", "/opt/pipec/lib/libpipec.so") if shutil.which("nm") else ""
    for line in symbols.splitlines():
        if not line.split()[-1].startswith("pipec_"):
            sys.exit(f"libpipec.so exports {line}")


def check_command(pipec, models):
    version = inside(pipec, "--version")
    expect(version, r"\d+\.\d+")
    inside(pipec, "run", f"{models}/model.onnx", "--stages", "3", "--microbatches", "2", "--inputs", f"{models}/inputs.safetensors",
           "--expect", f"{models}/outputs.safetensors")
    inside(pipec, "compile", f"{models}/model.onnx", "-o", "run.pipe", "--stages", "2", "--bind", "batch=4", "--microbatches", "2")
    inside(pipec, "compile", f"{models}/model.onnx", "-o", "train.pipe", "--stages", "3", "--microbatches", "4", "--bind", "batch=8",
           "--loss", "cross_entropy", "--schedule", "1f1b")
    inside(pipec, "doctor")


def check_train(pipec):
    text = inside(pipec, "train", "train.pipe", "--inputs", "data.safetensors", "--steps", "3", "--checkpoint", "run",
                  "--save-params", "trained.safetensors")
    expect(text, "step 3 of 3")
    inside(pipec, "checkpoint", "export", "run", "-o", "exported.safetensors")


def build(name, prefix):
    inside("cmake", "-S", f"examples/{name}", "-B", f"build-{name}", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    inside("cmake", "--build", f"build-{name}")
    return f"build-{name}/{name}"


def check_examples(prefix):
    outputs = r"\d+x\d+ -?[0-9]"
    learned = r"step 0: loss 2\..*step 49: loss 0\..*wrote learned"
    expect(inside(build("run_c", prefix), "run.pipe"), outputs)
    expect(inside(build("train_c", prefix), "train.pipe", "learned.safetensors"), learned)
    expect(inside(build("run_package", prefix), "run.pipe"), r"f32\[\d+x\d+\] -?[0-9]")
    expect(inside(build("train_package", prefix), "train.pipe", "learned.safetensors"), learned)
    library = f"{prefix}/lib/libpipec.so"
    expect(inside("/usr/bin/python3", "examples/python/embed.py", library, "run", "run.pipe"), outputs)
    expect(inside("/usr/bin/python3", "examples/python/embed.py", library, "train", "train.pipe", "learned.safetensors"), learned)


def check_pkg_config(prefix):
    if not shutil.which("pkg-config"):
        print("no pkg-config here: its files are not tried")
        return
    flags = dict(os.environ, **ENVIRONMENT, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    for package, compiler, source, options in (("pipec", "gcc", "run_c/main.c", [f"-Wl,-rpath,{prefix}/lib"]),
                                               ("pipec-runtime", "g++", "run_package/main.cpp", ["-std=c++17"])):
        words = succeed("pkg-config", "--cflags", "--libs", package, env=flags).split()
        inside(compiler, f"examples/{source}", "-o", "by-pkg-config", *options, *words)
        expect(inside("./by-pkg-config", "run.pipe"), r"-?[0-9]")


def test(root, hidden):
    enter(root, hidden)
    prefix = "/opt/pipec"
    check_symbols()
    check_command(f"{prefix}/bin/pipec", f"{WORK}/mlp3")
    check_train(f"{prefix}/bin/pipec")
    check_examples(prefix)
    check_pkg_config(prefix)
    print("ran, trained and embedded from C, C++ and Python in a root without the checkout")


def prepare(root, source, build_folder, cmake):
    """Installs into one place, moves it to another, and copies what a user has."""
    first = os.path.join(root, "first-place")
    succeed(cmake, "--install", build_folder, "--prefix", first)
    os.makedirs(os.path.join(root, "opt"))
    os.rename(first, os.path.join(root, "opt", "pipec"))
    work = root + WORK
    shutil.copytree(os.path.join(source, "docs", "examples"), os.path.join(work, "examples"))
    shutil.copytree(os.path.join(source, "test", "models", "mlp3"), os.path.join(work, "mlp3"))
    succeed(os.path.join(source, ".venv", "bin", "python3"), "-c", "\n".join((
        "import numpy as np, sys", "from safetensors.numpy import save_file, load_file",
        "x = load_file(sys.argv[1])", "rows = next(iter(x.values())).shape[0]",
        "save_file({**{k: np.concatenate([v] * 8)[:8] for k, v in x.items()}, 'labels': np.arange(8) % 3}, sys.argv[2])")),
        os.path.join(work, "mlp3", "inputs.safetensors"), os.path.join(work, "data.safetensors"))


def namespace():
    """How to start a process that may mount; None where none may."""
    for options in (["--mount", "--propagation", "private"], ["--user", "--map-root-user", "--mount", "--propagation", "private"]):
        command = ["unshare", *options]
        try:
            tried = subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            return None
        if tried.returncode == 0:
            return command
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--root", help="in the namespace already: go on there")
    a = parser.parse_args()
    hidden = [os.path.realpath(a.source), os.path.realpath(a.build), os.path.realpath(os.path.join(a.source, ".venv"))]
    if a.root:
        return test(a.root, hidden)
    enter_namespace = namespace()
    if enter_namespace is None:
        print("skipped: this machine permits no mount namespace (unshare --mount, as root or with user namespaces)")
        return 77
    with tempfile.TemporaryDirectory(prefix="pipec-root-") as root:
        prepare(root, a.source, a.build, a.cmake)
        done = subprocess.run([*enter_namespace, sys.executable, os.path.abspath(__file__), "--source", a.source, "--build", a.build, "--root", root])
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
