"""The C core (csrc/module.c). Arrays come through the buffer protocol, checked before."""

from collections.abc import Callable
from typing import Any, final

def systems() -> list[dict[str, Any]]: ...
def methods() -> list[dict[str, Any]]: ...
def info() -> dict[str, Any]: ...
def evaluate(
    system: object,
    bits: int,
    question: int,
    lanes: int,
    t: Any,
    y: tuple[Any, ...],
    params: tuple[Any, ...],
    out: Any,
    /,
) -> None: ...
def make_method(
    family: str,
    stages: int,
    evaluations: int,
    rows: tuple[tuple[float, ...], ...],
    derivative: int = ...,
    /,
) -> object: ...
def history_rows(system: object, method: object, /) -> int: ...
def start(
    system: object,
    method: object,
    bits: int,
    lanes: int,
    first: int,
    n_steps: int,
    save: int,
    bound: float,
    workers: int,
    t0: Any,
    h: Any,
    params: tuple[Any, ...],
    initial: Any,
    state_a: Any,
    state_b: Any,
    record: Any | None,
    record_stride: int,
    stream: bool,
    starter: object | None = ...,
    begun: bool = ...,
    rows: bool = ...,
    /,
) -> Run: ...

@final
class Run:
    def work(self, progress: Callable[[int], object] | None = ..., /) -> None: ...
    def cancel(self) -> None: ...
    def outcome(self) -> tuple[int, int]: ...
    def fail(self, index: Any, status: Any, step: Any, /) -> None: ...
    def count_failures(self) -> int: ...
    def failures(self, index: Any, status: Any, step: Any, /) -> None: ...
