"""``ctsne rerun``: repeat a map from its settings record, whose values are only a proposal."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import check_regular, file_checksum
from ctsne._core.vocabulary import NO_EFFECT, STARTS
from ctsne.cli import embed, transform
from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.main import Parser, make_parser, spell_command

if TYPE_CHECKING:
    from ctsne.storage.record import Input, Record

USAGE = "MAP [options]"
HELP = "repeat a map or placed points with the settings stored with them"
# The options that name a file of the record, by its role.
FILES = {"labels": "label_file", "init": "init", "model": "model"}
_MOST_ITERATIONS = 100_000


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("made", metavar="MAP", help="file with a map, or points placed in one")
    opt.option(main, "-o --output NEW", "where to write (default: replace MAP)")
    opt.add_force(main)
    opt.option(main, "--input FILE", "the data, if they have moved")
    opt.add_key(main)
    opt.add_jobs(main)
    opt.add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Repeat the map, and compare."""
    from ctsne.io import read_map
    from ctsne.storage.record import current_versions, read_record

    made = Path(options.made)
    made = made.resolve() if made.is_symlink() else made  # stored paths are relative to the file
    record = read_record(made, key=options.key)
    again = options_again(record, made, given=options.input)
    if again.command == "sweep":
        command = spell_command(["sweep", again.input], {**vars(again), "output": options.made})
        what = f"{made} is a sweep; to continue it, or with another folder to repeat it"
        raise ValueError(f"{what}, run {command}")
    if getattr(again, "n_iter", 0) > _MOST_ITERATIONS:
        what = f"{made} asks for {again.n_iter} iterations; rerun makes at most {_MOST_ITERATIONS}"
        raise ValueError(f"{what}; to make more, run ctsne embed with these settings")
    again.jobs, again.output = options.jobs, options.output or options.made
    again.force = options.force
    again.key = options.key if made.suffix.lower() == ".h5ad" else again.key
    now = current_versions()
    versions = [
        f"made with {name:.40} {then:.40}, repeated with {now.get(name, 'another')}: "
        "the result may differ"
        for name, then in record.versions.items()
        if now.get(name) != then
    ]
    for message in versions:
        console.warn(message)
    before = read_map(made, key=again.key).embedding
    with console.without_results():
        make = {"embed": embed.make, "transform": transform.make}[again.command]
        make(again, console, expect=record.inputs[0].data)
    after = read_map(again.output, key=again.key).embedding
    identical = (before.shape, before.tobytes()) == (after.shape, after.tobytes())
    content = {
        "command": "rerun",
        "output": again.output,
        "made by": record.command,
        "settings": record.to_dict(),
        "identical": identical,
        "differing versions": versions,
    }
    verdict = "identical" if identical else "NOT identical"
    console.result(f"{again.output}: made again, {verdict} to the one before", content)


def stored_settings(record: Record, output: Path) -> dict[str, Any]:
    """Return all settings of a command by option, each read as if it were typed."""
    if record.command not in ("embed", "sweep", "transform"):
        raise ValueError(f"{output} was made by an unknown command, {record.made_by!r:.40}")
    actions = {action.dest: action for action in make_parser().commands[record.command].options()}
    dests = {parameter.name: parameter.dest for parameter in opt.PARAMETERS}
    stored = {**record.options, "labels": list(record.labels) or None}
    if record.command == "sweep" and not record.labels:
        raise ValueError(f"the settings stored in {output} cannot be read: a sweep needs labels")
    for name, value in record.parameters.items():
        if name == "pca" and value is None:
            value = "none"
        if hasattr(value, "shape"):  # named by another option, or by a file
            value = {"align": None, "init": "given.npy"}.get(name, value)
        if name not in NO_EFFECT:
            stored[dests.get(name, name)] = value
    unknown = [name for name in stored if name not in actions or name in opt.UNRECORDED]
    if unknown:
        what = f"settings that this version does not know: {', '.join(map(repr, unknown[:3]))}"
        raise ValueError(f"{output} was made with {what}; upgrade ctsne")
    values = {name: action.default for name, action in actions.items()}
    for name, value in stored.items():
        optional = (values[name] is None and not actions[name].required) or name == "seed"
        try:
            missing = value is None and optional
            values[name] = None if missing else opt.check_value(actions[name], value)
        except ArgumentTypeError as error:
            what = f"the settings stored in {output} cannot be read"
            raise ValueError(f"{what}: {name} {error!s:.200}") from None
    # Every file that the settings need must be in the record, which has its checksum.
    needed = [role for role, dest in FILES.items() if values.get(dest) not in (None, *STARTS)]
    needed += ["model"] * (record.command == "transform")
    if [file.role for file in record.inputs] != ["data", *needed]:
        raise ValueError(f"the settings stored in {output} do not name all files it was made from")
    return values


def options_again(record: Record, output: Path, *, given: str | None = None) -> Namespace:
    """Return the options that an output was made with; its files by checksum, or as given."""
    from ctsne.io import check_input

    values = stored_settings(record, output)
    data, *more = record.inputs
    values["input"] = _find_input(data, output) if given is None else str(check_input(given))
    for file in more:
        values[FILES[file.role]] = _find_input(file, output)
    return Namespace(**values, command=record.command)


def _find_input(file: Input, output: Path) -> str:
    """Find a file that an output was made from, relative to it or to the working folder."""
    folder, named = output.resolve().parent, Path(file.file)
    found = next(filter(Path.exists, (folder / named, folder / named.name, named)), None)
    how = "make a new output from the one you have"
    if file.role == "data":
        how = "name it with --input FILE for rerun, --data FILE for evaluate and plot"
    if found is None:
        raise ValueError(f"{output} was made from {named}, but there is no {folder / named}; {how}")
    check_regular(found)
    # The content of the data is compared once they are read.
    unchecked = file.role != "data" or file.data is None
    if unchecked and file_checksum(found) != file.sha256:
        raise ValueError(f"{found} is not the file that {output} was made from; {how}")
    return os.path.relpath(found)
