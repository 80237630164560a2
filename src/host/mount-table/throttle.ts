import type { Cancel, System } from "../../ports.ts";

/**
 * Calls at once, and then again after a while if it was called meanwhile.
 * @param spacing asked at each call: milliseconds until the next one, 0 for none
 */
export function throttle(
  { timers }: Pick<System, "timers">,
  spacing: () => number,
  action: () => void,
): { call(): void; cancel: Cancel } {
  let resting: Cancel | undefined;
  let again = false;
  const call = () => {
    again = resting !== undefined;
    if (again) return;
    const ms = spacing();
    if (ms > 0) resting = timers.after(ms, rested);
    action();
  };
  const rested = () => {
    resting = undefined;
    if (again) call();
  };
  return { call, cancel: () => resting?.() };
}
