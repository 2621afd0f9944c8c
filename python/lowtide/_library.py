"""The path of the library that JAX loads."""

import os
import pathlib

_NAME = "liblowtide_pjrt.so"


def library_path() -> str:
    """$LOWTIDE_PJRT_LIBRARY; else the one installed with this package; else that of the build tree next to this
    folder."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("LOWTIDE_PJRT_LIBRARY")
    places = [pathlib.Path(named)] if named else [here / _NAME, here.parents[1] / "build" / _NAME]
    for place in places:
        if place.is_file():
            return str(place)
    raise FileNotFoundError(f"{_NAME} is not at {' or '.join(map(str, places))}; LOWTIDE_PJRT_LIBRARY names another place")
