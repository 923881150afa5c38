"""Small files, as for the readers."""

from ..io.conftest import cells, table

__all__ = ["cells", "table"]
