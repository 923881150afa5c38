"""Every parameter of the estimator is an option, with the same default and meaning."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.cli.main import make_parser, spell_command
from ctsne.cli.options import PARAMETERS, make_estimator, per_label, settings_of

Run = Callable[..., str]

# What a file cannot hold, and what has an option of another meaning.
NOT_OPTIONS = {"callback", "callback_every", "verbose"}


def test_no_parameter_is_missing_and_defaults_are_the_same() -> None:
    known = ConditionalTSNE().get_params()
    assert {parameter.name for parameter in PARAMETERS} == set(known) - NOT_OPTIONS
    for parameter in PARAMETERS:
        expected = 0 if parameter.name == "random_state" else known[parameter.name]
        assert parameter.default == expected, parameter.name


def test_every_parameter_reaches_the_estimator() -> None:
    given = {
        "--method": "balanced",
        "--strength": "0.5",
        "--beta": "1e-6",
        "--mixing": "0.7",
        "--align": "mutual",
        "--odds": "3",
        "--perplexity": "12.5",
        "--seed": "3",
        "--jobs": "2",
        "--dimensions": "3",
        "--bandwidth": "p",
        "--beta-low": "0.2",
        "--numbers-period": "24",
        "--metric": "cosine",
        "--recall": "0.9",
        "--init": "random",
        "--n-iter": "100",
        "--early-exaggeration": "4",
        "--early-exaggeration-iter": "7",
        "--exaggeration": "2",
        "--learning-rate": "50",
        "--dof": "0.8",
        "--pca": "none",
    }
    assert set(given) == {parameter.flag for parameter in PARAMETERS}
    words = [word for pair in given.items() for word in pair]
    options = make_parser().parse_args(["embed", "x.csv", "-o", "y.csv", *words])
    model = make_estimator(vars(options))
    defaults = ConditionalTSNE(random_state=0).get_params()
    for parameter in PARAMETERS:
        assert getattr(model, parameter.name) != defaults[parameter.name], parameter.name
    assert (model.beta, model.learning_rate, model.n_components) == (1e-6, 50.0, 3)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["1e-8"], 1e-8),
        (["a=1e-8", "b=.5"], {"a": 1e-8, "b": 0.5}),
        (["a=b=0.5"], {"a=b": 0.5}),
        (["CD4 T=1"], {"CD4 T": 1.0}),
    ],
)
def test_numbers_for_labels(texts: list[str], value: object) -> None:
    assert per_label(texts) == value


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("much", "must be a number, got 'much'"),
        ("auto", "must be a number, got 'auto'"),
        ("a=1 0.5", "name=number for each label or column, got 'a=1 0.5'"),
        ("a=1 a=2", "names 'a' twice"),
        ("a=x", "must be a number, got 'x'"),
        ("=1", "name=number"),
        ("nan", "must be a number"),
    ],
)
def test_what_is_no_number_for_labels(texts: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        per_label(texts.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--perplexity many", "--perplexity: must be a number, got 'many'"),
        ("--seed 1.5", "--seed: must be a whole number"),
        ("--jobs 0", "--jobs: must be a number of threads"),
        ("--pca x", "--pca: must be one of auto, none, or a whole number; got 'x'"),
        ("--beta a=1 a=2", "--beta: names 'a' twice"),
        ("--align mutal", "--align: must be one of none, mutual, local, mean, auto; got"),
        ("--mixing half", "--mixing: must be a number, got 'half'"),
        ("--odds a=1 a=2", "--odds: names 'a' twice"),
        ("--strength auto", "--strength: must be a number, got 'auto'"),
        ("-q --verbose", "not allowed with"),
    ],
)
def test_values_that_no_option_can_have(words: str, message: str, fail: Run) -> None:
    assert message in fail(f"embed x.csv -o y.csv {words}", code=2)


def test_a_start_from_a_file_and_no_pickle(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.npy", tmp_path / "bad.npy"
    np.save(good, np.ones((3, 2)))
    np.save(bad, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert make_estimator({"init": str(good)}).init.shape == (3, 2)
    with pytest.raises(ValueError, match=r"bad\.npy holds Python objects"):
        make_estimator({"init": str(bad)})


def test_a_command_is_spelled_as_it_can_be_typed() -> None:
    parser = make_parser()
    words = [
        "embed",
        "my cells.csv",
        "--labels",
        "a b",
        "c",
        "-o",
        "map.csv",
        "--method",
        "joint",
        "--strength",
        "x=0.25",
        "y=1",
        "--perplexity",
        "33.3",
        "--features",
        "PC*",
    ]
    options = parser.parse_args(words)
    text = spell_command(["embed", "my cells.csv"], vars(options))
    assert vars(parser.parse_args(shlex.split(text)[1:])) == vars(options)
    assert "--seed" not in text and "'PC*'" in text


def test_settings_hold_all_that_shapes_the_result() -> None:
    words = ["embed", "x.csv", "--labels", "a", "-o", "y.csv", "--jobs", "2", "--json"]
    settings = settings_of(make_parser().parse_args(words))
    assert settings["labels"] == ["a"] and settings["seed"] == 0
    assert not {"jobs", "json", "output", "input"} & set(settings)
