"""Types of arguments and results, for the signatures of functions: what ``types.py`` stands for.

A result that may be None (the energy of a system without one) is ``Any`` as well, so that users who
know that it exists need not check.
"""

from collections.abc import Callable as Callable
from collections.abc import Iterator as Iterator
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from os import PathLike as PathLike
from typing import Any as Any
from typing import Concatenate as Concatenate
from typing import Literal as Literal
from typing import Never as Never
from typing import Protocol, TypeAlias
from typing import Self as Self
from typing import SupportsIndex as SupportsIndex

import numpy as np
from matplotlib.animation import FuncAnimation as FuncAnimation
from matplotlib.axes import Axes as Axes
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike
from numpy.typing import NDArray

from ..adaptive.tolerances import Tolerance
from ..analysis.portraits.closed_motions import PeriodicOrbits as PeriodicOrbits
from ..analysis.portraits.equilibrium_branches import EquilibriumBranches as EquilibriumBranches
from ..analysis.portraits.recurrences import Attractors as Attractors
from ..analysis.portraits.recurrences import Basins as Basins
from ..analysis.portraits.resting_points import Equilibria as Equilibria
from ..analysis.portraits.spectral_lines import Frequencies as Frequencies
from ..analysis.portraits.tangent_growth import ChaosMap as ChaosMap
from ..analysis.portraits.tangent_growth import FlowMap as FlowMap
from ..analysis.portraits.tangent_growth import LyapunovExponents as LyapunovExponents
from ..analysis.sections.grid_scan import Passages as Passages
from ..analysis.sections.grid_scan import Scan as Scan
from ..analysis.sections.surface_crossings import Bifurcation as Bifurcation
from ..analysis.sections.surface_crossings import ReturnMap as ReturnMap
from ..analysis.sections.surface_crossings import Section as Section
from ..analysis.side_by_side import Comparison as Comparison
from ..analysis.side_by_side import Comparisons as Comparisons
from ..certificate.certificate import Certificate as Certificate
from ..fitting.fitted_motions import Fit as Fit
from ..laboratory.widget import Lab as Lab
from ..method.method import Method as Method
from ..solution.solution import Solution as Solution
from ..system.definition import SystemDefinition as SystemDefinition
from ..system.n_body import NBody as NBody
from ..system.rigid_body import RigidBody as RigidBody
from ..system.system import System as System
from ..user_system.traced import TracedSystem as TracedSystem
from ..values.table import Table as Table
from ..watching.batch.results import Across as Across
from ..watching.batch.statistics import Statistic as Statistic
from ..watching.event_log import Events as Events
from ..watching.events import Event as Event
from ..watching.reductions import Reduction as Reduction
from ..watching.watched import Watched as Watched

Complexes: TypeAlias = NDArray[np.complex128]
Floats: TypeAlias = NDArray[np.float64]  # or float32, where that is asked for
Strings: TypeAlias = NDArray[np.str_]
MaybeFloats: TypeAlias = NDArray[np.float64] | Any
Integers: TypeAlias = NDArray[np.signedinteger[Any]]
Booleans: TypeAlias = NDArray[np.bool_]
AxesArray: TypeAlias = NDArray[np.object_]  # of Matplotlib's Axes
Labels: TypeAlias = Mapping[Any, str] | Sequence[str]  # in a legend, by method or in order
Methods: TypeAlias = str | Method | Sequence[str | Method]
Systems: TypeAlias = Sequence[System] | Mapping[Any, System]  # of a comparison
ToATolerance: TypeAlias = tuple[str | Method, Tolerance]
Quantity: TypeAlias = str | Callable[..., Any]
Function: TypeAlias = Callable[..., Any]  # a user's
Decorator: TypeAlias = Callable[[Function], TracedSystem]

class OfQuantity(Protocol):
    """A function of ``pi.watch``."""

    def __call__(
        self, quantity: Quantity, *, every: int = 1, after: ArrayLike | None = None
    ) -> Reduction: ...

class OfCondition(Protocol):
    """Another, of a condition."""

    def __call__(
        self, condition: Quantity, *, every: int = 1, after: ArrayLike | None = None
    ) -> Reduction: ...

class AcrossBatch(Protocol):
    """A function of ``pi.across``."""

    def __call__(
        self, quantity: Quantity, *, every: int = 1, by: ArrayLike | None = None
    ) -> Statistic: ...

class KindOfSolution:
    """What a Solution has, and what each kind has in its own way."""

    system: System
    method: Method
    t0: float | Floats
    n_steps: int
    dt: Any  # of steps of one length
    _problem: Any
    _options: Any
    _states: Any
    _last: Any
    _failures: Any
    _alone: Any
    _joined: Any
    _gap: Any
    _same_in_parts: Any

    @property
    def t(self) -> Floats: ...
    @property
    def steps(self) -> Integers: ...
    @property
    def valid(self) -> Booleans: ...
    @property
    def origin(self) -> Floats: ...
    def _watched(self) -> Watched: ...
    @property
    def evaluations(self) -> Any: ...
    def resume(self, *args: Any, **options: Any) -> Self: ...
    @property
    def _origin_time(self) -> Any: ...
    @property
    def _step_lengths(self) -> Any: ...
    @property
    def _clock(self) -> dict[str, Any]: ...
    @property
    def _pace(self) -> str: ...

class HasParameters:
    """What closed forms need of a system."""

    components: Any
    @property
    def name(self) -> Any: ...
    @property
    def dim(self) -> Any: ...
    @property
    def initial(self) -> Any: ...
    @property
    def batch_shapes(self) -> Any: ...
    @property
    def params(self) -> Any: ...
