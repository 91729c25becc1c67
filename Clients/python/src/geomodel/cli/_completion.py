"""Prints the completion of commands, options and their values for a shell; it needs no further start of Python.

Examples:

  geomodel completion bash > ~/.local/share/bash-completion/completions/geomodel
  geomodel completion zsh > "${fpath[1]}/_geomodel"
  geomodel completion fish > ~/.config/fish/completions/geomodel.fish
"""

from __future__ import annotations

import argparse
import sys
from typing import Iterator, NamedTuple


class Option(NamedTuple):
    """An option as completions need it."""

    words: list[str]
    help: str
    takes: str | None
    values: list[str]


def define(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(options: argparse.Namespace) -> int:
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]())
    return 0


def _options(command: str) -> tuple[list[Option], list[str]]:
    """The options of a command, and the values of its positional arguments where they are not files."""
    from ._commands import parser_of

    options, values = [], []
    for action in parser_of(command)._actions:
        choices = [] if action.choices is None else [str(each) for each in action.choices]
        if action.option_strings:
            takes = None if action.nargs == 0 else str(action.metavar or "VALUE")
            options.append(Option(list(action.option_strings), action.help or "", takes, choices))
        else:
            values += choices
    return options, values


def _commands() -> dict[str, str]:
    from ._commands import COMMANDS

    return {name: command.summary for name, command in COMMANDS.items()}


def _bash() -> str:
    words, values = [], []
    for command in _commands():
        options, places = _options(command)
        listed = " ".join(word for option in options for word in option.words)
        words.append(f'    {command}) words="{listed}" values="{" ".join(places)}" ;;\n')
        for option in options:
            for word in option.words:
                if option.values:
                    values.append(f'    "{command} {word}") words="{" ".join(option.values)}" ;;\n')
    return f"""\
# bash completion of geomodel; made by `geomodel completion bash`
_geomodel() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} words= values=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(_commands())} --help --version" -- "$cur"))
    return
  fi
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{"".join(values)}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{"".join(words)}  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$cur"))
       else local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}}
complete -o filenames -F _geomodel geomodel
"""


def _zsh() -> str:
    lines = []
    for command in _commands():
        options, places = _options(command)
        specs = [spec for option in options for spec in _zsh_option(option)]
        specs.append(_zsh_quoted(f"*:argument:({' '.join(places)})" if places else "*:file:_files"))
        lines.append(f"    {command}) _arguments {' '.join(specs)} ;;\n")
    listed = " ".join(_zsh_quoted(f"{name}:{summary}") for name, summary in _commands().items())
    return f"""\
#compdef geomodel
# zsh completion of geomodel; made by `geomodel completion zsh`
_geomodel() {{
  local -a commands
  commands=({listed})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{"".join(lines)}  esac
}}
if [ "$funcstack[1]" = _geomodel ]; then _geomodel "$@"; else compdef _geomodel geomodel; fi
"""


def _zsh_option(option: Option) -> Iterator[str]:
    help = "".join(f"\\{each}" if each in "[]\\" else each for each in option.help)
    for word in option.words:
        if option.takes is None:
            yield _zsh_quoted(f"{word}[{help}]")
        else:
            does = f"({' '.join(option.values)})" if option.values else "_files" if _is_path(option) else ""
            takes = option.takes.replace(":", "\\:")
            yield _zsh_quoted(f"{word}[{help}]:{takes}:{does}")


def _is_path(option: Option) -> bool:
    return option.takes in ("FILE", "PATH", "DIR", "DOCUMENT")


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish() -> str:
    lines = ["# fish completion of geomodel; made by `geomodel completion fish`\n"]
    for name, summary in _commands().items():
        lines.append(f"complete -c geomodel -n __fish_use_subcommand -f -a {name} -d {_fish_quoted(summary)}\n")
    for command in _commands():
        options, places = _options(command)
        head = f"complete -c geomodel -n '__fish_seen_subcommand_from {command}'"
        if places:
            lines.append(f"{head} -f -a '{' '.join(places)}'\n")
        for option in options:
            names = "".join(f" -l {word[2:]}" if word.startswith("--") else f" -s {word[1:]}" for word in option.words)
            takes = ""
            if option.takes is not None:
                takes = f" -x -a '{' '.join(option.values)}'" if option.values else " -r" if _is_path(option) else " -x"
            lines.append(f"{head}{names}{takes} -d {_fish_quoted(option.help)}\n")
    return "".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
