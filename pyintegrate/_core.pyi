"""The C core (csrc/python/). Arrays come through the buffer protocol, checked before."""

from collections.abc import Callable
from typing import Any, final

def systems() -> list[dict[str, Any]]: ...
def sized_systems() -> list[dict[str, Any]]: ...
def rigid_phases(method: object, /) -> tuple[object, ...]: ...
def make_system(name: str, parts: int, /) -> object: ...
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
def operations() -> list[tuple[str, int, str]]: ...
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
    /,
) -> object: ...
def make_compiled(program: object, f64: int, f32: int, owner: object, /) -> object: ...
def make_callback(
    function: object,
    kind: int,
    dim: int,
    dof: int,
    n_params: int,
    block: int,
    owner: object = ...,
    velocity_dependent: int = ...,
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
    which: tuple[int, ...],
    stream: bool,
    starter: object | None = ...,
    begun: bool = ...,
    rows: bool = ...,
    advances: tuple[int, ...] | None = ...,
    /,
) -> Run: ...
def stepper(
    system: object,
    bits: int,
    lanes: int,
    bound: float,
    t0: Any,
    h: Any,
    params: tuple[Any, ...],
    state: Any,
    methods: tuple[object, ...],
    starter: object | None,
    /,
) -> Stepper: ...

@final
class Stepper:
    @property
    def n(self) -> int: ...
    def step(self, n: int = 1) -> None: ...
    def kick(self) -> None: ...
    def drift(self) -> None: ...
    def begin(self, n: int, begun: bool, /) -> None: ...
    def failures(self) -> list[tuple[int, int, int]]: ...
    def revive(self, lane: int, /) -> None: ...
    def fail(self, lane: int, status: int, step: int, /) -> None: ...

@final
class Run:
    def work(self, progress: Callable[[int], object] | None = ..., /) -> None: ...
    def cancel(self) -> None: ...
    def outcome(self) -> tuple[int, int, int]: ...
    def fail(self, index: Any, status: Any, step: Any, /) -> None: ...
    def failures(self, index: Any, status: Any, step: Any, /) -> None: ...
