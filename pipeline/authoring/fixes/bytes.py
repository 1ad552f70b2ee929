"""Fixes of bytes: encodings, the byte order mark, line ends and control characters."""

import re
from dataclasses import replace

from catalog.model.finding import Finding
from pipeline.authoring.fixes.draft import Draft
from pipeline.authoring.fixes.source import Source
from pipeline.parsing.decoding import decode

# Characters of UTF-8 that was read as Latin-1 or Windows-1252: two to four in a row.
_CP1252 = {
    bytes([b]).decode("cp1252"): b for b in range(128, 160) if b not in (129, 141, 143, 144, 157)
}
_HIGH = f"\x80-\xbf{''.join(map(re.escape, _CP1252))}"
_MOJIBAKE = re.compile(f"[\xc2-\xdf][{_HIGH}]|[\xe0-\xef][{_HIGH}]{{2}}|[\xf0-\xf4][{_HIGH}]{{3}}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_FOREIGN = re.compile("[\udc80-\udcff]+")


def without_mark(draft: Draft, _: Finding) -> Draft | None:
    """Remove the byte order mark."""
    return draft.edited(replace(draft.source, has_mark=False))


def as_utf_8(draft: Draft, _: Finding) -> Draft | None:
    """Encode UTF-16 and UTF-32 as UTF-8."""
    text, _findings = decode(draft.data)
    return None if "\ufffd" in text else draft.edited(Source.of(text.encode()), same_body=False)


def usual_line_ends(draft: Draft, _: Finding) -> Draft | None:
    """Replace carriage returns alone by the file's usual line end."""
    source = draft.source
    ends = tuple(source.usual_end if end == "\r" else end for end in source.ends)
    return draft.edited(replace(source, ends=ends))


def decoded_again(draft: Draft, _: Finding) -> Draft | None:
    """Decode text that was read in a wrong encoding: `Ã¶` becomes `ö`."""
    return _rewritten(draft, _MOJIBAKE.sub(_decoded, draft.source.text))


def without_controls(draft: Draft, finding: Finding) -> Draft | None:
    """Decode text again that was read in a wrong encoding, and delete other control characters."""
    text = _MOJIBAKE.sub(_decoded, draft.source.text)
    return _rewritten(draft, _CONTROL.sub("", text))


def from_windows(draft: Draft, _: Finding) -> Draft | None:
    """Read bytes that are not UTF-8 as Windows-1252, or as Chinese text if they come in pairs."""
    runs = [match[0] for match in _FOREIGN.finditer(draft.source.text)]
    if not runs:
        return None
    encoding = "gb18030" if all(len(run) % 2 == 0 for run in runs) else "cp1252"
    try:
        text = _FOREIGN.sub(
            lambda run: run[0].encode("utf-8", "surrogateescape").decode(encoding),
            draft.source.text,
        )
    except UnicodeDecodeError:
        return None
    return _rewritten(draft, text)


def _decoded(match: re.Match[str]) -> str:
    data = bytes(_CP1252.get(character, 0) or ord(character) for character in match[0])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return match[0]


def _rewritten(draft: Draft, text: str) -> Draft | None:
    if text == draft.source.text:
        return None
    return draft.edited(draft.source.with_text(text), same_body=False)
