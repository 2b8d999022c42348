"""What a text names exists: the tests in the comment that a source file opens with (`Tests: ..`), and the paths and links in the documents.

A name may hold `*`. One without a folder lies in a folder that the same sentence names, or beside a file that it names.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SOURCES = (".h", ".cpp", ".c", ".td", ".py", ".proto")
NAME = r"[\w.*/-]+"
# What documents name and is not in the repository: made by a build, or by the reader.
ELSEWHERE = ("build/", ".venv/", "../shared")


class Tree:
    def __init__(self, root):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
        self.root = root
        self.files = [file for file in listed.stdout.splitlines() if (root / file).exists()]
        self.folders = {str(parent) for file in self.files for parent in pathlib.PurePosixPath(file).parents if str(parent) != "."}

    def has(self, name):
        name = name.rstrip("/")
        if "*" in name:
            return any(pathlib.PurePosixPath(file).match(name) for file in self.files)
        return name in self.folders or name in self.files


def opening_comment(text, suffix):
    """[(line, text)] of the comment at the top: `//` lines, or a docstring."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if suffix == ".py":
            if lines and '"""' in line:
                return lines + [(number, line)]
            lines.append((number, line.lstrip("# ")))
        elif line.startswith("//"):
            lines.append((number, line[2:].strip()))
        elif line.strip():
            break
    return lines


def named_tests(comment):
    """[(line, name)] behind `Tests:` up to the end of its paragraph."""
    inside, found = False, []
    for number, line in comment:
        if inside and not line.strip():
            break
        start = re.search(r"(?:^|[.;:] |\"\"\")Tests?: ", line)
        if start and not inside:
            inside, line = True, line[start.end():]
        if inside:
            found += [(number, name.rstrip(".")) for name in re.findall(NAME, line)
                      if "/" in name.rstrip("./") or re.search(r"\.(cpp|mlir|test|py)\.?$", name)]
    return found


def source_faults(tree):
    count = 0
    for file in tree.files:
        suffix = pathlib.PurePosixPath(file).suffix
        if suffix not in SOURCES:
            continue
        names = named_tests(opening_comment((tree.root / file).read_text(errors="replace"), suffix))
        folders = {name if tree.has(name) and name in tree.folders else name.rpartition("/")[0] for _, name in names if "/" in name}
        for number, name in names:
            count += 1
            places = [name] if "/" in name else [f"{folder}/{name}" for folder in folders]
            if not any(tree.has(place) for place in places):
                yield f"{file}:{number}: names the test {name}, which is not there"
    if not count:
        yield "no source file names its tests"


def document_faults(tree):
    tops = {folder for folder in tree.folders if "/" not in folder}
    for file in tree.files:
        if not file.endswith(".md"):
            continue
        here = pathlib.PurePosixPath(file).parent
        fenced = False
        for number, line in enumerate((tree.root / file).read_text().splitlines(), 1):
            fenced ^= line.startswith("```")
            if fenced:
                continue
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
                target = (tree.root / here / link).resolve()
                if not target.exists():
                    yield f"{file}:{number}: links to {link}, which is not there"
            for path in re.findall(r"`(" + NAME + r")`", line):
                if "/" not in path or path.startswith(ELSEWHERE) or path.partition("/")[0] not in tops:
                    continue
                if not tree.has(path) and not any(tree.has(path + end) for end in (".cpp", ".h", ".py")):
                    yield f"{file}:{number}: names {path}, which is not there"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the repository")
    tree = Tree(pathlib.Path(parser.parse_args().root).resolve())
    faults = list(source_faults(tree)) + list(document_faults(tree))
    print("".join(fault + "\n" for fault in faults), end="")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
