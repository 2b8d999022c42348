"""Makes the option tables at the end of docs/cli.md, from what the commands say of themselves (`--help`).

The text before them explains and is written by hand. It is held against the commands: it names every option, and none that no command has.
Without --write it compares: exit status 1 where the file says something else.
"""

import argparse
import pathlib
import re
import subprocess
import sys

from generated import settle

BEGIN = "<!-- options: made from --help by `ninja -C build/release docs`. Do not edit below this line. -->\n"
COLUMN = 30  # where CLI11 begins the text of an option
COMMON = {"--help", "--version"}


class Option:
    def __init__(self, left):
        self.left, self.text, self.group = left, "", ""

    def row(self):
        """(option, values, default, meaning) as cells."""
        words = self.left.split(" ")
        names, rest = words[0], words[1:]
        beside = ""
        for word, meaning in (("Needs:", "Needs"), ("Excludes:", "Not with")):
            if word in rest:
                at = rest.index(word)
                beside, rest = f" {meaning} " + ", ".join(f"`{name}`" for name in rest[at + 1:]) + ".", rest[:at]
        required = "REQUIRED" in rest
        repeatable = "..." in rest
        rest = [word for word in rest if word not in ("REQUIRED", "...")]
        if len(rest) > 1:
            raise SystemExit(f"tools/docs/options.py: cannot read '{self.left}'")
        kind, _, default = rest[0].partition("=") if rest else ("", "", "")
        kind, _, choice = kind.partition(":")
        values = ", ".join(f"`{word}`" for word in choice.strip("{}").split(",")) if choice else kind.lower()
        if repeatable and "epeatable" not in self.text:
            values += ", several"
        text = re.sub(r"([|*<])", r"\\\1", self.text).rstrip(".") + "." + beside
        shown = ", ".join(f"`{name}`" for name in names.split(","))
        return f"| {shown} | {values} | {'required' if required else f'`{default}`' if default else ''} | {text} |"

    def flags(self):
        return {name for name in self.left.split(" ")[0].split(",") if name.startswith("-")}


class Command:
    """A command by what its --help prints: `options` in order with their groups, `commands` below it."""

    def __init__(self, pipec, words):
        self.words = words
        done = subprocess.run([pipec, *words, "--help"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"pipec {' '.join(words)} --help: {done.stderr}")
        self.options, below, group = [], [], None
        lines = done.stdout.splitlines()
        self.summary = lines[0]
        for line in lines[1:]:
            heading = re.fullmatch(r"(\S.*):", line)
            if heading:
                group = heading[1]
            elif line and not line.startswith(" "):
                group = None  # the usage, or an example
            elif group == "Subcommands" and line.strip():
                below.append(line.split()[0])
            elif self.options and line.startswith(" " * COLUMN) and not self.options[-1].text:
                self.options[-1].text += (" " if self.options[-1].text else "") + line.strip()
            elif line.startswith("  -") or (group == "Positionals" and line.startswith("  ")):
                left, text = (line[:COLUMN].strip(), line[COLUMN:].strip()) if line[COLUMN - 1:COLUMN] in ("", " ") else (line.strip(), "")
                option = Option(left)
                option.text, option.group = text, group
                self.options.append(option)
        self.commands = [Command(pipec, [*words, name]) for name in below]

    def all(self):
        return [self] + [found for command in self.commands for found in command.all()]


def table(options):
    return ["| option | value | default | meaning |", "|---|---|---|---|", *(option.row() for option in options), ""]


def section(title, options):
    lines, group = [f"### {title}", ""], None
    batches = []
    for option in options:
        heading = "" if option.group in ("Options", "Positionals") else option.group
        if heading != group:
            group = heading
            batches.append((group, []))
        batches[-1][1].append(option)
    for group, batch in batches:
        if group:
            lines += [f"{group}:", ""]
        lines += table(batch)
    return lines


def is_common(option):
    return bool(option.flags() & COMMON)


def document(commands):
    """The tables: first what all commands with a model share, then each command's own options."""
    models = [c for c in commands if any(o.left.startswith("MODEL ") for o in c.options)]
    key = lambda o: (o.left, o.text, o.group)  # noqa: E731
    shared = set.intersection(*({key(o) for o in c.options if not is_common(o)} for c in models))
    lines = ["## Every option", "", "Each command takes `-h`, `--help`; `pipec --version` names the version.", ""]
    names = ", ".join(f"`{' '.join(c.words)}`" for c in models)
    lines += section(f"Of every command with a model: {names}", [o for o in models[0].options if key(o) in shared])
    for command in commands:
        own = [o for o in command.options if not is_common(o) and not (command in models and key(o) in shared)]
        if own:
            lines += section(f"`pipec {' '.join(command.words)}`", own)
    return "\n".join(lines).rstrip("\n") + "\n"


def hand_written_faults(text, commands):
    known = {flag for command in commands for option in command.options for flag in option.flags()}
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z](?=[` ]))", text))
    for command in commands:
        for option in command.options:
            if option.flags() and not is_common(option) and not option.flags() & named:
                yield f"docs/cli.md does not explain {' or '.join(sorted(option.flags()))} of pipec {' '.join(command.words)}"
    for flag in sorted(named - known):
        yield f"docs/cli.md names {flag}, which no command has"
    for command in commands:
        if len(command.words) == 1 and f"\n## {command.words[0]}\n" not in text:
            yield f"docs/cli.md has no section '## {command.words[0]}'"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the repository")
    parser.add_argument("--pipec", required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    file = pathlib.Path(args.root) / "docs/cli.md"
    text = file.read_text().partition(BEGIN)[0].rstrip("\n") + "\n\n"
    commands = Command(args.pipec, []).all()
    faults = list(hand_written_faults(text, commands))
    print("".join(fault + "\n" for fault in faults), end="")
    return settle(file, text + BEGIN + "\n" + document(commands), args.write) or bool(faults)


if __name__ == "__main__":
    sys.exit(main())
