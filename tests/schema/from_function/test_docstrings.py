"""The three styles of docstrings, and what people write beside them."""

from __future__ import annotations

import pytest

from toolglot.schema.from_function.docstrings import read_docstring

GOOGLE = """Finds flights.

    Only direct ones,
    and only today's.

    Args:
        origin (str): Where from:
            an airport's code.
        to (dict[str, tuple(int)], optional): Where to
        *rest: More.
        limit:
            How many at most.

    Returns:
        list: flights: those found
    Raises:
        ValueError: origin: unknown
    """

NUMPY = """
    Finds flights.

    Only direct ones,
    and only today's.

    Parameters
    ----------
    origin : str
        Where from:
        an airport's code.
    to : dict, optional
        Where to
    *rest
        More.
    limit
        How many at most.

    Returns
    -------
    flights : list
        those found
    """

REST = """Finds flights.

    Only direct ones,
    and only today's.

    :param str origin: Where from:
        an airport's code.
    :param to: Where to
    :type to: dict
    :param *rest: More.
    :keyword limit: How many at most.
    :returns: flights
    :raises ValueError: origin: unknown
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_each_style_gives_the_same_result(text: str) -> None:
    read = read_docstring(text)
    assert read.description == "Finds flights.\n\nOnly direct ones, and only today's."
    assert read.parameters == {
        "origin": "Where from: an airport's code.",
        "to": "Where to",
        "rest": "More.",
        "limit": "How many at most.",
    }


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_an_empty_docstring_has_no_description(text: str | None) -> None:
    assert read_docstring(text).description is None


def test_several_names_share_words_in_numpys_style() -> None:
    assert read_docstring("A.\n\nParameters\n----------\nx, y : int\n    A place.\n").parameters == {
        "x": "A place.",
        "y": "A place.",
    }


def test_a_list_in_the_description_keeps_its_lines() -> None:
    assert read_docstring("Units:\n- C\n- F\n\nDone.").description == "Units:\n- C\n- F\n\nDone."


def test_a_section_title_inside_a_sentence_is_not_a_section() -> None:
    read = read_docstring("Takes args: two of them.\n\nNote that parameters\nare many.")
    assert read.description == "Takes args: two of them.\n\nNote that parameters are many."
    assert read.parameters == {}


def test_text_after_the_sections_is_not_the_description() -> None:
    read = read_docstring("A.\n\nArgs:\n    x: One.\n\nMore words.\n")
    assert (read.description, read.parameters) == ("A.", {"x": "One."})


def test_a_default_in_an_entry_is_part_of_its_words() -> None:
    read = read_docstring("A.\n\nArgs:\n    unit: One of:\n        C: Celsius\n        F: Fahrenheit\n    x: The x")
    assert read.parameters == {"unit": "One of: C: Celsius F: Fahrenheit", "x": "The x"}


def test_a_role_at_the_start_of_a_line_is_not_a_field() -> None:
    assert read_docstring(":class:`Foo` is made.\n\n:func:`bar` too: twice").description == (
        ":class:`Foo` is made.\n\n:func:`bar` too: twice"
    )


def test_fields_that_are_indented_do_not_run_into_each_other() -> None:
    read = read_docstring("A.\n\n:param x: One\n  :type x: int\n  :param y:\n      Two\n")
    assert read.parameters == {"x": "One", "y": "Two"}


def test_a_docstring_that_begins_with_its_parameters() -> None:
    """Cleaning takes the indentation of all lines but the first away."""
    read = read_docstring("Args:\n        x: One\n            more\n        y (int): Two\n    ")
    assert (read.description, read.parameters) == (None, {"x": "One more", "y": "Two"})


def test_names_in_quotes_several_names_and_types_with_brackets_in_googles_style() -> None:
    read = read_docstring("A.\n\nArgs:\n    x: One\n    `y`: Two\n    a, *b: Both\n    f (Tuple[int, (str, (int))]): Deep\n")
    assert read.parameters == {"x": "One", "y": "Two", "a": "Both", "b": "Both", "f": "Deep"}


def test_a_field_of_two_paragraphs() -> None:
    assert read_docstring("A.\n\n:param x:\n    One.\n\n    Two.\n:param y: Y\n").parameters == {"x": "One. Two.", "y": "Y"}
