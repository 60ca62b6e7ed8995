"""Imports chosen modules of a large package as they are. Each other module of it is an empty stand-in, as is torch."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

HEAVY = {"torch", "transformers", "xgrammar"}


class _AnyName(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent

    def __or__(cls, other: object) -> Any:
        return object

    __ror__ = __or__

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())


class Absent(metaclass=_AnyName):
    """Whatever an absent module has: a type, a decorator, a value."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) and not options else super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent

    def __call__(self, *args: Any, **_: Any) -> Any:
        return args[0] if args else self

    def __bool__(self) -> bool:
        return False

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        return {"type": "any"}


class _Finder(MetaPathFinder, Loader):
    def __init__(self, files: Path, package: str, real: Collection[str]) -> None:
        self.files, self.absent, self.real = files, {package, *HEAVY}, real

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        place = self.files.joinpath(*name.split("."))
        file = place.with_suffix(".py")
        if name in self.real and place.is_dir():
            return spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
        if name in self.real or (f"{name.rpartition('.')[0]}.*" in self.real and file.exists()):
            return spec_from_file_location(name, file)
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self.absent else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__getattr__ = lambda name: getattr(Absent, name)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None: ...


def use(files: Path, *real: str) -> None:
    """From now on, these modules are those of the package (`a.b.*`: all in a folder); its others are empty."""
    sys.meta_path.insert(0, _Finder(files, real[0].partition(".")[0], set(real)))
