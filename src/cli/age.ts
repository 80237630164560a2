const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** PURE. A length of time as kubectl shows ages: two units where the larger one alone would say little. */
export function duration(ms: number): string {
  if (ms < 0) return "0s";
  const whole = (unit: number) => Math.floor(ms / unit);
  const and = (large: number, name: string, small: number, smaller: string) => {
    const rest = Math.floor((ms % large) / small);
    return rest === 0 ? `${whole(large)}${name}` : `${whole(large)}${name}${rest}${smaller}`;
  };
  if (ms < 2 * minute) return `${whole(second)}s`;
  if (ms < 10 * minute) return and(minute, "m", second, "s");
  if (ms < 3 * hour) return `${whole(minute)}m`;
  if (ms < 8 * hour) return and(hour, "h", minute, "m");
  if (ms < 2 * day) return `${whole(hour)}h`;
  if (ms < 8 * day) return and(day, "d", hour, "h");
  return `${whole(day)}d`;
}

/** PURE. How long ago that was, or "" for what is no time. @param now milliseconds since the epoch */
export function age(time: string | undefined, now: number): string {
  const at = Date.parse(time ?? "");
  return Number.isNaN(at) ? "" : duration(now - at);
}
