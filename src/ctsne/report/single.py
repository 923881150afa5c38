"""A fitted model as a sweep of one map, which is what a page shows."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ctsne._core.vocabulary import of_column
from ctsne.estimator import ConditionalTSNE
from ctsne.fit.fitting import point_diagnostics
from ctsne.labels.columns import columns_by_name
from ctsne.methods import METHODS
from ctsne.storage.model import label_name
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import GridPoint


def sweep_of_model(model: ConditionalTSNE) -> SweepResult:
    """Return the map of a fitted model with its setting, diagnostics and labels."""
    check_is_fitted(model)
    parameters: dict[str, Any] = {"method": model.method}
    knob = METHODS[model.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    if knob is not None and value is not None:
        parameters[knob] = value
    measures: dict[str, float] = {}
    if isinstance(model.mixing_, dict):
        measures = {of_column("mixing", name): each for name, each in model.mixing_.items()}
    elif model.mixing_ is not None:
        measures = {"mixing": float(model.mixing_)}
    made = SweptMap(
        parameters, model.embedding_, measures, float("nan"), None, point_diagnostics(model)
    )
    labels, name = model.labels_, label_name(model)
    columns = {} if labels is None else columns_by_name(labels, name)
    point = GridPoint(parameters, "", "", None)
    given = model.get_params(deep=False)
    return SweepResult((made,), (point,), given, columns=columns, known=tuple(columns))
