// A rigid body as a box, seen from the front, a little from the right and from above.
const [TURN, RISE] = [0.5, 0.35];
const [cosT, sinT, cosR, sinR] = [Math.cos(TURN), Math.sin(TURN), Math.cos(RISE), Math.sin(RISE)];
const VIEWER = [sinT * cosR, -cosT * cosR, sinR]; // the direction from which one looks

/** A place in space as one in the picture, y upwards. */
export const seen = ([x, y, z]) => [x * cosT + y * sinT, z * cosR + (y * cosT - x * sinT) * sinR];

/** x and z of a place in the picture, of a y that is known. */
export function unseen([across, up], y) {
  const x = (across - y * sinT) / cosT;
  return [x, (up - (y * cosT - x * sinT) * sinR) / cosR];
}

/** The axes of a body in space, by its quaternion of any length but zero. */
function axesOf(y) {
  const size = Math.hypot(y[3], y[4], y[5], y[6]);
  const [w, a, b, c] = [y[3] / size, y[4] / size, y[5] / size, y[6] / size];
  return [
    [1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)],
    [2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)],
    [2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)],
  ];
}

/** Half the edges of a homogeneous box with these moments of inertia, the longest 1; a cube where
 * there is none. */
export function halfLengths(inverse) {
  const moments = [0, 1, 2].map((k) => 1 / inverse[k][k]);
  if (!moments.every((I) => I > 0 && Number.isFinite(I))) return [1, 1, 1];
  const sum = moments[0] + moments[1] + moments[2];
  const squares = moments.map((I) => sum - 2 * I);
  const most = Math.max(...squares);
  return most > 0 ? squares.map((s) => Math.sqrt(Math.max(s, 0.01 * most) / most)) : [1, 1, 1];
}

/** The faces that are towards the viewer, the more so the brighter. */
export function drawBox(c, y, params, size, place, look, isGhost) {
  const axes = axesOf(y);
  const half = halfLengths(params.inverse_inertia).map((length) => length * size);
  const corner = (signs) => place(seen([0, 1, 2].map((d) =>
    y[d] + signs[0] * half[0] * axes[0][d] + signs[1] * half[1] * axes[1][d] + signs[2] * half[2] * axes[2][d])));
  c.strokeStyle = isGhost ? look.ghost : look.card;
  c.fillStyle = isGhost ? look.ghost : look.colour;
  c.lineWidth = isGhost ? 2 : 1.2;
  for (let k = 0; k < 3; k++) {
    const towards = axes[k][0] * VIEWER[0] + axes[k][1] * VIEWER[1] + axes[k][2] * VIEWER[2];
    const side = towards < 0 ? -1 : 1;
    const around = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([p, q]) => {
      const signs = [0, 0, 0];
      [signs[k], signs[(k + 1) % 3], signs[(k + 2) % 3]] = [side, p, q];
      return corner(signs);
    });
    c.beginPath();
    around.forEach(([px, py], n) => (n ? c.lineTo(px, py) : c.moveTo(px, py)));
    c.closePath();
    c.globalAlpha = isGhost ? 0.35 : 1;
    c.fill();
    c.globalAlpha = isGhost ? 1 : 0.5 * (1 - Math.abs(towards));
    if (!isGhost) { // shade: the ground shines through what is seen from the side
      c.fillStyle = look.ink;
      c.fill();
      c.fillStyle = look.colour;
      c.globalAlpha = 1;
    }
    c.stroke();
  }
}
