"""The answer of a command: its JSON, whose keys are attributes as well. Its repr is the text that the command prints."""

from __future__ import annotations

from _torch_memoir._lazy import Lazy

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import typing
    from collections.abc import Callable

    Keys = dict[str, typing.Any]
else:
    globals()["typing"] = Lazy("typing")
    Keys = dict


class Answer(Keys):
    """A dictionary (docs/json.md has its keys), with each key as an attribute: `answer.devices[0].peak_allocated_bytes`.

    A notebook or a prompt shows the text that the command prints; `answer.text` is this text.
    """

    _print: Callable[[], str] | None = None  # None: a part of an answer

    def __getattr__(self, name: str) -> typing.Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no key {name!r}; there are {', '.join(map(str, self))}") from None

    def __reduce__(self) -> tuple[object, ...]:
        return Answer, (dict(self),)  # a copy cannot run the command again for the text

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *map(str, self)]

    @property
    def text(self) -> str:
        """The text that the command prints without --json. For a part of an answer: the part as JSON."""
        if self._print is not None:
            return self._print()
        import json

        return json.dumps(self, indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        return self.text.rstrip("\n") if self._print is not None else super().__repr__()

    def _repr_html_(self) -> str:
        return preformatted(self.text)


def parse(text: bytes, print_it: Callable[[], str]) -> Answer:
    """Parses the JSON of a command. `print_it` returns the command's text; it is called when the text is needed."""
    import json

    answer: Answer = json.loads(text, object_hook=Answer)
    answer._print = print_it
    return answer


def preformatted(text: str) -> str:
    """Converts text that the program printed to HTML, with special characters escaped."""
    import html

    return f'<pre style="line-height:1.3;white-space:pre;overflow-x:auto">{html.escape(text.rstrip())}</pre>'
