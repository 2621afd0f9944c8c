"""The arrays in Python as a build has them, for the tests of them."""
import os
import sys

from platforms import are_missing


def lowtide_of(build, root, needs):
    """The package with the extension module that was built; None, and a line that says why, where that or one of the modules it is
    compared with isn't there."""
    if are_missing(*needs):
        return None
    beside = os.path.join(build, "python", "lowtide")
    if not os.path.isdir(os.path.join(beside, "_arrays")):
        print("SKIP: arrays in Python weren't built: no nanobind")
        return None
    sys.path.insert(0, os.path.join(root, "python"))
    import lowtide
    lowtide.__path__.append(beside)
    return lowtide
