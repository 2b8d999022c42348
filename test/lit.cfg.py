# The lit suite: IR in, pipec-opt or pipec runs, FileCheck or diagnostics out.
# Tests that need models outside the repository ask for the feature `shared`.
import os

import lit.formats

config.name = "pipec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "fuzz", "docs", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.pipec_test_exec_root

config.environment["PATH"] = os.path.pathsep.join(
    [config.pipec_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

config.substitutions.append(("%root", config.pipec_source_root))
config.substitutions.append(("%python", config.pipec_python))

shared = os.path.join(os.path.dirname(config.pipec_source_root), "shared")
if os.path.isdir(shared):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", shared))
