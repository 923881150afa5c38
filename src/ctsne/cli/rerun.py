"""``ctsne rerun``: makes an output again from what is stored with it."""

from __future__ import annotations

import argparse
import shutil
import uuid
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console
from ctsne.cli.contents import content_of
from ctsne.cli.folders import check_folder, is_sweep_folder, move_folder
from ctsne.cli.main import Commands, add_command, command_parser
from ctsne.cli.options import add_messages, spelled
from ctsne.cli.records import checksum_of, find_inputs, options_again
from ctsne.cli.values import jobs

if TYPE_CHECKING:
    from ctsne._io import Provenance

__all__ = ["add", "run"]

_DESCRIPTION = """\
Make an output of ctsne again, with the settings that are stored with it, and
tell whether it came out the same. It may be a map, the folder of a sweep, a
picture or a page."""

_EPILOG = """\
The input is looked for where it was, as seen from the output, and must have
the same content; other columns beside do not matter. With the same versions
and instruction set (ctsne info) the map is the same to the last bit; if they
differ, it is told.

examples:
  ctsne rerun map.csv                        made again in its place
  ctsne rerun map.csv -o again.csv           beside it
  ctsne rerun page.html --input cells.csv    the data have moved"""


_VERDICTS = {
    True: "identical to the one before",
    False: "NOT identical to the one before",
    None: "but not compared: it is another kind of picture",
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "rerun", usage="OUTPUT [options]", description=_DESCRIPTION, epilog=_EPILOG,
        run=run, help="make an output again, from the settings stored with it",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument("made", metavar="OUTPUT", help="what ctsne has written")
    main.add_argument(
        "-o", "--output", metavar="NEW", help="where to write (default: in the place of OUTPUT)"
    )
    main.add_argument(
        "--input", metavar="FILE",
        help="the data (of a picture or a table: the map), if not where they were",
    )  # fmt: skip
    main.add_argument(
        "--key", metavar="KEY", default="ctsne", help="h5ad: the name of the map (default: ctsne)"
    )
    main.add_argument("--jobs", metavar="N", type=jobs, default=-1, help="threads (default: all)")
    add_messages(parser, config=False)


def run(options: argparse.Namespace, console: Console) -> None:
    """Make it again, and compare."""
    from ctsne._io import read_provenance

    made = Path(options.made)
    if not made.exists():
        raise ValueError(f"there is no {made}")
    if made.suffix == ".json":
        raise ValueError(f"{made} holds settings; name the output that they belong to")
    if made.is_symlink():
        made = made.resolve()  # what is stored with it is seen from where it lies
    provenance = read_provenance(made, key=options.key)
    again = options_again(provenance, made, given=options.input)
    if made.is_dir() and not is_sweep_folder(made):
        parser = command_parser("sweep")
        command = spelled(parser, ["sweep", again.input], {**vars(again), "output": options.made})
        raise ValueError(f"the sweep in {options.made} is not finished; to go on, run {command}")
    for name, value in (("jobs", options.jobs), ("output", options.output or str(made))):
        setattr(again, name, value)
    differing = _differing_versions(provenance)
    for message in differing:
        console.warn(message)
    changed = _changed_files(provenance, made, options.input)
    key = getattr(again, "key", options.key)
    before = content_of(made, key=key)
    target = Path(again.output)
    module = import_module(f"ctsne.cli.{provenance.command}")
    with console.without_results():
        if provenance.command == "sweep":
            _sweep_anew(module, again, console, expect=provenance.inputs[0].data)
        else:
            module.make(again, console, expect=provenance.inputs[0].data)
    for message in changed:  # not before: if the content has changed too, that is what counts
        console.warn(message)
    identical = None  # two kinds of pictures cannot be compared
    if provenance.command != "plot" or target.suffix.lower() == made.suffix.lower():
        identical = before == content_of(target, key=key)
    content = {
        "command": "rerun",
        "output": str(target),
        "made by": provenance.command,
        "settings": provenance.settings,
        "identical": identical,
        "differing versions": differing,
        "seconds": round(console.seconds, 3),
    }
    console.result(f"{target}: made again, {_VERDICTS[identical]}", content)


def _differing_versions(provenance: Provenance) -> list[str]:
    from ctsne._io import current_versions

    now = current_versions()
    return [
        f"it was made with {name} {then}, this is {now.get(name, 'unknown')}: the result may "
        "differ in small things"
        for name, then in provenance.versions.items()
        if now.get(name) != then
    ]


def _changed_files(provenance: Provenance, made: Path, given: str | None) -> list[str]:
    """Tell which files are not what they were; of data, the content is checked when it is read."""
    messages = []
    files = find_inputs(provenance.inputs, made, given=given)
    for record, file in zip(provenance.inputs, files, strict=True):
        if record.sha256 is not None and checksum_of(file) != record.sha256:
            same = ", but the data in it are the same" if record.data is not None else ""
            messages.append(f"{file} is not the file that {made} was made from{same}")
    return messages


def _sweep_anew(
    command: Any, again: argparse.Namespace, console: Console, *, expect: str | None
) -> None:
    """Make a sweep in a folder of its own first: finished maps must not be taken for new."""
    target = Path(again.output)
    check_folder(target)
    place = target.resolve()
    new = place.with_name(f".{place.name}.{uuid.uuid4().hex}.new")
    try:
        again.output = str(new)
        command.make(again, console, expect=expect)
        move_folder(new, place)
    except KeyboardInterrupt:
        was = f"{target} is as it was" if target.exists() else "nothing was written"
        raise KeyboardInterrupt(was) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)
