"""The papers behind the methods and the software itself, as text and as BibTeX."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """One work to cite. CITATION.cff holds the same facts, and a test compares them."""

    key: str
    kind: str  # of the BibTeX entry
    authors: tuple[tuple[str, str], ...]  # family names and given names
    title: str
    where: str  # journal, book or version, as it appears in a list of references
    fields: Mapping[str, str]  # the rest of the BibTeX entry
    year: str | None = None
    doi: str | None = None

    @property
    def cited(self) -> str:
        """The citation in running text, such as "Heiter et al. 2023"."""
        families = [family for family, _ in self.authors]
        names = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
        return f"{names} {self.year}" if self.year else names

    def text(self) -> str:
        """Return the entry in a list of references."""
        authors = ", ".join(f"{given} {family}".strip() for family, given in self.authors)
        link = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{authors}. {self.title}. {self.where}.{link}"

    def bibtex(self) -> str:
        """Return the entry of a BibTeX file, in ASCII."""
        authors = " and ".join(
            f"{family}, {given}" if given else f"{{{family}}}" for family, given in self.authors
        )
        fields = {"author": authors, "title": f"{{{self.title}}}", **self.fields}
        fields |= {"year": self.year or "", "doi": self.doi or ""}
        lines = [f"  {name:9} = {{{_latex(each)}}}," for name, each in fields.items() if each]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


REVISED = Reference(
    key="heiter2023revised",
    kind="inproceedings",
    authors=(("Heiter", "Edith"), ("Kang", "Bo"), ("Seurinck", "Ruth"), ("Lijffijt", "Jefrey")),
    title="Revised Conditional t-SNE: Looking Beyond the Nearest Neighbors",
    where="Advances in Intelligent Data Analysis XXI (IDA 2023), Lecture Notes in Computer Science "
    "13876, 169-181 (2023)",
    fields={
        "booktitle": "Advances in Intelligent Data Analysis XXI (IDA 2023)",
        "series": "Lecture Notes in Computer Science",
        "volume": "13876",
        "pages": "169--181",
        "publisher": "Springer",
    },
    year="2023",
    doi="10.1007/978-3-031-30047-9_14",
)
ORIGINAL = Reference(
    key="kang2021conditional",
    kind="article",
    authors=(
        ("Kang", "Bo"),
        ("García García", "Darío"),
        ("Lijffijt", "Jefrey"),
        ("Santos-Rodríguez", "Raúl"),
        ("De Bie", "Tijl"),
    ),
    title="Conditional t-SNE: more informative t-SNE embeddings",
    where="Machine Learning 110, 2905-2940 (2021)",
    fields={"journal": "Machine Learning", "volume": "110", "pages": "2905--2940"},
    year="2021",
    doi="10.1007/s10994-020-05917-0",
)
TSNE = Reference(
    key="vandermaaten2008visualizing",
    kind="article",
    authors=(("van der Maaten", "Laurens"), ("Hinton", "Geoffrey")),
    title="Visualizing Data using t-SNE",
    where="Journal of Machine Learning Research 9, 2579-2605 (2008)",
    fields={
        "journal": "Journal of Machine Learning Research",
        "volume": "9",
        "pages": "2579--2605",
    },
    year="2008",
)


def software(version: str) -> Reference:
    """Return ctsne itself, in the version that was used."""
    return Reference(
        key="ctsne",
        kind="misc",
        authors=(("The ctsne authors", ""),),
        title="ctsne: conditional t-SNE",
        where=f"Software, version {version}",
        fields={"note": f"Software, version {version}"},
    )


def _latex(text: str) -> str:
    """Write acute accents as LaTeX does."""
    letters = (unicodedata.normalize("NFD", letter) for letter in text)
    return "".join(
        f"{{\\'{letter[0]}}}" if letter[1:] == "\N{COMBINING ACUTE ACCENT}" else letter
        for letter in letters
    )
