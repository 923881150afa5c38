"""The demonstration: its measures, its table and its picture."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

from ctsne import demo, demo_picture
from ctsne.datasets import make_synthetic
from ctsne.evaluate import adjusted_rnx, expected_laplacian, laplacian

SHORT = {"n_iter": 260, "early_exaggeration_iter": 100}


def made_up(n: int = 60, *, panels: int = 6) -> demo.Demo:
    """A demonstration nobody computed: random maps and measures to draw and print."""
    rng = np.random.default_rng(0)
    return demo.Demo(
        data=make_synthetic(n, random_state=0),
        panels=tuple(
            demo.Panel(setting, rng.normal(size=(n, 2)), 0.5, 0.25, 0.125, 29.96, 1.5)
            for setting in demo.SETTINGS[:panels]
        ),
        random_known=0.48,
        random_hidden=0.667,
    )


def clusters(embedding: np.ndarray) -> int:
    """Islands of the map: connected parts of its nearest-neighbour graph with 5 % of the points."""
    graph = kneighbors_graph(embedding, 10)
    _, part = connected_components(graph, directed=False)
    return int(np.sum(np.bincount(part) >= 0.05 * len(embedding)))


@pytest.fixture(scope="module")
def computed() -> demo.Demo:
    return demo.run()


def test_settings_are_the_issue_in_order() -> None:
    methods = [
        (setting.params["method"], setting.params.get("bandwidth")) for setting in demo.SETTINGS
    ]
    assert methods == [
        ("tsne", None),
        ("original", None),
        ("revised", "p"),
        ("revised", "r"),
        ("balanced", None),
        ("joint", None),
    ]
    original = demo.SETTINGS[1].params
    assert original["init"] == "random" and original["beta"] == 1e-4


def test_measures_are_those_of_the_map() -> None:
    lines: list[str] = []
    settings = [
        demo.Setting("t-SNE", "no labels", {"method": "tsne", **SHORT}),
        demo.Setting("balanced", "strength 1", {"method": "balanced", **SHORT}),
    ]
    result = demo.run(240, settings=settings, random_state=3, n_jobs=1, progress=lines.append)
    data = result.data
    np.testing.assert_array_equal(data.X, make_synthetic(240, random_state=3).X)
    assert lines == ["[1/2] t-SNE (no labels)", "[2/2] balanced (strength 1)"]
    assert result.random_known == expected_laplacian(data.known)
    assert result.random_hidden == expected_laplacian(data.hidden)
    for panel in result.panels:
        assert panel.embedding.shape == (240, 2) and np.isfinite(panel.embedding).all()
        assert panel.rnx == adjusted_rnx(panel.embedding, data.X, data.known, k=30)
        assert panel.laplacian_known == laplacian(panel.embedding, data.known, k=30)
        assert panel.laplacian_hidden == laplacian(panel.embedding, data.hidden, k=30)
        assert panel.perplexity == pytest.approx(30, rel=0.05)
        assert panel.seconds > 0


def test_ctrl_c_stops_the_whole_demo() -> None:
    def interrupt(*state: object) -> bool:
        raise KeyboardInterrupt

    lines: list[str] = []
    stopped = demo.Setting("stopped", "", {"method": "tsne", "callback": interrupt})
    never = demo.Setting("never", "", {"method": "tsne"})
    with (
        pytest.warns(UserWarning, match="interrupted"),
        pytest.raises(KeyboardInterrupt),
    ):
        demo.run(120, settings=[stopped, never], n_jobs=1, progress=lines.append)
    assert len(lines) == 1


@pytest.mark.slow
def test_it_shows_what_figure_1_of_the_paper_shows(computed: demo.Demo) -> None:
    tsne, original, *conditioned = computed.panels
    assert clusters(tsne.embedding) == 6
    assert tsne.laplacian_known < 0.01 and tsne.laplacian_hidden < 0.01
    # The original method merges clusters of another shape.
    assert original.laplacian_hidden > 0.05
    for panel in conditioned:
        assert clusters(panel.embedding) == 3, panel.setting.title
        assert panel.laplacian_known > 0.85 * computed.random_known, panel.setting.title
        assert panel.laplacian_hidden < 0.01, panel.setting.title


def test_table_is_aligned_and_complete() -> None:
    lines = demo.format_table(made_up()).splitlines()
    assert len(lines) == 10
    head, rule, *rows, end, random = lines
    assert rule == end and set(rule) == {"-", " "}
    assert max(map(len, lines)) == len(rule) <= 120
    for word in ("R_NX", "Laplacian known", "Laplacian hidden", "perplexity"):
        assert word in head
    for setting, row in zip(demo.SETTINGS, rows, strict=True):
        assert row.startswith(setting.title) and len(row) == len(rule)
        assert row.split()[-5:] == ["0.500", "0.250", "0.125", "30.0", "1.50"]
    assert random.split() == ["random", "labels", "0.480", "0.667"]
    # The numbers stand under their headings.
    for heading, value in (("Laplacian known", "0.480"), ("Laplacian hidden", "0.667")):
        assert head.index(heading) + len(heading) == random.index(value) + len(value)


def test_table_prints_on_any_terminal() -> None:
    assert demo.format_table(made_up()).isascii()


def test_picture_has_a_panel_a_map_and_one_legend() -> None:
    figure = demo_picture.draw(made_up())
    assert len(figure.axes) == 6 and len(figure.legends) == 1
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert entries == [
        "known: blue",
        "known: orange",
        "hidden: circle",
        "hidden: square",
        "hidden: triangle",
    ]
    for axes, setting in zip(figure.axes, demo.SETTINGS, strict=True):
        assert axes.get_title(loc="left") == setting.title
        assert axes.get_aspect() == 1
        assert len(axes.get_xticks()) == len(axes.get_yticks()) == 0
        assert all(points.get_rasterized() for points in axes.collections)
        assert sum(len(points.get_offsets()) for points in axes.collections) == 60


def test_colour_is_the_known_label_and_shape_the_hidden_one() -> None:
    from matplotlib.colors import to_hex
    from matplotlib.markers import MarkerStyle

    colours = {"blue": "#0072b2", "orange": "#e69f00"}
    markers = {"circle": "o", "triangle": "^", "square": "s"}
    result = made_up()
    (points,) = demo_picture.draw(result).axes[0].collections
    drawn = np.asarray(points.get_offsets())
    for position, known, hidden in zip(
        result.panels[0].embedding, result.data.known, result.data.hidden, strict=True
    ):
        (place,) = np.flatnonzero((drawn == position).all(axis=1))
        assert to_hex(points.get_facecolors()[place]) == colours[known]
        style = MarkerStyle(markers[hidden])
        expected = style.get_path().transformed(style.get_transform())
        np.testing.assert_allclose(points.get_paths()[place].vertices, expected.vertices)


@pytest.mark.parametrize("panels", [0, 1, 4])
def test_any_number_of_panels_can_be_drawn(panels: int, tmp_path: Path) -> None:
    assert demo_picture.save_picture(made_up(panels=panels), tmp_path / "maps.png").is_file()


def test_all_text_lies_inside_the_picture() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    figure = demo_picture.draw(made_up())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent(canvas.get_renderer())
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    # Within a panel's header the title and the setting do not touch.
    for axes in figure.axes:
        left = axes._left_title.get_window_extent(canvas.get_renderer())
        right = axes._right_title.get_window_extent(canvas.get_renderer())
        assert left.x1 < right.x0


@pytest.mark.parametrize("ending", ["png", "PNG", "pdf", "svg"])
def test_picture_formats(ending: str, tmp_path: Path) -> None:
    path = demo_picture.save_picture(made_up(), tmp_path / f"maps.{ending}")
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[ending.lower()]
    assert path.read_bytes().startswith(start)


def test_picture_replaces_the_old_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "maps.png"
    target.write_text("old")
    assert demo_picture.save_picture(made_up(), target) == target.resolve()
    assert target.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["maps.png"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_a_failed_drawing_keeps_the_old_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    def fail(figure: Figure, path: Path, **options: object) -> None:
        Path(path).write_bytes(b"half a pic")
        raise OSError("disk full")

    target = tmp_path / "maps.png"
    target.write_text("old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        demo_picture.save_picture(made_up(), target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["maps.png"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    demo_picture.save_picture(made_up(), tmp_path / "link.png")
    assert (tmp_path / "link.png").is_symlink() and (tmp_path / "real.png").is_file()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("missing/maps.png", OSError, "there is no folder"),
        ("file.txt/maps.png", OSError, "there is no folder"),
        ("folder.png", OSError, "is not a file"),
        ("maps.xyz", ValueError, "must end in .*png"),
        ("maps", ValueError, "must end in .*png"),
    ],
)
def test_bad_picture_paths_are_refused(
    name: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / "folder.png").mkdir()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error, match=message):
        demo_picture.check_picture_path(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_refuses_files_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Patched rather than set by permissions: those do not stop the superuser of a container.
    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(OSError, match=r"refuses new files \(Permission denied\)"):
        demo_picture.check_picture_path(tmp_path / "maps.png")


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "ctsne\[plot\]"'):
        demo_picture.draw(made_up())


def test_matplotlib_is_imported_only_to_draw_and_pyplot_never(tmp_path: Path) -> None:
    program = f"""
import sys
from ctsne import demo, demo_picture
from ctsne.datasets import make_synthetic
assert "matplotlib" not in sys.modules
result = demo.Demo(make_synthetic(20, random_state=0), (), 0.48, 0.67)
demo_picture.save_picture(result, {str(tmp_path / "maps.png")!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=120)
