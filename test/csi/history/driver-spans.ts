import type { RecordLine } from "../../drivers/lib/record.ts";
import type { Span } from "./spans.ts";

/** What begins a use, and what ends it. */
const uses = [
  { what: "staged", begins: "staged", ends: "unstaged" },
  { what: "published", begins: "published", ends: "unpublished" },
] as const;

export interface Clock {
  /** What to add to microseconds of the monotonic clock for those since the epoch. */
  readonly offsetMicros: number;
}

/** The offset of this machine's clocks, now. */
export function machineClock(): Clock {
  const wall = (performance.timeOrigin + performance.now()) * 1000;
  return { offsetMicros: Math.round(wall - Number(process.hrtime.bigint() / 1000n)) };
}

/**
 * When volumes were staged and published, by what drivers wrote down: from before an effect was begun to after its opposite
 * was done. One that a kill cut off counts as begun, one that failed as begun and over.
 * @param nodeOf the node that a driver's node id stands for
 */
export function driverSpans(
  record: readonly RecordLine[],
  { offsetMicros }: Clock,
  nodeOf: (id: string) => string,
): Span[] {
  const open = new Map<string, Span>();
  const closed: Span[] = [];
  for (const { at, node, kind, what: effect, volume = "", detail } of record) {
    const time = Math.round(Number(BigInt(at) / 1000n)) + offsetMicros;
    for (const { what, begins, ends } of uses) {
      const place = `${node} ${volume} ${what} ${(detail as { path?: string } | undefined)?.path ?? ""}`;
      const span = open.get(place);
      if (effect === begins && kind === "begin" && span === undefined) {
        open.set(place, { volume, node: nodeOf(node), what, from: time, to: undefined });
      }
      const isOver = (effect === ends && kind === "end") || (effect === begins && kind === "failed");
      if (!isOver || span === undefined) continue;
      open.delete(place);
      closed.push({ ...span, to: time });
    }
  }
  return [...closed, ...open.values()];
}
