"""Settings stored with an output: proposals, checked as if a stranger had typed them."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import check_regular, file_checksum
from ctsne.cli.inputs import HOW_TO_NAME, names_of_files
from ctsne.cli.main import make_parser, spell_command
from ctsne.cli.options import UNRECORDED, check_value

if TYPE_CHECKING:
    from ctsne.io import InputRecord, Provenance

# Iterations of all maps together: a hundred maps of usual length.
_MOST_ITERATIONS = 100_000
# A map costs at least as much as this many iterations.
_LEAST = 100
# A longer command is not shown.
_LONGEST = 500


def checked_settings(provenance: Provenance, output: Path) -> dict[str, Any]:
    """Return all settings of a command, each read as an option of the command line would be."""
    if provenance.command not in ("embed", "sweep", "transform"):
        raise ValueError(f"{output} was made by an unknown command, {provenance.command!r:.40}")
    options = make_parser().commands[provenance.command].options()
    actions = {each.dest: each for each in options if each.dest not in UNRECORDED}
    values = {name: action.default for name, action in actions.items()}
    unknown = [name for name in provenance.settings if name not in actions]
    unstored = [each.dest for each in options if each.dest in unknown]
    if unstored:
        what = f"{unstored[0]!r} is not a setting of ctsne {provenance.command} that is stored"
        raise ValueError(f"the settings stored in {output} cannot be read: {what}")
    if unknown:
        what = f"settings that this version does not know: {', '.join(map(repr, unknown[:3]))}"
        raise ValueError(f"{output} was made with {what}; upgrade ctsne")
    for name, value in provenance.settings.items():
        try:
            if value is not None or values[name] is not None or actions[name].required:
                values[name] = check_value(actions[name], value)
        except ArgumentTypeError as error:
            what = f"the settings stored in {output} cannot be read"
            raise ValueError(f"{what}: {name} {error!s:.200}") from None
    if "combine" in values and "combine" not in provenance.settings:
        values["combine"] = len(values["labels"] or ()) > 1  # several columns were always combined
    if len(provenance.inputs) != 1 + len(list(names_of_files(values, provenance.command))):
        raise ValueError(f"the settings stored in {output} do not name all files it was made from")
    return values


def options_again(provenance: Provenance, output: Path, *, given: str | None = None) -> Namespace:
    """Return the options that a map or a sweep was made with, with its input files found.

    A file is read only if it has the checksum of the record, or if the user has ``given`` it.
    """
    values = checked_settings(provenance, output)
    options = make_parser().commands[provenance.command].options()
    values |= {each.dest: each.default for each in options if each.dest in UNRECORDED}
    data, *more = provenance.inputs
    how = f"; name it with {HOW_TO_NAME}"
    values["input"] = _find_input(data.file, output, given, how)
    if given is None and data.data is None:
        _check_same(data, values["input"], output, how)
    for name, record in zip(names_of_files(values, provenance.command), more, strict=True):
        values[name] = _find_input(record.file, output)
        _check_same(record, values[name], output, "; make a new output from the one you have")
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
    check_regular(existing[0])
    path = existing[0].resolve()
    inside = path.is_relative_to(Path.cwd())
    return str(path.relative_to(Path.cwd()) if inside else existing[0])


def _check_same(record: InputRecord, file: str, output: Path, how: str) -> None:
    """Refuse a file that the record has no checksum of, or another one."""
    if record.sha256 is None:
        raise ValueError(f"the settings stored in {output} have no checksum of {file}{how}")
    if file_checksum(Path(file)) != record.sha256:
        raise ValueError(f"{file} is not the file that {output} was made from{how}")


def changed_file(provenance: Provenance, output: Path, again: Namespace) -> str:
    """Report data in a file with other bytes; their content is checked when they are read."""
    record = provenance.inputs[0]
    if record.sha256 is None or file_checksum(Path(again.input)) == record.sha256:
        return ""
    same = ", but its data are the same" if record.data is not None else ""
    return f"{again.input} is not the file that {output} was made from{same}"


def check_work(again: Namespace, output: Path) -> None:
    """Refuse a record that asks for more iterations than anyone would wait for."""
    from ctsne.cli.inputs import label_names
    from ctsne.cli.sweep import make_grid
    from ctsne.fit import column_targets, target

    if not hasattr(again, "n_iter"):
        return  # placing points takes no iterations of a map
    maps, command, search = 1, "embed", ""
    if hasattr(again, "methods"):
        command = "sweep"
        swept = [value for entry in make_grid(again) for value in entry.values()]
        maps += sum(len(value) for value in swept if isinstance(value, list))
    elif again.mixing is not None:
        several = len(label_names(vars(again))) > 1
        trials = (column_targets if several else target).MOST_WHOLE_TRIALS
        maps += trials + target.MOST_CORRECTIONS
        search = " (as many as a search for --mixing may make)"
    if maps * max(again.n_iter, _LEAST) <= _MOST_ITERATIONS:
        return
    each = f"{maps} map{'s' * (maps > 1)} of {again.n_iter} iterations"
    most = f"{_MOST_ITERATIONS:,} iterations in all, at least {_LEAST} for a map"
    values = {**vars(again), "output": str(output)}
    typed = spell_command([command, again.input], values)
    typed = typed if len(typed) <= _LONGEST else f"ctsne {command} with these settings"
    what = f"the settings stored in {output} ask for {each}{search}; rerun makes up to {most}"
    raise ValueError(f"{what}; to make more, run {typed}")
