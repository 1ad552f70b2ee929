"""Unexpected exceptions as findings of the folder that caused them."""

import logging

from catalog.model.errors import SkilldropError
from catalog.model.finding import Finding
from catalog.model.skill import Inventory, Place, Rejection
from catalog.text.visible import printable
from pipeline.roots.codes import INTERNAL_ERROR

log = logging.getLogger("skilldrop")

_LONGEST = 300
"""Characters of an exception's text in a message, at most."""


def is_internal(error: Exception) -> bool:
    """Whether an exception is a mistake of skilldrop, not a problem of the system."""
    return not isinstance(error, (SkilldropError, OSError, MemoryError))


def sentence(error: Exception) -> str:
    """Return a sentence about an exception."""
    return f"Internal error: {type(error).__name__}: {printable(str(error), _LONGEST)}."


def noted(path: str, error: Exception) -> Finding:
    """Log an exception with its traceback; return the finding for the folder at a path."""
    log.error("%s: %s", path, sentence(error), exc_info=error)
    return INTERNAL_ERROR.at(sentence(error))


def rejection(
    place: Place, skill_id: str, name: str, fingerprint: str, error: Exception
) -> Rejection:
    """Return the verdict on a folder whose judgement raised an exception; log the exception."""
    return Rejection(
        place=place,
        skill_id=skill_id,
        name=name,
        fingerprint=fingerprint,
        digest=None,
        inventory=Inventory.of(()),
        findings=(noted(f"{place.root}/{place.path}", error),),
    )
