import type { PlanSettings } from "../../../src/agent/model/plan-input.ts";

export const settings: PlanSettings = {
  allowedPrefixes: ["/mnt/nodevolume"],
  stateDir: "/var/lib/nodevolume",
  hostRoot: "/",
  csiDir: "/var/lib/kubelet/plugins/nodevolume.dev",
};

export const prefix = "/mnt/nodevolume";

/** Where targets are. The second lies beneath the first; the last is where nothing may be mounted. */
export const paths = [`${prefix}/a`, `${prefix}/a/deep`, `${prefix}/b`, `${prefix}/c`, "/elsewhere/x"] as const;

export function pathAt(index: number): string {
  const path = paths[index];
  if (path === undefined) throw new RangeError(`there is no path ${index}`);
  return path;
}

/** Whether one of two paths is the other, or lies beneath it. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
