"""The compiled build: a hook of hatchling that compiles the modules where the time goes, with mypyc.

    HATCH_BUILD_HOOK_ENABLE_CUSTOM=true python -m pip wheel --no-deps .

Without that variable the wheel is plain Python, which stays the reference. `pyproject.toml` lists what is
compiled, and says of each exception why it is not. The sources are compiled in a copy: a compiled module that
was left beside its source would be imported instead of it, also after the source has been changed.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from mypyc.build import mypycify
from setuptools import Distribution


class CompiledModules(BuildHookInterface[Any]):  # Any: the settings of a wheel, of which only one is read
    """Adds the compiled modules to a wheel, each beside its source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # Any: as hatchling declares it
        if version != "standard":
            return  # an editable install runs the sources
        self.copy = Path(tempfile.mkdtemp(prefix="stellwerk-compiled-"))
        try:
            for package in self.build_config.packages:
                shutil.copytree(Path(self.root, package), self.copy / Path(package).name)
            built = _compile(self.copy, self.config["compiled"], self.config["left-plain"])
        except BaseException:  # mypyc exits if it finds an error
            shutil.rmtree(self.copy)
            raise
        for path in built.rglob("*.*"):
            build_data["force_include"][str(path)] = str(path.relative_to(built))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version == "standard":
            shutil.rmtree(self.copy)


def _compile(copy: Path, wanted: list[str], left_plain: list[str]) -> Path:
    """Compile modules in a folder of packages; return the folder with what was built, like the first one."""
    with chdir(copy):  # mypy names modules by where they are from here
        sources = _modules(wanted) - _modules(left_plain)
        extensions = mypycify(
            ["--config-file=", *sorted(map(str, sources))],  # no file: this is no linting
            opt_level="2",  # as fast as 3, and smaller
            debug_level="0",
            multi_file=True,  # as fast as one large file, for two thirds of the compiler's time
            group_name="stellwerk",
        )
        build = Distribution({"name": "stellwerk", "ext_modules": extensions}).get_command_obj("build_ext")
        build.build_lib = "built"
        build.ensure_finalized()
        build.run()
    return copy / "built"


def _modules(entries: list[str]) -> set[Path]:
    """Return the modules that a list names, and those of the rooms that it names, which are compiled but for
    their `__init__.py`: these hold no code."""
    paths = {path for entry in entries for path in (Path(entry), *Path(entry).rglob("*.py"))}
    return {path for path in paths if path.suffix == ".py" and path.name != "__init__.py"}
