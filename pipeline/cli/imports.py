"""Quick imports of commands, which a short command mostly consists of."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_WITHOUT_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


@contextmanager
def quick_imports() -> Iterator[None]:
    """Pause the garbage collector and the plugins of pydantic, for a seventh less to do.

    Modules stay until the end, so there is nothing to collect, and no later collection, such as
    that of the end, looks at them again. To find plugins, pydantic reads the metadata of every
    installed distribution; skilldrop uses none.
    """
    collects, before = gc.isenabled(), os.environ.get(_WITHOUT_PLUGINS)
    gc.disable()
    os.environ[_WITHOUT_PLUGINS] = "__all__"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_WITHOUT_PLUGINS]
        else:
            os.environ[_WITHOUT_PLUGINS] = before
        gc.freeze()
        if collects:
            gc.enable()
