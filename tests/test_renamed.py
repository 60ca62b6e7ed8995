"""An old name is an error that names the new one."""

from __future__ import annotations

import pytest

import toolglot
from toolglot.errors import CallerError
from toolglot.gateway.config import read_config


def test_an_old_python_name_names_the_new_one() -> None:
    with pytest.raises(AttributeError, match="'Call'; it was renamed to PreparedRequest"):
        toolglot.Call  # noqa: B018


def test_an_old_config_key_names_the_new_one() -> None:
    text = '[[upstream]]\nname = "up"\nprovider = "ollama"\n\n[[route]]\nmodel = "*"\nto = "up/*"\nmend = 1\n'
    with pytest.raises(CallerError, match=r"line 8, \[route\] mend: .*retries"):
        read_config(text)
