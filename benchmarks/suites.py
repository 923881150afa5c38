"""The parts of the benchmarks: programs, their options, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"


@dataclass(frozen=True)
class Part:
    """A program, its options, and roughly how many minutes it takes on two cores."""

    program: str
    options: str
    minutes: float


SHORT = {
    "startup": Part("startup.py", "", 0.5),
    "maps-1500": Part(
        "maps.py",
        "--n 1500 --d 10 --perplexity 30 --iterations 750 --methods revised-r tsne original"
        " --peers openTSNE-FFT openTSNE-BH scikit-learn UMAP",
        2,
    ),
    "maps-15000": Part(
        "maps.py",
        "--n 15000 --methods revised-r tsne original balanced joint --peers openTSNE-FFT"
        " intelex scranpy",
        6,
    ),
    "neighbors-33500": Part("neighbors.py", "--n 33500 --more-labels 2 1000 --stop-at 3", 4),
    "roofline-100000": Part("roofline.py", "--n 100000", 2),
}
LONG = {
    "maps-15000-more": Part(
        "maps.py", "--n 15000 --methods revised-r tsne --peers openTSNE-BH scikit-learn UMAP", 6
    ),
    "maps-100000": Part(
        "maps.py",
        "--n 100000 --labels 10 --one-thread --peers openTSNE-FFT intelex scranpy UMAP",
        20,
    ),
    "maps-300000": Part(
        "maps.py",
        "--n 300000 --labels 10 --methods revised-r --peers openTSNE-FFT --opentsne-iterations 500",
        12,
    ),
    "maps-1000000": Part(
        "maps.py",
        "--n 1000000 --labels 10 --perplexity 30 --iterations 750 --methods revised-r --peers",
        10,
    ),
    "neighbors-100000": Part("neighbors.py", "--n 100000 --more-labels 2 1000 --stop-at 3", 7),
    # Without faiss-flat, which compares all pairs and would take most of an hour.
    "neighbors-1000000": Part(
        "neighbors.py",
        "--n 1000000 --k-same 45 --k-other 45 --recall 0.95 --more-labels 2 1000 --stop-at 2"
        " --libraries faiss-ivf faiss-ivf-few --labelled faiss-ivf-few",
        9,
    ),
    "neighbors-1000000-more": Part(
        "neighbors.py",
        "--n 1000000 --k-same 45 --k-other 45 --recall 0.95 --stop-at 2"
        " --libraries faiss-hnsw usearch annoy pynndescent --labelled",
        9,
    ),
    "roofline-300000": Part("roofline.py", "--n 300000", 4),
    "ties-10000": Part("ties.py", "--n 10000 --labels 100 --turns 2", 5),
    "placing-100000": Part("placing.py", "--n 100000", 5),
}
PARTS = SHORT | LONG
SETS = {"short": list(SHORT), "full": list(PARTS)}
