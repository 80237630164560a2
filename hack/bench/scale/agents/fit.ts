/** A straight line through measured points. */
export interface Fit {
  readonly at0: number;
  readonly perX: number;
  /** 1: all points lie on it. */
  readonly r2: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** PURE. By least squares; undefined of fewer than three points, through which any line would do. */
export function fitOf(points: readonly Point[]): Fit | undefined {
  if (points.length < 3) return undefined;
  const mean = (of: (point: Point) => number) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x0, y0] = [mean(({ x }) => x), mean(({ y }) => y)];
  const sum = (of: (dx: number, dy: number) => number) =>
    points.reduce((total, { x, y }) => total + of(x - x0, y - y0), 0);
  const [xx, xy, yy] = [sum((dx) => dx * dx), sum((dx, dy) => dx * dy), sum((_, dy) => dy * dy)];
  if (xx === 0) return undefined;
  const perX = xy / xx;
  return { at0: y0 - perX * x0, perX, r2: yy === 0 ? 1 : (xy * xy) / (xx * yy) };
}
