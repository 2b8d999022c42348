"""The checks of this folder on made-up inputs: each fault is found, and what is right is none."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import paths
import rooms
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))
import examples  # noqa: E402
import options  # noqa: E402

TABLE = """
| folder | what it is | depends on |
|---|---|---|
| `runtime/include/pipec` | public | |
| `runtime/base` | types | |
| `runtime/device` | devices | base |
| `passes/{import,lower}` | phases | device (for a reason), MLIR |
| `test` | tests | everything |

| folder | another table |
"""


class Repository:
    """A repository of the given files."""

    def __init__(self, files):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def __del__(self):
        self.folder.cleanup()


def faults_of_rooms(files, table=TABLE):
    needed = '#include "runtime/device/b.h"\n#include "mlir/IR/Types.h"\n'
    repository = Repository({"runtime/base/a.h": "", "runtime/device/b.h": '#include "runtime/base/a.h"\n', "passes/lower/c.h": needed, "passes/import/d.h": needed, "runtime/include/pipec/p.h": "", **files})
    rows = rooms.read_table(table)
    return list(rooms.violations(repository.root, rows, rooms.closure(rows)))


class Rooms(unittest.TestCase):
    def test_what_the_table_allows(self):
        self.assertEqual(faults_of_rooms({
            "runtime/device/cpu/x.cpp": '#include "runtime/device/b.h"\n#include "runtime/base/a.h"\n#include "pipec/p.h"\n',
            "passes/lower/x.cpp": '#include "runtime/base/a.h"\n#include "mlir/IR/Value.h"\n#include <vector>\n',
            "test/x.cpp": '#include "passes/lower/c.h"\n#include "llvm/ADT/STLExtras.h"\n'}), [])

    def test_each_violation(self):
        found = faults_of_rooms({
            "runtime/base/x.cpp": '// x\n#include "runtime/device/b.h"\n',
            "runtime/device/cpu/y.cpp": '#include "llvm/ADT/STLExtras.h"\n',
            "elsewhere/z.cpp": "\n",
            "passes/import/z.cpp": '#include "passes/lower/c.h"\n',
            "passes/lower/c.h": '#include "runtime/device/b.h"\n'})
        self.assertEqual(len(found), 5, found)
        self.assertIn("elsewhere/z.cpp: lies in no folder", found[0])
        self.assertIn("passes/import/z.cpp:1: passes/import includes passes/lower", found[1])
        self.assertIn("runtime/base/x.cpp:2: runtime/base includes runtime/device", found[2])
        self.assertIn("runtime/device/cpu/y.cpp:1: runtime/device includes MLIR", found[3])
        self.assertIn("the row of passes/lower names MLIR, which nothing there includes", found[4])

    def test_names(self):
        rows = dict.fromkeys(["runtime/schedule", "runtime/training", "passes/schedule", "front/onnx/file", "front/onnx/ops", "compiler"], [])
        for name, folder, folders in [("schedule", "runtime/training", {"runtime/schedule"}), ("onnx", "compiler", {"front/onnx/file", "front/onnx/ops"}),
                                      ("passes", "compiler", {"passes/schedule"}), ("file", "front/onnx/ops", {"front/onnx/file"})]:
            self.assertEqual(rooms.resolve(name, rows, folder), folders)

    def test_faults_of_the_table(self):
        for table, text in [(TABLE.replace("| base |", "| nowhere |"), "nowhere"), (TABLE.replace("| types | |", "| types | device |"), "circle"), ("", "no table")]:
            with self.assertRaisesRegex(rooms.TableError, text):
                faults_of_rooms({}, table)


class Paths(unittest.TestCase):
    def faults(self, files):
        repository = Repository({"test/a/OneTest.cpp": "", "test/a/TwoTest.cpp": "", **files})
        tree = paths.Tree(repository.root)
        return list(paths.source_faults(tree)) + list(paths.document_faults(tree))

    def test_what_is_there(self):
        self.assertEqual(self.faults({
            "x.cpp": "// Does x. Tests: test/a/OneTest.cpp, TwoTest.cpp,\n// test/a/*.cpp.\n#include <vector>\n",
            "docs/y.md": "[one](../test/a/OneTest.cpp) `test/a` `test/a/*.cpp` `no/such` `build/x`\n"}), [])

    def test_what_is_not(self):
        found = self.faults({
            "x.cpp": "// Tests: test/a/OneTest.cpp,\n// ThreeTest.cpp, test/b.\n",
            "docs/y.md": "[one](../test/a/None.cpp)\n`test/b/c`\n"})
        self.assertEqual([fault.split(":")[1] for fault in found], ["2", "2", "1", "2"], found)


class Examples(unittest.TestCase):
    def test_a_graph_is_put_around(self):
        module = examples.in_graph(["%a, %b = pipe.f %x k 2, %y {c = 1 : i64} : (tensor<2xf32>, tensor<3xi64>) -> (tensor<2xf32>, tensor<2xi64>)",
                                    "%c = pipe.g %a, %z : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>"])
        self.assertTrue(module.startswith("pipe.graph @main(%x: tensor<2xf32>, %y: tensor<3xi64>, %z: tensor<f32>) {"), module)

    def test_names_of_values_do_not_count(self):
        self.assertEqual(examples.unnamed("%a, %b = pipe.f %x  :"), examples.unnamed("%0:2 = pipe.f %arg0 :"))
        self.assertNotEqual(examples.unnamed("%a = pipe.f %x {b}"), examples.unnamed("%a = pipe.f %x"))


class Options(unittest.TestCase):
    def test_a_row(self):
        option = options.Option("-o,--out TEXT:{a,b}=a REQUIRED Needs: --in")
        option.text = "Where a|b goes"
        self.assertEqual(option.row(), "| `-o`, `--out` | `a`, `b` | required | Where a\\|b goes. Needs `--in`. |")


if __name__ == "__main__":
    unittest.main()
