"""Motions as functions of parameters and start for JAX and PyTorch, with their derivatives.

The derivatives are those of the steps made, from the tangents: a value and its whole Jacobian come
from one run, and forward and backward products with it are made in the other package. They cost as
many tangents as there are inputs, backward too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import warn_caller
from ..integration import integrate
from ..run.arguments import checked_system
from ..solving import solve
from ..values.checks import floats, some_of
from ..values.lazily import optional
from ..values.types import Any, ArrayLike, Callable, Sequence, System


class Motion:
    """The states of a motion at times, by its inputs: some parameters, and the start.

    Parameters
    ----------
    system, times, free, options
        As of ``to_jax``.
    """

    def __init__(self, system, times, free, options):
        checked_system(system)
        names = some_of("free", free, system.params, 0)
        if any(system.shapes[name] for name in names) or system.batched:
            raise ValueError("free parameters, and those of the system, must be single numbers")
        self.system, self.names, self.options = system, names, options
        self.times = floats("times", times)
        if self.times.ndim != 1 or not len(self.times):
            raise ValueError(f"times has shape {self.times.shape}: expected (n,)")
        self.run = integrate if "dt" in options else solve
        self.shape = (len(self.times), system.dim)
        self.both(np.empty((0, len(names) + system.dim)))  # an empty batch: checks the options

    def inputs(self, values, start, stack):
        """Both arguments as one array (..., inputs), by a package's `stack`."""
        if not isinstance(values, Mapping) or {*values} != {*self.names}:
            raise ValueError(
                f"parameters must be a dictionary of {', '.join(self.names) or 'nothing'}, got"
                f" {values!r:.80}"
            )
        return stack([values[name] for name in self.names], start)

    def checked(self, start, axes):
        """Check and return the start: an array of so many axes, the last for the components."""
        shape, names = tuple(start.shape), self.system.state_names
        if len(shape) != axes or shape[-1] != len(names):
            raise ValueError(
                f"start has shape {shape}: expected ({len(names)},), as ({', '.join(names)})"
            )
        return start

    def both(self, inputs):
        """States (*batch, n, dim) and their derivatives (*batch, n, dim, inputs)."""
        inputs = np.asarray(inputs, np.float64)
        p = len(self.names)
        system = self.system(**{name: inputs[..., j] for j, name in enumerate(self.names)})
        ends = {} if "t_end" in self.options or "n_steps" in self.options else {
            "t_end": self.times[-1]}  # fmt: skip
        sol = self.run(
            system, inputs[..., p:], times=self.times, on_failure="ignore",
            sensitivity=(*self.names, *self._starts()), **ends, **self.options,
        )  # fmt: skip
        parts = [sol.sensitivity[name][..., np.newaxis] for name in self.names]
        parts += [sol.sensitivity[name] for name in self._starts()]
        y, jacobian = np.moveaxis(sol.y, 0, -2), np.moveaxis(np.concatenate(parts, -1), 0, -3)
        bad = sol.status != 0
        y = np.where(bad[..., np.newaxis, np.newaxis], np.nan, y)
        return y, np.where(bad[..., np.newaxis, np.newaxis, np.newaxis], np.nan, jacobian)

    def _starts(self):
        return ("x0", "v0") if self.system.positions else ("x0",)


def to_jax(
    system: System, times: ArrayLike, free: Sequence[str] = (), **options: Any
) -> Callable[[Any, Any], Any]:
    """A motion as a function for JAX, with derivatives by parameters and start.

    Parameters
    ----------
    system : System
        Its parameters that are not free keep their values.
    times : array_like, shape (n,)
        Of the states.
    free : sequence of str, optional
        The parameters that are inputs: single numbers.
    **options
        Of ``solve``; or of ``integrate``, with `dt` and `t_end`. By default t0 = 0.

    Returns
    -------
    callable
        ``f(parameters, start)``, a dictionary with `free` and an array (dim,), returns the states
        (n, dim); NaN where the motion fails. For ``grad``, ``jacfwd``, ``jacrev``, ``jit`` and
        ``vmap``, which runs a batch in one call. float32 unless JAX has x64 enabled. Second
        derivatives are refused.

    Raises
    ------
    ImportError
        JAX is not installed.
    TypeError, ValueError
        For wrong arguments.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> f = pi.to_jax(pi.systems.pendulum, [1.0, 2.0], ["length"])  # doctest: +SKIP
    >>> jax.grad(lambda p: f(p, [0.5, 0.0])[-1, 0])({"length": 1.0})  # doctest: +SKIP
    """
    motion = Motion(system, times, free, options)
    jax = optional("jax", "to_jax")
    jnp = jax.numpy
    if not jax.config.jax_enable_x64:
        warn_caller(
            "JAX computes in float32 here, and so do the results: for more,"
            ' jax.config.update("jax_enable_x64", True)'
        )
    dtype = jnp.result_type(float)

    @jax.custom_jvp
    def both(inputs):
        shapes = motion.shape, (*motion.shape, inputs.shape[-1])
        return jax.pure_callback(
            lambda inputs: tuple(np.asarray(a, dtype) for a in motion.both(inputs)),
            tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes),
            inputs,
            vmap_method="broadcast_all",
        )

    @both.defjvp
    def refused(primals, tangents):
        raise NotImplementedError("to_jax has first derivatives only, not second ones")

    @jax.custom_jvp
    def states(inputs):
        return both(inputs)[0]

    @states.defjvp
    def along(primals, tangents):
        y, jacobian = both(*primals)
        return y, jacobian @ tangents[0]

    def stack(values, start):
        start = motion.checked(jnp.asarray(start), 1)  # vmap has batches
        if any(jnp.size(value) != 1 for value in values):
            raise ValueError(
                f"{', '.join(motion.names)} must be single numbers: jax.vmap has batches"
            )
        parts = [*(jnp.reshape(value, 1) for value in values), start]
        return jnp.concatenate([part.astype(dtype) for part in parts])

    return lambda parameters, start: states(motion.inputs(parameters, start, stack))


def to_torch(
    system: System, times: ArrayLike, free: Sequence[str] = (), **options: Any
) -> Callable[[Any, Any], Any]:
    """A motion as a function for PyTorch, with derivatives by parameters and start.

    Parameters
    ----------
    system, times, free, **options
        As of ``to_jax``.

    Returns
    -------
    callable
        ``f(parameters, start)``, a dictionary of tensors (*batch) and a tensor (*batch, dim),
        returns the states (*batch, n, dim) in double precision, on the CPU; backward and forward
        (``torch.func.jvp``) derivatives, second ones are refused.

    Raises
    ------
    ImportError
        PyTorch is not installed.
    TypeError, ValueError
        For wrong arguments.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> f = pi.to_torch(pi.systems.pendulum, [1.0, 2.0], ["length"])  # doctest: +SKIP
    >>> f({"length": length}, start).sum().backward()  # doctest: +SKIP
    """
    motion = Motion(system, times, free, options)
    torch: Any = optional("torch", "to_torch")

    class States(torch.autograd.Function):
        @staticmethod
        def forward(inputs):
            return tuple(map(torch.from_numpy, motion.both(inputs.detach().numpy())))

        @staticmethod
        def setup_context(context, inputs, output):
            context.mark_non_differentiable(output[1])
            context.save_for_backward(output[1])
            context.save_for_forward(output[1])

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, slope, _):
            (jacobian,) = context.saved_tensors
            return torch.einsum("...nd,...ndj->...j", slope, jacobian)

        @staticmethod
        def jvp(context, along):
            (jacobian,) = context.saved_tensors
            return torch.einsum("...ndj,...j->...nd", jacobian, along), None

    def stack(values, start):
        start = torch.as_tensor(start, dtype=torch.float64)
        motion.checked(start, max(start.ndim, 1))
        values = [torch.as_tensor(value, dtype=torch.float64) for value in values]
        batch = torch.broadcast_shapes(start.shape[:-1], *(value.shape for value in values))
        rows = [value.expand(batch)[..., None] for value in values]
        return torch.cat([*rows, start.expand(*batch, motion.system.dim)], -1)

    return lambda parameters, start: States.apply(motion.inputs(parameters, start, stack))[0]
