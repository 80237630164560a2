// When a watch first showed each step of a volume.

/** In the order of a volume's life. */
export const comingSteps = ["written", "intent", "attachment", "attached", "granted", "ready"] as const;
export const goingSteps = ["deleted", "revoked", "released", "detaching", "detached", "gone"] as const;

export type Coming = (typeof comingSteps)[number];
type Going = (typeof goingSteps)[number];
export type Step = Coming | Going;

/** By performance.now(). */
export type Timeline = { readonly [step in Step]?: number };

/**
 * PURE. Milliseconds of each step since the one before it, as `coming.intent` and so on; what was not seen is left out.
 */
export function stepsOf(name: string, steps: readonly Step[], timeline: Timeline): { [figure: string]: number } {
  const figures: { [figure: string]: number } = {};
  for (const [index, step] of steps.entries()) {
    const [before, at] = [timeline[steps[index - 1] ?? step], timeline[step]];
    if (index > 0 && before !== undefined && at !== undefined) figures[`${name}.${step}`] = at - before;
  }
  return figures;
}

/** PURE. Milliseconds from one step to another. @throws Error if one of them was not seen, or the second one earlier */
export function between(timeline: Timeline, from: Step, to: Step): number {
  const [begin, end] = [timeline[from], timeline[to]];
  if (begin === undefined || end === undefined) throw new Error(`not seen: ${begin === undefined ? from : to}`);
  if (end < begin) throw new Error(`${to} was seen before ${from}: that was of an earlier time`);
  return end - begin;
}
