"""Command that prints a script for completion in a shell."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    Examples:
      skilldrop completion bash >> ~/.bashrc
      skilldrop completion fish > ~/.config/fish/completions/skilldrop.fish
    """
    script = get_completion_class(shell)
    assert script
    command = context.find_root().command
    click.echo(script(command, {}, "skilldrop", "_SKILLDROP_COMPLETE").source())
