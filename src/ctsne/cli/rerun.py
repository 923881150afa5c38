"""``ctsne rerun``: repeats a map or a sweep from the settings stored with it."""

from __future__ import annotations

import json
import shutil
import uuid
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli import embed, sweep, transform
from ctsne.cli.console import Console
from ctsne.cli.folders import check_folder, is_sweep_folder, move_folder
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_jobs, add_key, add_messages, option
from ctsne.cli.records import changed_file, check_work, options_again

if TYPE_CHECKING:
    from ctsne.io import Provenance

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
    from ctsne.io import PICTURE_SUFFIXES, read_provenance

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
    check_work(again, made)
    if made.is_dir() and not is_sweep_folder(made):
        command = spell_command(["sweep", again.input], {**vars(again), "output": options.made})
        raise ValueError(f"the sweep in {options.made} is not finished; to continue, run {command}")
    again.jobs, again.output = options.jobs, options.output or options.made
    versions = _other_versions(provenance)
    for message in versions:
        console.warn(message)
    changed = changed_file(provenance, made, again)
    if made.suffix.lower() == ".h5ad":  # the map that the user names, whatever the record says
        again.key = options.key
    key = getattr(again, "key", options.key)
    before = _content(made, key)
    target, expect = Path(again.output), provenance.inputs[0].data
    with console.without_results():
        repeat: dict[str, Callable[..., None]] = {
            "embed": embed.make,
            "sweep": _repeat_sweep,
            "transform": transform.make,
        }
        repeat[provenance.command](again, console, expect=expect)
    if changed:  # reported last: changed content is an error, which matters more
        console.warn(changed)
    identical = before == _content(target, key)
    content = {
        "command": "rerun",
        "output": str(target),
        "made by": provenance.command,
        "settings": provenance.settings,
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
    measures = [json.dumps(each.measures, sort_keys=True) for each in maps]
    positions = [None if each.embedding is None else each.embedding.tobytes() for each in maps]
    return positions, measures


def _other_versions(provenance: Provenance) -> list[str]:
    from ctsne.io import current_versions

    now = current_versions()
    return [
        f"made with {name:.40} {then:.40}, repeated with {now.get(name, 'another')}: "
        "the result may differ"
        for name, then in provenance.versions.items()
        if now.get(name) != then
    ]


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
