"""``ctsne rerun``: repeat an output from its settings record, whose values are only a proposal."""

from __future__ import annotations

import json
import shutil
import uuid
from argparse import Action, ArgumentTypeError, Namespace
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
    from ctsne.io import PICTURE_SUFFIXES
    from ctsne.storage.record import current_versions, read_record

    made = Path(options.made)
    if not made.exists():
        raise ValueError(f"there is no {made}")
    if made.suffix == ".json":
        raise ValueError(f"{made} holds settings; name the output that they belong to")
    if made.suffix.lower() in (*PICTURE_SUFFIXES, ".html"):
        place = "shown at its end" if made.suffix.lower() == ".html" else "in its metadata"
        raise ValueError(f"{made} is not a map or sweep; to make it again, use the command {place}")
    made = made.resolve() if made.is_symlink() else made  # stored paths are relative to the file
    record = read_record(made, key=options.key)
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
    data = record.inputs[0]
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
    target = Path(options.output or options.made)
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


def _content(path: Path, key: str) -> Any:
    """Return what must be identical: positions, and the measures of a sweep."""
    from ctsne.io import read_map
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        embedding = read_map(path, key=key).embedding
        return embedding.shape, embedding.tobytes()
    maps = load_sweep(path).maps
    # As text, in which a measure that is NaN is equal to itself.
    measures = [json.dumps(swept.measures, sort_keys=True) for swept in maps]
    positions = [None if swept.embedding is None else swept.embedding.tobytes() for swept in maps]
    return positions, measures


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
    options = make_parser().commands[record.command].options()
    defaults = {action.dest: action.default for action in options}
    stored = {**record.options, "labels": list(record.labels) or None, **_parameters(record)}
    unknown = [name for name in stored if name not in defaults or name in UNRECORDED]
    if unknown:
        what = f"settings that this version does not know: {', '.join(map(repr, unknown[:3]))}"
        raise ValueError(f"{output} was made with {what}; upgrade ctsne")
    values = {**defaults, **_checked(stored, options, output)}
    # Every file that the settings need must be in the record, which has its checksum.
    needed = [role for role, dest in FILES.items() if values.get(dest) not in (None, *STARTS)]
    needed += ["model"] * (record.command == "transform")
    if [file.role for file in record.inputs] != ["data", *needed]:
        raise ValueError(f"the settings stored in {output} do not name all files it was made from")
    return values


def stored_parameters(record: Record, output: Path) -> dict[str, Any]:
    """Return all parameters of the estimator by option, each read as if it were typed."""
    options = make_parser().commands["embed"].options()
    given = _parameters(record)
    stored = {each.dest: given.get(each.dest, each.default) for each in PARAMETERS}
    return _checked(stored, options, output)


def _parameters(record: Record) -> dict[str, Any]:
    """Return the parameters in a record by option, as they would be typed."""
    dests = {each.name: each.dest for each in PARAMETERS}
    given = {name: x for name, x in record.parameters.items() if name not in NO_EFFECT}
    values = {dests.get(name, name): value for name, value in given.items()}
    if values.get("pca", "") is None:
        values["pca"] = "none"
    if hasattr(values.get("align"), "shape"):  # an array, which the option align_rep names
        values["align"] = "none"
    if hasattr(values.get("init"), "shape"):
        values["init"] = _GIVEN
    return values


def _checked(stored: dict[str, Any], options: list[Action], output: Path) -> dict[str, Any]:
    """Return values as the options would have them; None stays None where the option may."""
    actions = {action.dest: action for action in options}
    values = {}
    for name, value in stored.items():
        optional = actions[name].default is None and not actions[name].required
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
    values = stored_settings(record, output)
    how = "; name it with --input FILE for rerun, --data FILE for evaluate"
    data, *more = record.inputs
    values["input"] = _find_input(data.file, output, given, how)
    if given is None and data.data is None:
        _check_same(data, values["input"], output, how)
    for file in more:
        path = values[FILES[file.role]] = _find_input(file.file, output)
        _check_same(file, path, output, "; make a new output from the one you have")
    return Namespace(**values, command=record.command)


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
    check_regular(existing[0])
    path = existing[0].resolve()
    inside = path.is_relative_to(Path.cwd())
    return str(path.relative_to(Path.cwd()) if inside else existing[0])


def _check_same(file: Input, found: str, output: Path, how: str) -> None:
    """Refuse a file that the record has no checksum of, or another one."""
    if file.sha256 is None:
        raise ValueError(f"the settings stored in {output} have no checksum of {found}{how}")
    if file_checksum(Path(found)) != file.sha256:
        raise ValueError(f"{found} is not the file that {output} was made from{how}")


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
