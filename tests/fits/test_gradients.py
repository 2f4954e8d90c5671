"""Motions in JAX and PyTorch: values and derivatives, forward and backward."""

import numpy as np
import pytest

import pyintegrate as pi

TIMES, LENGTH, START = [0.5, 1.0, 2.0], 1.2, [0.5, 0.1]
EXACT = {"rtol": 1e-11, "atol": 1e-12}


def expected():
    """States, and derivatives by the length and by the start."""
    sol = pi.solve(pi.systems.pendulum(length=LENGTH), START, t_end=2.0, times=TIMES,
                   sensitivity=("length", "x0", "v0"), **EXACT)  # fmt: skip
    starts = np.concatenate([sol.sensitivity["x0"], sol.sensitivity["v0"]], axis=-1)
    return sol.y, sol.sensitivity["length"], starts


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_jax_has_the_value_and_both_derivatives(jax):
    f = pi.to_jax(pi.systems.pendulum, TIMES, ["length"], **EXACT)
    inputs = {"length": LENGTH}, jax.numpy.array(START)
    y, by_length, by_start = expected()
    assert np.array_equal(f(*inputs), y)
    assert np.array_equal(jax.jit(f)(*inputs), y)
    for derivative in jax.jacfwd, jax.jacrev:
        own, start = derivative(f, argnums=(0, 1))(*inputs)
        assert np.allclose(own["length"], by_length, rtol=1e-13, atol=1e-15)
        assert np.allclose(start, by_start, rtol=1e-13, atol=1e-15)


def test_a_batch_in_jax_is_one_call(jax, monkeypatch):
    from pyintegrate.fitting import gradients

    calls = []
    solve = gradients.solve
    monkeypatch.setattr(gradients, "solve", lambda *a, **k: calls.append(1) or solve(*a, **k))
    f = pi.to_jax(pi.systems.pendulum, TIMES, ["length"], **EXACT)
    calls.clear()
    slope = jax.grad(lambda length, start: f({"length": length}, start)[-1, 0])
    lengths = np.linspace(1.0, 1.4, 5)
    found = jax.vmap(slope, in_axes=(0, None))(lengths, jax.numpy.array(START))
    assert len(calls) == 1
    assert np.allclose(found[2], expected()[1][-1, 0], rtol=1e-13, atol=0)


def test_jax_refuses_second_derivatives_and_warns_of_single_precision(jax):
    f = pi.to_jax(pi.systems.pendulum, TIMES, ["length"])
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        jax.hessian(lambda length: f({"length": length}, np.array(START))[-1, 0])(LENGTH)
    jax.config.update("jax_enable_x64", False)
    with pytest.warns(UserWarning, match="float32"):
        f = pi.to_jax(pi.systems.pendulum, TIMES, ["length"])
    assert f({"length": LENGTH}, np.array(START)).dtype == np.float32


def test_jax_takes_single_numbers(jax):
    f = pi.to_jax(pi.systems.pendulum, TIMES, ["length"])
    with pytest.raises(ValueError, match=r"length must be single numbers: jax\.vmap has batches"):
        f({"length": jax.numpy.ones(3)}, np.array(START))


def test_a_motion_that_fails_is_nan_in_jax(jax):
    @pi.rhs(dim=1, k=1.0)
    def exploding(t, y, k):
        return k * y[0] * y[0]

    f = pi.to_jax(exploding, [0.5, 2.0], ["k"])
    assert np.isnan(f({"k": 5.0}, np.array([1.0]))).all()


@pytest.mark.filterwarnings("ignore")
def test_torch_passes_its_own_check_of_gradients():
    torch = pytest.importorskip("torch")
    f = pi.to_torch(pi.systems.pendulum, TIMES, ["length"], **EXACT)
    length = torch.tensor([1.0, LENGTH], dtype=torch.float64, requires_grad=True)
    start = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    call = lambda length, start: f({"length": length}, start)  # noqa: E731
    found = call(length, start)
    assert found.shape == (2, 3, 2)
    assert np.array_equal(found[1].detach(), expected()[0])
    assert torch.autograd.gradcheck(call, (length, start), eps=1e-5, atol=1e-6)
    assert torch.autograd.gradcheck(call, (length, start), eps=1e-5, atol=1e-6,
                                    check_forward_ad=True)  # fmt: skip
    (slope,) = torch.autograd.grad((call(length, start) ** 2).sum(), length, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


@pytest.mark.parametrize("package", ["jax", "torch"])
@pytest.mark.filterwarnings("ignore:JAX computes in float32")
def test_a_start_of_another_shape_is_told(package):
    pytest.importorskip(package)
    f = getattr(pi, f"to_{package}")(pi.systems.pendulum, TIMES, ["length"])
    for wrong in (1.0, [1.0, 0.0, 0.0], np.ones((2, 2, 3))):
        with pytest.raises(ValueError, match=r"start has shape .*expected \(2,\), as \(theta, om"):
            f({"length": 1.0}, wrong)
    for wrong in (None, [1.0], {}, {"g": 1.0}):
        with pytest.raises(ValueError, match="parameters must be a dictionary of length, got"):
            f(wrong, START)


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_missing_package_is_told(package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ImportError, match=f"pip install {package}$"):
        getattr(pi, f"to_{package}")(pi.systems.pendulum, TIMES)


@pytest.mark.parametrize(
    ("system", "times", "free", "told"),
    [
        (pi.systems.pendulum, TIMES, ["size"], "size"),
        (pi.systems.pendulum, TIMES, ["x0"], "free must be some of g, length"),
        (pi.systems.pendulum(length=[1.0, 2.0]), TIMES, ["g"], "single numbers"),
        (pi.systems.pendulum, 1.0, ["g"], r"times has shape \(\)"),
    ],
)
def test_wrong_arguments_are_told(system, times, free, told):
    with pytest.raises(ValueError, match=told):
        pi.to_jax(system, times, free)


@pytest.mark.parametrize("make", [pi.to_jax, pi.to_torch])
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rtoll": 1e-9}, "solve takes no rtoll: did you mean rtol"),
        ({"dt": 0.3}, "not a whole number"),
        ({"save": "all"}, "save or times, not both"),
        ({"watch": "energy_drift"}, "sensitivity and watch exclude"),
        ({"t_end": 0.5}, "times must lie between"),
    ],
)
def test_wrong_options_are_told_before_a_function_is_made(make, options, told):
    with pytest.raises((TypeError, ValueError), match=told):
        make(pi.systems.pendulum, TIMES, ["length"], **options)
