"""The ops and passes of the project as their .td files declare them, read from `llvm-tblgen --dump-json`.

In: the repository, llvm-tblgen and MLIR's include folder. Out: plain objects with their texts. A text is Markdown; an example in it is a block ```mlir.
Tests: test/docs/examples.py runs every example, `dialect_doc` compares docs/dialect.md.
"""

import json
import pathlib
import re
import subprocess
import textwrap

OP_KINDS = ["Elementwise", "Reduce", "Shape", "Index", "Linear", "Norm", "Training", "Pipeline"]


class Entry:
    """An op or a pass: `name` (pipe.add, pipe-import-remove-dead), `summary`, `text`, `where` (file:line), `record` (all that tablegen knows)."""

    def __init__(self, name, record, folder):
        self.name = name
        self.record = record
        self.summary = record["summary"].strip()
        self.text = dedent(record["description"])
        file, line = record["!locs"][0].rsplit(":", 1)
        self.where = f"{folder}/{pathlib.Path(file).name}:{line}"

    def examples(self):
        return re.findall(r"^```mlir\n(.*?)^```$", self.text, re.M | re.S)

    def prose(self):
        """The text without its examples."""
        return re.sub(r"^```mlir\n.*?^```$\n?", "", self.text, flags=re.M | re.S).strip()


def dedent(text):
    return textwrap.dedent(text or "").strip()


class Tablegen:
    def __init__(self, root, program, include):
        self.root, self.program, self.include = pathlib.Path(root), program, include

    def records(self, file):
        """Every record of a .td file, by name, with `!instanceof`."""
        done = subprocess.run(
            [self.program, "--dump-json", "-I", self.root, "-I", self.include, self.root / file],
            capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{file}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def ops_by_kind(self):
        """[(kind, first comment of its file, [op])], in the order of the files, and all records."""
        all_records = self.records("ir/PipeOps.td")
        by_file = {}
        for name in all_records["!instanceof"]["Pipe_Op"]:
            record = all_records[name]
            op = Entry("pipe." + record["opName"], record, "ir")
            by_file.setdefault(op.where.split(":")[0], []).append(op)
        files = [f"ir/{kind}Ops.td" for kind in OP_KINDS]
        there = {path.relative_to(self.root).as_posix() for path in self.root.glob("ir/*Ops.td")} - {"ir/PipeOps.td"}
        if there != set(files) or set(by_file) != set(files):
            raise SystemExit("OP_KINDS of tools/docs/tablegen.py, the files ir/*Ops.td and those that ir/PipeOps.td includes are not the same: "
                             + ", ".join(sorted(there.symmetric_difference(files) | set(by_file).symmetric_difference(files))))
        kinds = []
        for kind, file in zip(OP_KINDS, files):
            ops = sorted(by_file[file], key=lambda op: int(op.where.split(":")[1]))
            kinds.append((kind, leading_comment(self.root / file), ops))
        return kinds, all_records

    def attributes(self):
        """Those of the dialect that are no enumerations, in the order of their file."""
        records = self.records("ir/PipeAttrs.td")
        found = [Entry("#pipe." + records[name]["mnemonic"], records[name], "ir") for name in records["!instanceof"]["Pipe_Attr"]]
        return sorted(found, key=lambda attribute: int(attribute.where.split(":")[1]))

    def passes_by_phase(self):
        """[(folder of the phase, [pass], records)], for every passes/*/Passes.td."""
        phases = []
        for file in sorted(self.root.glob("passes/*/Passes.td"), key=phase_order):
            folder = file.parent.relative_to(self.root).as_posix()
            records = self.records(f"{folder}/Passes.td")
            entries = [Entry(records[name]["argument"], records[name], folder)
                       for name in records["!instanceof"]["PassBase"] if not records[name]["!anonymous"]]
            entries.sort(key=lambda entry: int(entry.where.split(":")[1]))
            phases.append((folder, entries, records))
        return phases


def phase_order(file):
    order = ["import", "partition", "differentiate", "lower"]
    name = file.parent.name
    return (order.index(name) if name in order else len(order), name)


def leading_comment(file):
    lines = []
    for line in file.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return " ".join(lines)


def add_arguments(parser):
    """The arguments by which a script finds tablegen; CMake gives them."""
    parser.add_argument("--root", required=True, help="the repository")
    parser.add_argument("--tablegen", required=True, help="llvm-tblgen")
    parser.add_argument("--include", required=True, help="MLIR's include folder")


def from_arguments(args):
    return Tablegen(args.root, args.tablegen, args.include)
