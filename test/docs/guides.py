"""Runs every command of docs/guides and holds what it prints against what the guide shows.

A guide is run from top to bottom in an empty folder:
- `<!-- files: NAME = PATH, ... -->` puts files of the repository there under a name; `make-text` is what tools/make-text writes.
- ```console: `$ command` goes to bash; the lines below it are what it prints, stdout and stderr together. `...` stands for any text, alone for any lines; a number for
  any number. A command that shows an error has to fail, any other to succeed.
- ```console installed: the same, where --prefix names an installed pipec ($PIPEC_PREFIX; $PIPEC_SOURCE is the repository).
- ```python is run; ```python torch too where --torch-python is given, else it is compiled alone. What it writes replaces the files of the same names.
--store writes the files that such blocks made and `files` names below test/docs back there.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NUMBER = r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?"


class Fault(Exception):
    pass


def blocks(text):
    """(line, kind, content) of each comment with files and each fenced block."""
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        start, line = at + 1, lines[at]
        at += 1
        if match := re.match(r"<!-- files: (.*) -->$", line):
            found.append((start, "files", match[1]))
        elif line.startswith("```"):
            content = []
            while at < len(lines) and not lines[at].startswith("```"):
                content.append(lines[at])
                at += 1
            at += 1
            found.append((start, line[3:].strip(), "\n".join(content)))
    return found


def commands(content):
    """[(command, [expected lines])] of a console block."""
    found = []
    for line in content.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise Fault("a console block has to begin with a command")
        else:
            found[-1][1].append(line)
    return found


def pattern(line):
    """A regular expression for a line of a guide: spaces are any, numbers are any, `...` is anything."""
    parts = re.split(rf"(\.\.\.|\s+|{NUMBER})", line.strip())
    return "".join(".*" if part == "..." else r"\s+" if part.isspace() else NUMBER if re.fullmatch(NUMBER, part) else re.escape(part) for part in parts)


def missing(expected, printed):
    """The first expected line that was not printed in its place, a line too many, or None."""
    text = "".join(line.strip() + "\n" for line in printed)
    parts = [r"(?:.*\n)*?" if line.strip() == "..." else pattern(line) + r"\n" for line in expected]
    if re.fullmatch("".join(parts), text):
        return None
    for count in range(1, len(parts) + 1):
        if not re.match("".join(parts[:count]), text):
            return f"not printed: {expected[count - 1]!r}"
    return "it printed more than the guide shows"


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder, self.named = options, folder, {}
        self.environment = dict(os.environ, PIPEC_SOURCE=str(options.root), PIPEC_PREFIX=str(options.prefix or ""),
                                PATH=f"{options.pipec.parent}:{os.environ['PATH']}")

    def files(self, content):
        for entry in content.split(","):
            name, path = (part.strip() for part in entry.split("="))
            if path == "make-text":
                self.call([sys.executable, self.options.root / "tools/make-text", "text.txt", name])
                continue
            self.named[name] = self.options.root / path
            if not (self.folder / name).exists() and not self.options.store:  # else a block makes it
                shutil.copy(self.named[name], self.folder / name)

    def call(self, command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=600)

    def python(self, content, interpreter):
        (self.folder / "guide.py").write_text(content)
        done = self.call([interpreter, "guide.py"])
        if done.returncode:
            raise Fault(f"python failed: {done.stdout[-2000:]}")

    def console(self, content):
        for command, expected in commands(content):
            done = self.call(["bash", "-c", command])
            fails = any("pipec: error:" in line for line in expected)
            wrong = missing(expected, done.stdout.splitlines())
            if bool(done.returncode) != fails:
                wrong = f"exit status {done.returncode}"
            if wrong:
                raise Fault(f"{command}\n{wrong}; it printed:\n{done.stdout[-4000:]}")

    def run(self, kind, content):
        if kind == "files":
            self.files(content)
        elif kind == "console" or (kind == "console installed" and self.options.prefix):
            self.console(content)
        elif kind == "python":
            self.python(content, sys.executable)
        elif kind == "python torch":
            compile(content, "guide", "exec")
            if self.options.torch_python:
                self.python(self.torch_so_far(content), self.options.torch_python)

    def torch_so_far(self, content):
        """The blocks of a guide are one program: those above come first."""
        self.program = getattr(self, "program", "") + content + "\n"
        return self.program


def run_guide(guide, options):
    with tempfile.TemporaryDirectory() as name:
        runner = Runner(options, pathlib.Path(name))
        for line, kind, content in blocks(guide.read_text()):
            try:
                runner.run(kind, content)
            except (Fault, SyntaxError, OSError, subprocess.TimeoutExpired) as fault:
                print(f"{guide.relative_to(options.root)}:{line}: {fault}")
                return 1
        for file, target in runner.named.items():
            if options.store and target.is_relative_to(options.root / "test/docs"):
                shutil.copy(runner.folder / file, target)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=pathlib.Path, help="the repository")
    parser.add_argument("--pipec", required=True, type=pathlib.Path, help="the command")
    parser.add_argument("--prefix", type=pathlib.Path, help="where pipec is installed")
    parser.add_argument("--torch-python", default=os.environ.get("PIPEC_TEST_TORCH_PYTHON"), help="a Python with torch and safetensors (PIPEC_TEST_TORCH_PYTHON)")
    parser.add_argument("--store", action="store_true", help="store what the blocks for torch made")
    parser.add_argument("guides", nargs="*", type=pathlib.Path, help="default: all")
    options = parser.parse_args()
    options.root, options.pipec = options.root.resolve(), options.pipec.resolve()
    options.prefix = options.prefix and options.prefix.resolve()
    guides = [guide.resolve() for guide in options.guides] or sorted((options.root / "docs/guides").glob("*.md"))
    faults = sum(run_guide(guide, options) for guide in guides)
    print(f"{len(guides)} guides, {faults} faults")
    return 1 if faults or not guides else 0


if __name__ == "__main__":
    sys.exit(main())
