"""A file that a script makes, stored in the repository: written, or compared with what it should be."""

import difflib


def settle(file, text, write):
    """The exit status. With `write` the file gets the text; else 1, with what differs, where it has another."""
    stored = file.read_text() if file.exists() else ""
    if stored == text:
        return 0
    if write:
        file.write_text(text)
        print(f"wrote {file}")
        return 0
    print("".join(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), f"{file} as stored", "as it should be", n=1)))
    print(f"{file} is not what the sources say: write it again with `ninja -C build/release docs`")
    return 1
