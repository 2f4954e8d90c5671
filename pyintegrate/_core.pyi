"""The C core (csrc/python/). Arrays come through the buffer protocol, checked before."""

from collections.abc import Callable
from typing import Any, Self, TypeVar, final

_Result = TypeVar("_Result")

systems: list[dict[str, Any]]
sized_systems: list[dict[str, Any]]
method_names: list[str]
requirements: dict[str, tuple[str, list[str]]]
questions: list[str]
operations: list[tuple[str, int, str]]
limits: dict[str, Any]
reductions: dict[str, Any]
reductions_over_time: dict[str, Any]

def rigid_phases(method: object, /) -> tuple[object, ...]: ...
def make_system(name: str, parts: int, /) -> object: ...
def method(which: str | object, /) -> dict[str, Any]: ...
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
    order: int = ...,
    embedded_order: int = ...,
    b_embedded: tuple[float, ...] = ...,
    /,
) -> object: ...
def scales(system: object, /) -> list[int]: ...
def make_program(
    code: Any,
    constants: Any,
    sections: Any,
    dim: int,
    dof: int,
    n_params: int,
    n_derived: int,
    n_invariants: int,
    n_registers: int,
    noises: int = 0,
    second: int = 0,
    tangents: int = 0,
    /,
) -> object: ...
def make_compiled(program: object, f64: int, f32: int, owner: object, /) -> object: ...
def make_callback(
    function: object,
    kind: int,
    dim: int,
    dof: int,
    n_params: int,
    lanes_a_call: int,
    owner: object = ...,
    velocity_dependent: int = ...,
    tangents: int = ...,
    /,
) -> object: ...
def noise(seed: int, stream: int, counters: Any, out: Any, /) -> None: ...
def history_rows(system: object, method: object, compensated: bool = ..., /) -> int: ...
def shielded(
    work: Callable[[], _Result], finish: Callable[[BaseException], object], /
) -> _Result: ...
def to_nearest(function: Callable[..., _Result], /, *args: Any, **keywords: Any) -> _Result: ...

@final
class Stepper:
    def __new__(cls, **fields: Any) -> Self: ...
    @property
    def n(self) -> int: ...
    def step(self, n: int = 1) -> None: ...
    def kick(self) -> None: ...
    def drift(self) -> None: ...
    def begin(self, n: int, has_history: bool, /) -> None: ...
    def look(self, n: int, /) -> None: ...
    def alter(self, function: Callable[[], _Result], /) -> _Result: ...

@final
class AdaptiveRun:
    def __new__(cls, **fields: Any) -> Self: ...
    def work(
        self, progress: Callable[[int], object] | None = ..., helpers: int = ..., /
    ) -> None: ...
    def gather(self, counts: Any, record: Any = ..., /) -> tuple[int, int]: ...

@final
class Run:
    def __new__(cls, **fields: Any) -> Self: ...
    def work(
        self, progress: Callable[[int], object] | None = ..., helpers: int = ..., /
    ) -> None: ...
    def outcome(self) -> tuple[int, int, int, int, list[bytes]]: ...
