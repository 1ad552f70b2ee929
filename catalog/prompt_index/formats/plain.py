"""Formats with one line a skill: `lines` and `markdown`."""

from catalog.prompt_index import messages
from catalog.prompt_index.formats.form import Form, FormatOptions, Layout, Listed, line
from catalog.text.visible import in_code, in_markdown, one_line


def lines(options: FormatOptions) -> Form:
    """Return the form that states once where all skills are, then has a line for each."""
    instruction = options.instruction
    if instruction is None:
        instruction = messages.lines(options.language, options.pattern)
    return Form(
        Layout(lambda skill, words: f"{one_line(line(skill, words, options))}\n"),
        head=f"{one_line(instruction)}\n" if instruction else "",
        search_first=f"{one_line(options.search_first)}\n",
        left_out=lambda count: f"{one_line(options.left_out(count))}\n",
    )


def markdown(options: FormatOptions) -> Form:
    """Return the form of a Markdown list, with the location of each skill."""
    pattern = in_code(options.pattern) if options.pattern else None
    return Form(
        Layout(lambda skill, description: _entry(skill, description, options)),
        Layout(
            lambda skill, words: f"- {in_markdown(line(skill, words, options))}\n",
            head=f"{messages.by_name(options.language, pattern)}\n\n",
        ),
        head=f"{in_markdown(options.instruction)}\n\n" if options.instruction else "",
        search_first=f"{in_markdown(options.search_first)}\n\n",
        left_out=lambda count: f"\n{one_line(options.left_out(count))}\n",
    )


def _entry(skill: Listed, description: str, options: FormatOptions) -> str:
    mark = "" if skill.user_invocable else f", {messages.FOR_AGENTS_ONLY[options.language]}"
    return (
        f"- **{in_markdown(skill.name)}** ({in_code(skill.location)}{mark}): "
        f"{in_markdown(description)}\n"
    )
