"""Every include follows the table of folders in docs/architecture.md.

The table is what is enforced: a folder may include itself and what lies below it, the public headers, what its row names, and what those name in turn.
A name is a folder of the table, by its whole path, its last parts, or one that several lie below; a remark in brackets is for readers. MLIR stands for the headers
of MLIR and LLVM, `everything` for all. A folder without a row belongs to the nearest above it that has one. A name that no include needs is a fault, too.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PUBLIC = "runtime/include/pipec"
EVERYTHING = "everything"
EXTERNAL = {"mlir": "MLIR", "mlir-c": "MLIR", "llvm": "MLIR", "llvm-c": "MLIR"}


class TableError(Exception):
    pass


def expand(cell):
    """The folders that the first cell of a row names: `a/b`, `c` is a/b and a/c; `a/{b,c}` is the same."""
    folders = []
    for name in re.findall(r"`([^`]+)`", cell):
        head, brace, tail = name.partition("{")
        names = [head + part.strip() for part in tail.rstrip("}").split(",")] if brace else [name.rstrip("/")]
        if folders and not brace and "/" not in name:
            parent = folders[0].rpartition("/")[0]
            names = [f"{parent}/{name}" if parent else name]
        folders += names
    return folders


def read_table(text):
    """{folder: [names that its row gives]} of the table that begins with `| folder |`."""
    rows, inside = {}, False
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:1] == ["folder"]:
            inside = True
        elif inside and not cells:
            break
        elif inside and not set(cells[0]) <= {"-"}:
            depends = re.sub(r"\([^)]*\)", "", cells[2]).replace("`", "")
            names = [name.strip() for name in depends.split(",") if name.strip()]
            for folder in expand(cells[0]):
                if folder in rows:
                    raise TableError(f"two rows for {folder}")
                rows[folder] = names
    if not rows:
        raise TableError("no table that begins with '| folder |'")
    return rows


def resolve(name, rows, folder):
    if name == EVERYTHING or name in EXTERNAL.values():
        return {name}
    found = {row for row in rows if row == name or row.startswith(name + "/")}
    if not found:  # the last parts of a path, or a part that several lie below
        found = {row for row in rows if row.endswith("/" + name)} or {row for row in rows if f"/{name}/" in row}
        beside = {row for row in found if row.rpartition("/")[0] == folder.rpartition("/")[0]}
        if len(found) > 1 and beside:
            found = beside
    if not found:
        raise TableError(f"the row of {folder} names {name}, which is no folder of the table")
    return found - {folder}


def closure(rows):
    """{folder: all that it may include}; a cycle is an error."""
    direct = {folder: set().union(*(resolve(name, rows, folder) for name in names), set()) for folder, names in rows.items()}
    reach = {}

    def visit(folder, path):
        if folder in path:
            raise TableError("the table goes round in a circle: " + " -> ".join(path[path.index(folder):] + [folder]))
        if folder not in reach:
            found = set(direct.get(folder, set()))
            for other in sorted(direct.get(folder, set())):
                found |= visit(other, path + [folder])
            reach[folder] = found
        return reach[folder]

    for folder in rows:
        visit(folder, [])
    return reach


def room_of(path, rows):
    """The longest row that `path` lies in, or None."""
    folder = path.rpartition("/")[0]
    while folder and folder not in rows:
        folder = folder.rpartition("/")[0]
    return folder or None


def target_of(include, source, files, tops):
    """The path that an include of ours means, the name of what is not ours, or None for what the table does not speak of."""
    if include.startswith("pipec/"):
        return f"{PUBLIC}/{include[len('pipec/'):]}"
    top = include.partition("/")[0]
    if "/" in include and top in tops:
        return include
    if top in EXTERNAL:
        return EXTERNAL[top]
    beside = f"{source.rpartition('/')[0]}/{include}"
    if beside in files:
        return beside
    proto = re.sub(r"\.pb\.h$", ".proto", include)
    return next((file for file in files if file.endswith("/" + proto)), None)


def violations(root, rows, reach):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    files = {file for file in listed.stdout.splitlines() if (root / file).exists()}
    tops = {file.partition("/")[0] for file in files if "/" in file}
    used = {folder: set() for folder in rows}
    for file in sorted(files):
        if not re.search(r"\.(h|hpp|c|cc|cpp|cu|td)$", file):
            continue
        room = room_of(file, rows)
        if room is None:
            yield f"{file}: lies in no folder of the table"
            continue
        for number, line in enumerate((root / file).read_text(errors="replace").splitlines(), 1):
            found = re.match(r'\s*#?\s*include\s+["<]([^">]+)[">]', line)
            target = found and target_of(found[1], file, files, tops)
            if not target:
                continue
            other = target if target in EXTERNAL.values() else room_of(target, rows)
            if file.endswith(".td") and other == "MLIR":
                continue  # read by tablegen when building, not by the compiler
            used[room].add(other)
            if other is None:
                yield f"{file}:{number}: includes {target}, which lies in no folder of the table"
            elif other not in (room, PUBLIC) and other not in reach[room] and EVERYTHING not in reach[room]:
                yield f"{file}:{number}: {room} includes {other} ({found[1]}), but its row in docs/architecture.md does not lead there"
    if not any(used.values()):
        yield "no include found"
    for folder, names in rows.items():
        for name in names:
            if name != EVERYTHING and not resolve(name, rows, folder) & used[folder]:
                yield f"docs/architecture.md: the row of {folder} names {name}, which nothing there includes"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the repository")
    root = pathlib.Path(parser.parse_args().root)
    try:
        rows = read_table((root / "docs/architecture.md").read_text())
        missing = [f"the table names {folder}, which is not there" for folder in rows if not (root / folder).is_dir()]
        faults = missing + list(violations(root, rows, closure(rows)))
    except TableError as error:
        faults = [f"docs/architecture.md: {error}"]
    print("".join(fault + "\n" for fault in faults), end="")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
