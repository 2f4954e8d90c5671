"""Numbers of methods as a reader wants them: fractions where they are, digits where not."""

from fractions import Fraction

LARGEST = 10**7  # denominators up to here are fractions: a longer one is an irrational number


def shown(value):
    """HTML of a coefficient."""
    value = Fraction(value)
    if value.denominator == 1:
        return f"{value.numerator}".replace("-", "−")
    if value.denominator <= LARGEST:
        sign = "−" if value < 0 else ""
        return f"{sign}{abs(value.numerator)}/{value.denominator}"
    return f"{float(value):.10g}".replace("-", "−")


def tableau(A, b, c, more=()):
    """HTML of a Butcher table: c on the left, b below; `more` are further rows (name, weights)."""
    rows = []
    for node, row in zip(c, A, strict=True):
        cells = "".join(f"<td>{shown(v) if v else ''}</td>" for v in row)
        rows.append(f"<tr><th scope='row'>{shown(node)}</th>{cells}</tr>")
    for label, weights in [*([("b", b)] if b else []), *more]:
        cells = "".join(f"<td>{shown(v) if v else ''}</td>" for v in weights)
        rows.append(f"<tr class='weights'><th scope='row'><i>{label}</i></th>{cells}</tr>")
    return f'<div class="wide"><table class="butcher"><tbody>{"".join(rows)}</tbody></table></div>'


def columns(names, *values):
    """HTML of columns of coefficients, a line for each."""
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("", *names))
    lines = "".join(
        f"<tr><th scope='row'>{i}</th>" + "".join(f"<td>{shown(v)}</td>" for v in row) + "</tr>"
        for i, row in enumerate(zip(*values, strict=True), 1)
    )
    table = f"<table class='butcher'><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="wide">{table}</div>'
