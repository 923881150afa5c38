"""The program that runs tests under sanitizers: leaks of our module are reported, others not."""

from __future__ import annotations

from pathlib import Path

from .scripts import import_from

REPORT = """
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 512 byte(s) in 1 object(s) allocated from:
    #0 0x7f in operator new[](unsigned long) asan_new_delete.cpp:98
    #1 0x7f in {place}
    #2 0x7f in nb_func_vectorcall_medium_pos nanobind/src/nb_func.cpp:1019

Direct leak of 64 byte(s) in 1 object(s) allocated from:
    #0 0x7f in malloc asan_malloc_linux.cpp:69
    #1 0x7f in PyObject_Vectorcall Objects/call.c:299

SUMMARY: AddressSanitizer: 576 byte(s) leaked in 2 allocation(s).
"""


def test_leaks_of_our_module_are_reported(tmp_path: Path) -> None:
    load = next(scripts := import_from("tools"))
    reports_of = load("sanitize").reports_of
    scripts.close()
    (tmp_path / "reports").mkdir()
    # As the build writes paths of sources, and without debug information.
    for place in ("operator() native/bind/mesh.cpp:251", "(/x/ctsne/_native.cpython-311.so+0xc92)"):
        (tmp_path / "reports" / "report.7").write_text(REPORT.format(place=place))
        (found,) = reports_of(tmp_path)
        assert "512 byte" in found and "64 byte" not in found
    (tmp_path / "reports" / "report.7").write_text(
        REPORT.format(place="import_find Python/import.c:1")
    )
    assert reports_of(tmp_path) == []
    (tmp_path / "reports" / "report.8").write_text(
        "==8==ERROR: AddressSanitizer: heap-use-after-free"
    )
    assert len(reports_of(tmp_path)) == 1
