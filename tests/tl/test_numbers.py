"""Numbers of ``obs`` that are factored out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ctsne
from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing
from ctsne.labels import encode_number

from .conftest import QUICK


@pytest.mark.filterwarnings("ignore:.*too few points")
def test_numbers_are_columns_of_obs(blood: Any) -> None:
    blood.obsm["X_rep"] = blood.obsm["X_pca"]
    ctsne.tl.ctsne(blood, "phase", numbers="n_counts", use_rep="X_rep", **QUICK)
    model = ConditionalTSNE(random_state=0, **QUICK)
    counts = {"n_counts": blood.obs["n_counts"].to_numpy()}
    model.fit(blood.obsm["X_rep"], labels={"phase": blood.obs["phase"]}, numbers=counts)
    assert np.array_equal(blood.obsm["X_ctsne"], model.embedding_)
    table = ctsne.tl.evaluate(blood).set_index(["measure", "label"])["value"]
    number = encode_number(blood.obs["n_counts"])
    assert table["mixing", "n_counts"] == pytest.approx(mixing(model.embedding_, number))
    assert ("r2", "n_counts") in table.index and ("r2", "phase") not in table.index
    # New cells are placed by the numbers that they have under the same name.
    part = blood[:50].copy()
    ctsne.tl.transform(part, blood)
    assert part.obsm["X_ctsne"].shape == (50, 2)


def test_a_sweep_of_numbers_alone(blood: Any) -> None:
    result = ctsne.tl.sweep(
        blood,
        None,
        {"strength": [0.0, 1.0]},
        numbers="n_counts",
        estimator=ConditionalTSNE(random_state=0, **QUICK),
        progress=False,
    )
    assert result.labels.names == ("n_counts",) and result.suggest().map in result.maps
    with pytest.raises(ValueError, match=r"numbers.*n_count"):
        ctsne.tl.ctsne(blood, "phase", numbers="n_count", **QUICK)
