"""What a verb of the program answers: its JSON, whose keys are attributes as well, with the text that it prints as repr."""

from __future__ import annotations

from memoir._lazy import Lazy

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

    Shown in a notebook or at a prompt it is what the command prints; `answer.text` is that, too.
    """

    _print: Callable[[], str] | None = None  # of a whole answer, not of a part

    def __getattr__(self, name: str) -> typing.Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no key {name!r}; there are {', '.join(map(str, self))}") from None

    def __reduce__(self) -> tuple[object, ...]:
        return Answer, (dict(self),)  # a copy has no command to ask for its text

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *map(str, self)]

    @property
    def text(self) -> str:
        """What the command prints without --json; of a part of an answer, the part as JSON."""
        if self._print is not None:
            return self._print()
        import json

        return json.dumps(self, indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        return self.text.rstrip("\n") if self._print is not None else super().__repr__()

    def _repr_html_(self) -> str:
        return preformatted(self.text)


def parse(text: bytes, print_it: Callable[[], str]) -> Answer:
    """`print_it` makes the text, when somebody wants to see it."""
    import json

    answer: Answer = json.loads(text, object_hook=Answer)
    answer._print = print_it
    return answer


def preformatted(text: str) -> str:
    """Text of the program in HTML: whatever names it has, nothing of it is markup."""
    import html

    return f'<pre style="line-height:1.3;white-space:pre;overflow-x:auto">{html.escape(text.rstrip())}</pre>'
