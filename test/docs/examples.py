"""Every op, attribute and pass has a text and an example, and every example is true.

An op's example parses, verifies, and prints as it stands there, but for the names of values; lines that are no module are put into a graph whose
arguments are what they read. A pass's example begins with `// pipec-opt ARGUMENTS`, has a module, and either behind `// becomes` the module that comes out, or at
the ends of lines the diagnostics that come: `// error: TEXT`, `// remark: TEXT`.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/docs"))
import tablegen  # noqa: E402

VALUE = r"%[\w$.-]+"
HEADINGS = ["Does", "Requires", "Guarantees", "Fails when", "Options"]
LEAST_WORDS = 8  # of a description, beside the summary


class Runner:
    def __init__(self, program):
        self.program = pathlib.Path(program).resolve()

    def run(self, module, *arguments):
        """(exit status, stdout, stderr); messages name the file `example`."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "example").write_text(module)
            done = subprocess.run([self.program, "example", *arguments], cwd=folder, capture_output=True, text=True)
        # Names of locations are printed even where no location is.
        return done.returncode, re.sub(r"^#\w+ = loc\(.*\)\n", "", done.stdout, flags=re.M), done.stderr


def split_types(text):
    """The types of a comma-separated list, commas in brackets aside."""
    types, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            types.append(text[start:i].strip())
            start = i + 1
    return [t for t in types + [text[start:].strip()] if t]


def in_graph(lines):
    """A graph around ops that print their operands in order and then `: (types) -> types`."""
    known, arguments = set(), {}
    for line in lines:
        results, _, op = line.partition(" = ") if line.startswith("%") else ("", "", line)
        used, _, types = op.partition(" : (")
        types = split_types(types.partition(") -> ")[0])
        values = re.findall(VALUE, used)
        if len(values) != len(types):
            raise ValueError(f"cannot tell the types of the operands of: {line}")
        for value, kind in zip(values, types):
            if value not in known:
                arguments[value] = kind
        known.update(values, re.findall(VALUE, results))
    header = ", ".join(f"{value}: {kind}" for value, kind in arguments.items())
    return "\n".join([f"pipe.graph @main({header}) {{", *("  " + line for line in lines), "  pipe.output", "}"])


def is_module(lines):
    return all(re.match(r"pipe\.(graph|weight) |[ }#]", line) for line in lines)


def unnamed(text):
    """The text with all values called alike and space as it may be anywhere."""
    text = re.sub(r"^module \{\n(.*)^\}$", r"\1", text, flags=re.M | re.S)
    text = re.sub(VALUE + r", (?=" + VALUE + r"(, " + VALUE + r")* = )", "", text)  # %a, %b = .. prints as %0:2 = ..
    text = re.sub(VALUE + r"(:\d+)?(?= = )", "%", text)
    return re.sub(r"\s+", " ", re.sub(VALUE, "%", text)).strip()


def check_op(op, runner):
    if len(op.prose().split()) < LEAST_WORDS:
        yield "has no description"
    if not op.examples():
        yield "has no example"
    for example in op.examples():
        if not re.search(re.escape(op.name) + r"\b", example):
            yield f"has an example without {op.name}"
        lines = [line for line in example.splitlines() if line.strip()]
        try:
            module = example if is_module(lines) else in_graph(lines)
        except ValueError as error:
            yield str(error)
            continue
        status, printed, messages = runner.run(module)
        if status:
            yield f"has an example that is refused: {messages.strip()}\n{module}"
            continue
        if unnamed(printed) != unnamed(module):
            yield f"has an example that is not printed as it stands there:\n{module}\nbecomes\n{printed}"
        again = runner.run(printed)
        if again[:2] != (0, printed):
            yield f"has an example that does not come back from its own print:\n{printed}\nbecomes\n{again[1]}{again[2]}"


def check_attribute(attribute, runner):
    """The example is the attribute alone."""
    if not attribute.examples():
        yield "has no example"
    for example in attribute.examples():
        status, printed, messages = runner.run(f"module attributes {{pipe.example = {example.strip()}}} {{}}")
        if status:
            yield f"has an example that is refused: {messages.strip()}"
        elif example.strip() not in printed:
            yield f"has an example that is not printed as it stands there: {printed}"


def expected_diagnostics(module):
    """{(line, kind, text)} of the comments at the ends of lines."""
    found = set()
    for number, line in enumerate(module.splitlines(), 1):
        for kind, text in re.findall(r"// (error|remark|warning): (.*)$", line):
            found.add((number, kind, text.strip()))
    return found


def check_pass_example(name, example, runner):
    command, _, rest = example.partition("\n")
    if not command.startswith("// pipec-opt "):
        yield "has an example that does not begin with '// pipec-opt ARGUMENTS'"
        return
    arguments = shlex.split(command[len("// pipec-opt "):])
    if not any(argument.lstrip("-").split("=")[0] == name for argument in arguments):
        yield f"has an example that does not run it: {command}"
    before, _, after = rest.partition("// becomes\n")
    status, printed, messages = runner.run(before, *arguments)
    expected = expected_diagnostics(before)
    got = {(int(line), kind, text) for line, kind, text in
           re.findall(r"^example:(\d+):\d+: (error|remark|warning): (.*)$", messages, re.M)}
    missing = {e for e in expected if not any(g[:2] == e[:2] and e[2] in g[2] for g in got)}
    for line, kind, text in sorted(missing):
        yield f"has an example without the {kind} of its line {line}, '{text}': {messages.strip()}"
    for line, kind, text in sorted(g for g in got if not any(g[:2] == e[:2] and e[2] in g[2] for e in expected)):
        yield f"has an example whose line {line} gives another {kind}: {text}"
    failed = any(kind == "error" for _, kind, _ in expected)
    if (status != 0) != failed:
        yield f"has an example that ends with status {status}: {messages.strip()}"
        return
    if not after:
        if not expected:
            yield "has an example without '// becomes' and without a diagnostic"
        return
    wanted_status, wanted, wanted_messages = runner.run(after)
    if wanted_status:
        yield f"has an example whose result is refused: {wanted_messages.strip()}"
    elif printed != wanted:
        yield f"has an example that becomes something else:\n{printed}\nexpected\n{wanted}"


def check_pass(entry, runner):
    for heading in HEADINGS:
        if f"**{heading}.**" not in entry.text:
            yield f"says nothing under **{heading}.**"
    for option in entry.record["options"]:
        argument = entry.records[option["def"]]["argument"]
        if f"`{argument}`" not in entry.text:
            yield f"does not explain its option `{argument}`"
    if not entry.examples():
        yield "has no example"
    for example in entry.examples():
        yield from check_pass_example(entry.name, example, runner)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    tablegen.add_arguments(parser)
    parser.add_argument("--pipec-opt", required=True)
    args = parser.parse_args()
    source, runner = tablegen.from_arguments(args), Runner(args.pipec_opt)
    failures, count = [], 0
    for _, _, ops in source.ops_by_kind()[0]:
        for op in ops:
            count += 1
            failures += [f"{op.where}: {op.name} {failure}" for failure in check_op(op, runner)]
    for attribute in source.attributes():
        count += 1
        failures += [f"{attribute.where}: {attribute.name} {failure}" for failure in check_attribute(attribute, runner)]
    for _, passes, records in source.passes_by_phase():
        for entry in passes:
            count += 1
            entry.records = records
            failures += [f"{entry.where}: {entry.name} {failure}" for failure in check_pass(entry, runner)]
    print("\n\n".join(failures))
    print(f"{count} ops, attributes and passes, {len(failures)} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
