"""``ctsne rerun``: repeats a map or a sweep from the settings stored with it."""

from __future__ import annotations

import json
import shutil
import uuid
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import file_checksum
from ctsne.cli import embed, sweep
from ctsne.cli.console import Console
from ctsne.cli.folders import check_folder, is_sweep_folder, move_folder
from ctsne.cli.inputs import HOW_TO_NAME, names_of_files
from ctsne.cli.main import Parser, command_parser
from ctsne.cli.options import UNRECORDED, add_jobs, add_key, add_messages, option, spelled
from ctsne.cli.values import value_of

if TYPE_CHECKING:
    from ctsne._io import Provenance

USAGE = "OUTPUT [options]"
HELP = "repeat a map or a sweep from the settings stored with it"
DESCRIPTION = """\
Repeat a map or a sweep with the settings stored with it, and report whether
the result is identical."""

EPILOG = """\
The input is looked for where it was, relative to the output, and must have the
same content; other columns do not matter. With the same versions and
instruction set (ctsne info) the map is identical to the last bit; different
versions are reported. Pictures and pages hold the command that made them.

examples:
  ctsne rerun map.csv                      replace it
  ctsne rerun map.csv -o again.csv         write a new file
  ctsne rerun sweep --input cells.csv      the data have moved"""


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("made", metavar="OUTPUT", help="a map, or the folder of a sweep")
    option(main, "-o --output NEW", "where to write (default: replace OUTPUT)")
    option(main, "--input FILE", "the data, if they have moved")
    add_key(main)
    add_jobs(main)
    add_messages(parser, config=False)


def run(options: Namespace, console: Console) -> None:
    """Repeat the output, and compare."""
    from ctsne._io import PICTURE_SUFFIXES, read_provenance

    made = Path(options.made)
    if not made.exists():
        raise ValueError(f"there is no {made}")
    if made.suffix == ".json":
        raise ValueError(f"{made} holds settings; name the output that they belong to")
    if made.suffix.lower() in (*PICTURE_SUFFIXES, ".html"):
        place = "shown at its end" if made.suffix.lower() == ".html" else "in its metadata"
        raise ValueError(f"{made} is not a map or sweep; to make it again, use the command {place}")
    made = made.resolve() if made.is_symlink() else made  # stored paths are relative to the file
    provenance = read_provenance(made, key=options.key)
    again = options_again(provenance, made, given=options.input)
    if made.is_dir() and not is_sweep_folder(made):
        parser = command_parser("sweep")
        command = spelled(parser, ["sweep", again.input], {**vars(again), "output": options.made})
        raise ValueError(f"the sweep in {options.made} is not finished; to continue, run {command}")
    again.jobs, again.output = options.jobs, options.output or options.made
    versions = _other_versions(provenance)
    for message in versions:
        console.warn(message)
    changed = list(_changed_files(provenance, made, again))
    key = getattr(again, "key", options.key)
    before = _content(made, key)
    target, expect = Path(again.output), provenance.inputs[0].data
    with console.without_results():
        repeat = _repeat_sweep if provenance.command == "sweep" else embed.make
        repeat(again, console, expect=expect)
    for message in changed:  # reported last: changed content is an error, which matters more
        console.warn(message)
    identical = before == _content(target, key)
    content = {
        "command": "rerun", "output": str(target), "made by": provenance.command,
        "settings": provenance.settings, "identical": identical, "differing versions": versions,
    }  # fmt: skip
    verdict = "identical" if identical else "NOT identical"
    console.result(f"{target}: made again, {verdict} to the one before", content)


def _content(path: Path, key: str) -> Any:
    """Return what must be identical: positions, and the measures of a sweep."""
    from ctsne._io import read_map
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        embedding = read_map(path, key=key).embedding
        return embedding.shape, embedding.tobytes()
    maps = load_sweep(path).maps
    # As text, in which a measure that is NaN is equal to itself.
    measures = [json.dumps(each.measures, sort_keys=True) for each in maps]
    positions = [None if each.embedding is None else each.embedding.tobytes() for each in maps]
    return positions, measures


def _other_versions(provenance: Provenance) -> list[str]:
    from ctsne._io import current_versions

    now = current_versions()
    return [
        f"made with {name} {then}, repeated with {now.get(name, 'another')}: the result may differ"
        for name, then in provenance.versions.items()
        if now.get(name) != then
    ]


def _changed_files(provenance: Provenance, made: Path, again: Namespace) -> Iterator[str]:
    """Report files with other bytes; the content of data is checked when it is read."""
    names = ["input", *names_of_files(provenance.settings)]
    for record, name in zip(provenance.inputs, names, strict=True):
        file = getattr(again, name)
        if record.sha256 is not None and file_checksum(Path(file)) != record.sha256:
            same = ", but its data are the same" if record.data is not None else ""
            yield f"{file} is not the file that {made} was made from{same}"


def _repeat_sweep(again: Namespace, console: Console, *, expect: str | None) -> None:
    """Make a sweep in a new folder first, so that finished maps are not taken for new ones."""
    target = Path(again.output)
    check_folder(target)
    place = target.resolve()
    new = place.with_name(f".{place.name}.{uuid.uuid4().hex}.new")
    try:
        again.output = str(new)
        sweep.make(again, console, expect=expect)
        move_folder(new, place)
    except KeyboardInterrupt:
        left = f"{target} is unchanged" if target.exists() else "nothing was written"
        raise KeyboardInterrupt(left) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def options_again(provenance: Provenance, output: Path, *, given: str | None = None) -> Namespace:
    """Return the options that a map or a sweep was made with, with its input files found."""
    if provenance.command not in ("embed", "sweep"):
        raise ValueError(f"{output} was made by an unknown command, {provenance.command!r:.40}")
    options = command_parser(provenance.command).options()
    actions = {each.dest: each for each in options if each.dest != "help"}
    values = {name: action.default for name, action in actions.items()}
    # Stored settings are a proposal only: they cannot name a place to write to.
    unknown = [name for name in provenance.settings if name not in values or name in UNRECORDED]
    if unknown:
        what = f"settings that this version does not know: {', '.join(map(repr, unknown[:3]))}"
        raise ValueError(f"{output} was made with {what}; upgrade ctsne")
    files = list(names_of_files(provenance.settings))
    if len(provenance.inputs) != 1 + len(files):
        raise ValueError(f"the settings stored in {output} do not name all files it was made from")
    for name, value in provenance.settings.items():
        try:
            if value is not None or actions[name].default is not None:
                values[name] = value_of(actions[name], value)
        except ArgumentTypeError as error:
            what = f"the settings stored in {output} cannot be read"
            raise ValueError(f"{what}: {name} {error}") from None
    how = f"; name it with {HOW_TO_NAME}"
    values["input"] = _find_input(provenance.inputs[0].file, output, given, how)
    for name, record in zip(files, provenance.inputs[1:], strict=True):
        values[name] = _find_input(record.file, output)
    return Namespace(**values)


def _find_input(file: str, output: Path, given: str | None = None, how: str = "") -> str:
    """Find a file that an output was made from, relative to it or to the working folder."""
    folder, named = output.resolve().parent, Path(file)
    candidates = [folder / named, named, folder / named.name, Path(named.name)]
    if given is not None:
        candidates = [Path(given)]
    existing = [candidate for candidate in candidates if candidate.exists()]
    if not existing:
        how = how if given is None else ""
        raise ValueError(f"{output} was made from {file}, but there is no {candidates[0]}{how}")
    path = existing[0].resolve()
    inside = path.is_relative_to(Path.cwd())
    return str(path.relative_to(Path.cwd()) if inside else existing[0])
