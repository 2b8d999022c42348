"""Makes docs/dialect.md: every op, enumeration, attribute and pass, from the .td files.

Without --write it compares the file with what it would write: exit status 1 where they differ.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import tablegen
from generated import settle

TYPES = {
    "Pipe_Tensor": "tensor",
    "Pipe_NumTensor": "tensor of integers or floats",
    "Pipe_FloatTensor": "tensor of floats",
    "Pipe_IntTensor": "tensor of integers",
    "Pipe_BoolTensor": "tensor of bool",
    "Pipe_IndexTensor": "tensor of i32 or i64",
    "I64Attr": "i64",
    "F64Attr": "f64",
    "BoolAttr": "bool",
    "UnitAttr": "flag",
    "DenseI64ArrayAttr": "list of i64",
    "DenseF64ArrayAttr": "list of f64",
    "ElementsAttr": "elements",
    "FlatSymbolRefAttr": "symbol",
    "SymbolNameAttr": "symbol's name",
    "StrAttr": "string",
    "StrArrayAttr": "list of strings",
    "DictArrayAttr": "list of dictionaries",
    "Pipe_SourceAttr": "`#pipe.source`",
}

# What a trait or interface means, by the C++ name that tablegen gives; "" for what is not for readers.
TRAITS = {
    "Pure": "pure",
    "Pipe_InferredTypes": "result types follow from operands and attributes",
    "InferTypeOpAdaptor": "",
    "ConstantLike": "a constant",
    "AllTypesMatch": "",
    "SymbolUserOpInterface::Trait": "names a symbol",
    "IsIsolatedFromAbove": "reads no value from outside its region",
    "FunctionOpInterface::Trait": "a function",
    "SingleBlock": "",
    "AttrSizedOperandSegments": "",
    "IsTerminator": "ends its region",
    "HasRecursiveMemoryEffects": "pure where its ops are",
    "SymbolOpInterface::Trait": "declares a symbol",
    "HasParent<GraphOp>::Impl": "stands in a `pipe.graph`",
    "HasParent<StageOp>::Impl": "stands in a `pipe.stage`",
    "Pipe_CostInterface": "costs one flop an element",
    "CostInterface::Trait": "has a cost of its own",
}


def die(text):
    raise SystemExit(f"tools/docs/dialect.py: {text}")


def constraint(records, name):
    """An operand's, result's or attribute's type in plain words, and its default or ''."""
    record = records[name]
    classes = record["!superclasses"]
    if name in TYPES:
        return TYPES[name], ""
    if "Optional" in classes:
        return constraint(records, record["baseType"]["def"])[0] + ", optional", ""
    if "Variadic" in classes:
        return constraint(records, record["baseType"]["def"])[0] + ", any number", ""
    if "OptionalAttr" in classes:
        return constraint(records, record["baseAttr"]["def"])[0] + ", optional", ""
    if "DefaultValuedAttr" in classes:
        default = record["defaultValue"].split("::")[-1]
        return constraint(records, record["baseAttr"]["def"])[0], "`[]`" if default == "{}" else f"`{default}`"
    if "EnumAttr" in classes:
        words = [records[case["def"]]["str"] for case in records[record["enum"]["def"]]["enumerants"]]
        return ", ".join(f"`{word}`" for word in words), ""
    if "StaticShapeTensorOf" in classes:
        return "tensor of i64" if "64-bit signless" in record["summary"] else die(f"no words for {record['summary']}"), ""
    if "TypeAttrOf" in classes:
        return "function type" if "function" in record["summary"] else "tensor type", ""
    return die(f"TYPES has no words for {name}: {record['summary']}")


def facts(op, records, differentiable):
    words = []
    for trait in op.record["traits"]:
        record = records[trait["def"]]
        known = [key for key in (record["!name"], record.get("trait"), *record["!superclasses"]) if key in TRAITS]
        if not known:
            die(f"TRAITS has no words for {record['!name']} {record.get('trait')} of {op.name}")
        words.append(TRAITS[known[0]])
    if op.record["hasFolder"]:
        words.append("folds")
    if op.kind != "Pipeline":
        words.append("has a derivative" if op.name in differentiable else "has no derivative")
    return ", ".join(word for word in words if word)


def sentence(text):
    if re.match(r"(a|[a-z]{2,})[ ,;]", text):  # not a formula
        text = text[0].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def op_section(op, records, differentiable):
    rows = []
    for value, name in op.record["arguments"]["args"]:
        words, default = constraint(records, value["def"])
        part = "attribute" if "AttrConstraint" in records[value["def"]]["!superclasses"] else "operand"
        rows.append(f"| {part} | `{name}` | {words} | {default} |")
    for value, name in op.record["results"]["args"]:
        rows.append(f"| result | `{name}` | {constraint(records, value['def'])[0]} | |")
    for _, name in op.record["regions"]["args"]:
        rows.append(f"| region | `{name}` | one block | |")
    table = ["| | name | type | default |", "|---|---|---|---|", *rows, ""] if rows else []
    return [f"### `{op.name}`", "", sentence(op.summary), "", op.text, "", *table,
            f"*{sentence(facts(op, records, differentiable))}*", ""]


def enumerations(records):
    lines = ["| enumeration | what it says | words |", "|---|---|---|"]
    for name in sorted(records["!instanceof"]["Pipe_EnumAttr"], key=lambda n: int(records[n]["!locs"][0].rsplit(":", 1)[1])):
        record = records[name]
        lines.append(f"| `{record['mnemonic']}` | {record['summary']} | {constraint(records, name)[0]} |")
    return lines + [""]


def attributes(source):
    lines = []
    for attribute in source.attributes():
        lines += [f"### `{attribute.name}`", "", sentence(attribute.summary), "", attribute.text, ""]
    return lines


def pass_section(entry, records):
    lines = [f"### `{entry.name}`", "", sentence(entry.summary), "", entry.text, ""]
    options = [records[option["def"]] for option in entry.record["options"]]
    if options:
        lines += ["| option | type | default | meaning |", "|---|---|---|---|"]
        for option in options:
            default = (option.get("defaultValue") or "").strip()
            kind = option["type"].replace("std::string", "string").replace("uint64_t", "number").replace("int64_t", "number")
            if "ListOption" in option["!superclasses"]:
                kind = f"list of {kind}s"
            lines.append(f"| `{option['argument']}` | {kind} | {f'`{default}`' if default else ''} | {option['description']} |")
        lines.append("")
    return lines


def document(source, differentiable):
    kinds, records = source.ops_by_kind()
    names = {op.name for _, _, ops in kinds for op in ops}
    if not differentiable or differentiable - names:
        die(f"derivatives of ops that are not there: {differentiable - names}")
    dialect = records["Pipe_Dialect"]
    lines = ["<!-- Made from the .td files by `ninja -C build/release docs`. Do not edit. -->",
             "# The dialect", "", sentence(dialect["summary"]), "", tablegen.dedent(dialect["description"]), "",
             "An element type is `i1` (bool), `i8` to `i64`, `ui8` to `ui64`, `f16`, `bf16`, `f32` or `f64`. The examples are run by a test; lines that are no module stand in a graph whose arguments are what they read.", "",
             "| kind | ops |", "|---|---|"]
    for kind, _, ops in kinds:
        links = ", ".join(f"[{op.name[5:]}](#{re.sub('[^a-z0-9_-]', '', op.name)})" for op in ops)
        lines.append(f"| {kind.lower()} | {links} |")
    lines.append("")
    for kind, comment, ops in kinds:
        lines += [f"## {kind} ops", "", comment, ""]
        for op in ops:
            op.kind = kind
            lines += op_section(op, records, differentiable)
    lines += ["## Enumerations", "", *enumerations(records), "## Attributes", "", *attributes(source)]
    lines += ["# The passes", "", "`pipec-opt --NAME` runs one; an example shows its arguments, a module, and what becomes of it, or what is said at which line.", ""]
    for folder, entries, pass_records in source.passes_by_phase():
        lines += [f"## {folder}", ""]
        for entry in entries:
            lines += pass_section(entry, pass_records)
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    tablegen.add_arguments(parser)
    parser.add_argument("--derivatives", required=True, help="the program that lists the ops with a derivative")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    listed = subprocess.run([args.derivatives], capture_output=True, text=True, check=True)
    text = document(tablegen.from_arguments(args), set(listed.stdout.split()))
    return settle(pathlib.Path(args.root) / "docs/dialect.md", text, args.write)


if __name__ == "__main__":
    sys.exit(main())
