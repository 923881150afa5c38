"""``ctsne rerun``: repeat an output from its settings record, whose values are only a proposal."""

from __future__ import annotations

import shutil
import uuid
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import check_regular, file_checksum
from ctsne._core.vocabulary import NO_EFFECT, STARTS
from ctsne.cli import embed, sweep, transform
from ctsne.cli.console import Console
from ctsne.cli.main import Parser, make_parser, spell_command
from ctsne.cli.options import (
    PARAMETERS,
    UNRECORDED,
    add_jobs,
    add_key,
    add_messages,
    check_value,
    option,
)

if TYPE_CHECKING:
    from ctsne.storage.record import Input, Record

USAGE = "OUTPUT [options]"
HELP = "repeat a map, placed points or a sweep from the settings stored with it"
DESCRIPTION = """\
Repeat a map, placed points or a sweep with the settings stored with it, and
report whether the result is identical."""

EPILOG = """\
The input is looked for where it was, relative to the output, and must have the
same content; other columns do not matter. With the same versions and
instruction set (ctsne info) the map is identical to the last bit; different
versions are reported. Pictures and pages hold the command that made them.

examples:
  ctsne rerun map.csv                      replace it
  ctsne rerun map.csv -o again.csv         write a new file
  ctsne rerun sweep --input cells.csv      the data have moved"""

# The options that name a file of the record, by its role.
FILES = {"labels": "label_file", "init": "init", "model": "model"}
_GIVEN = "given.npy"  # stands for a start that was given as an array
# Iterations of all maps together: a hundred maps of usual length. A map costs at least as much as
# _LEAST iterations.
_MOST_ITERATIONS, _LEAST = 100_000, 100


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument(
        "made", metavar="OUTPUT", help="a map, points placed in one, or a sweep folder"
    )
    option(main, "-o --output NEW", "where to write (default: replace OUTPUT)")
    option(main, "--input FILE", "the data, if they have moved")
    add_key(main)
    add_jobs(main)
    add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Repeat the output, and compare."""
    from ctsne.storage.record import current_versions

    made = Path(options.made)
    made = made.resolve() if made.is_symlink() else made  # stored paths are relative to the file
    record = read_made(made, options.key)
    again = options_again(record, made, given=options.input)
    _check_work(again, made)
    if made.is_dir() and not sweep.is_sweep_folder(made):
        command = spell_command(["sweep", again.input], {**vars(again), "output": options.made})
        raise ValueError(f"the sweep in {options.made} is not finished; to continue, run {command}")
    again.jobs, again.output = options.jobs, options.output or options.made
    now = current_versions()
    versions = [
        f"made with {name:.40} {then:.40}, repeated with {now.get(name, 'another')}: "
        "the result may differ"
        for name, then in record.versions.items()
        if now.get(name) != then
    ]
    for message in versions:
        console.warn(message)
    data, target = record.inputs[0], Path(again.output)
    other = data.sha256 is not None and file_checksum(Path(again.input)) != data.sha256
    if made.suffix.lower() == ".h5ad":  # the map that the user names, whatever the record says
        again.key = options.key
    key = getattr(again, "key", options.key)
    before = _content(made, key)
    with console.without_results():
        repeat = {"embed": embed.make, "sweep": _repeat_sweep, "transform": transform.make}
        repeat[again.command](again, console, expect=data.data)
    if other:  # reported last: changed content is an error, which matters more
        same = ", but its data are the same" if data.data is not None else ""
        console.warn(f"{again.input} is not the file that {made} was made from{same}")
    identical = before == _content(target, key)
    content = {
        "command": "rerun",
        "output": str(target),
        "made by": record.command,
        "settings": record.to_dict(),
        "identical": identical,
        "differing versions": versions,
    }
    verdict = "identical" if identical else "NOT identical"
    console.result(f"{target}: made again, {verdict} to the one before", content)


def read_made(path: Path, key: str) -> Record:
    """Read the record of an output; pictures and pages hold only the command that made them."""
    from ctsne.io import PICTURE_SUFFIXES
    from ctsne.storage.record import read_record

    if path.suffix.lower() in (*PICTURE_SUFFIXES, ".html") and path.exists():
        place = "shown at its end" if path.suffix.lower() == ".html" else "in its metadata"
        what = f"{path} shows maps; name the map, model or sweep folder it was made of"
        raise ValueError(f"{what}. The command that made it is {place}")
    return read_record(path, key=key)


def _content(path: Path, key: str) -> list[tuple[bytes, str]]:
    """Return what must be identical: the positions, and the measures of a sweep."""
    from ctsne.io import read_map
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        embedding = read_map(path, key=key).embedding
        return [(embedding.tobytes(), str(embedding.shape))]
    # Measures as text, in which one that is NaN is equal to itself.
    return [
        (b"" if swept.embedding is None else swept.embedding.tobytes(), str(swept.measures))
        for swept in load_sweep(path).maps
    ]


def _repeat_sweep(options: Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make a sweep in a new folder first, so that finished maps are not taken for new ones."""
    target = Path(options.output)
    sweep.check_folder(target)
    place = target.resolve()
    new = place.with_name(f".{place.name}.{uuid.uuid4().hex}.new")
    try:
        options.output = str(new)
        sweep.make(options, console, expect=expect)
        sweep.move_folder(new, place)
    except KeyboardInterrupt:
        left = f"{target} is unchanged" if target.exists() else "nothing was written"
        raise KeyboardInterrupt(left) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


# ---- settings of a record ------------------------------------------------------------------------


def stored_settings(record: Record, output: Path) -> dict[str, Any]:
    """Return all settings of a command by option, each read as if it were typed."""
    if record.command not in ("embed", "sweep", "transform"):
        raise ValueError(f"{output} was made by an unknown command, {record.made_by!r:.40}")
    others = {**record.options, "labels": list(record.labels) or None}
    values = stored_parameters(record, output, record.command, others)
    # Every file that the settings need must be in the record, which has its checksum.
    needed = [role for role, dest in FILES.items() if values.get(dest) not in (None, *STARTS)]
    needed += ["model"] * (record.command == "transform")
    if [file.role for file in record.inputs] != ["data", *needed]:
        raise ValueError(f"the settings stored in {output} do not name all files it was made from")
    return values


def stored_parameters(
    record: Record, output: Path, command: str = "embed", others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the stored parameters, and other settings, as the options of a command read them."""
    actions = {action.dest: action for action in make_parser().commands[command].options()}
    values = {name: action.default for name, action in actions.items()}
    dests = {parameter.name: parameter.dest for parameter in PARAMETERS}
    stored = dict(others or {})
    for name, value in record.parameters.items():
        if name == "pca" and value is None:
            value = "none"
        if hasattr(value, "shape"):  # the option align_rep names an array of align
            value = {"align": "none", "init": _GIVEN}.get(name, value)
        if name not in NO_EFFECT:
            stored[dests.get(name, name)] = value
    unknown = [name for name in stored if name not in actions or name in UNRECORDED]
    if unknown:
        what = f"settings that this version does not know: {', '.join(map(repr, unknown[:3]))}"
        raise ValueError(f"{output} was made with {what}; upgrade ctsne")
    for name, value in stored.items():
        optional = values[name] is None and not actions[name].required
        try:
            missing = value is None and (optional or name == "seed")
            values[name] = None if missing else check_value(actions[name], value)
        except ArgumentTypeError as error:
            what = f"the settings stored in {output} cannot be read"
            raise ValueError(f"{what}: {name} {error!s:.200}") from None
    return values


def options_again(record: Record, output: Path, *, given: str | None = None) -> Namespace:
    """Return the options that a map or a sweep was made with, with its input files found.

    A file is read only if it has the checksum of the record, or if the user has ``given`` it.
    """
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
    candidates = [folder / named, named, folder / named.name, Path(named.name)]
    found = next(filter(Path.exists, candidates), None)
    how = "make a new output from the one you have"
    if file.role == "data":
        how = "name it with --input FILE for rerun, --data FILE for evaluate"
    if found is None:
        raise ValueError(f"{output} was made from {named}, but there is no {candidates[0]}; {how}")
    check_regular(found)
    if found.resolve().is_relative_to(Path.cwd()):
        found = found.resolve().relative_to(Path.cwd())
    if file.role != "data" or file.data is None:  # else its content is compared once it is read
        if file.sha256 is None:
            raise ValueError(f"the settings stored in {output} have no checksum of {found}; {how}")
        if file_checksum(found) != file.sha256:
            raise ValueError(f"{found} is not the file that {output} was made from; {how}")
    return str(found)


def _check_work(again: Namespace, output: Path) -> None:
    """Refuse a record that asks for more iterations than anyone would wait for."""
    from ctsne.fit.mixing import most_maps

    if again.command == "transform":
        return  # placing points takes no iterations of a map
    maps = 1
    if again.command == "sweep":
        grid = [value for entry in sweep.make_grid(again) for value in entry.values()]
        maps += sum(len(values) for values in grid if isinstance(values, list))
    elif again.mixing is not None:
        maps += most_maps(len(again.labels))
    if maps * max(again.n_iter, _LEAST) > _MOST_ITERATIONS:
        what = f"up to {maps} map{'s' * (maps > 1)} of {again.n_iter} iterations"
        most = f"{_MOST_ITERATIONS:,} iterations in all, at least {_LEAST} for a map"
        how = f"to make more, run ctsne {again.command} with these settings"
        raise ValueError(f"{output} asks for {what}; rerun makes {most}; {how}")
