"""The location of the vectors, and their content as it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk_kit.vectors import VectorsMissingError, conformance_folder, wire_vectors
from stellwerk_protocol import pages

REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_checkout_has_them_beside_the_specification() -> None:
    assert conformance_folder() == REPOSITORY / "protocol" / "conformance"


def test_a_package_has_them_in_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conformance" / "vectors" / "wire").mkdir(parents=True)
    monkeypatch.setattr(pages, "_IN_THE_WHEEL", tmp_path)
    assert conformance_folder() == tmp_path / "conformance"


def test_an_installation_without_them_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_IN_THE_WHEEL", tmp_path)
    with pytest.raises(VectorsMissingError, match="this installation is incomplete"):
        wire_vectors()


def test_every_vector_has_its_own_name_and_explains_its_purpose() -> None:
    read = wire_vectors()
    for of_file in (read.client_lines, read.server_lines, read.encoded, read.streams):
        assert of_file
        assert len({vector.id for vector in of_file}) == len(of_file)
        assert all(vector.about for vector in of_file)


def test_a_line_of_a_vector_is_one_line() -> None:
    read = wire_vectors()
    lines = [line.base64 for line in read.client_lines] + [line.base64 for line in read.server_lines]
    assert [line for line in lines if b"\n" in line] == []
