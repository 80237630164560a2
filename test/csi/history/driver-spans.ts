import type { RecordLine } from "../../drivers/lib/record.ts";
import type { Span } from "./spans.ts";

/** What begins a use, and what ends it; `call` is asked for the end, by the field of the path. */
const uses = [
  { what: "staged", begins: "staged", ends: "unstaged", call: "NodeUnstageVolume", field: "stagingTargetPath" },
  { what: "published", begins: "published", ends: "unpublished", call: "NodeUnpublishVolume", field: "targetPath" },
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
 * When volumes were staged and published, by what drivers wrote down: from before an effect was begun to after its
 * opposite was done. One that a kill cut off counts as begun, one that failed as begun and over. Where a kill cut off
 * the opposite, the use is over when the next driver has looked and says that nothing is left: an answer without an
 * effect, and not made up.
 * @param nodeOf the node that a driver's node id stands for
 */
export function driverSpans(
  record: readonly RecordLine[],
  { offsetMicros }: Clock,
  nodeOf: (id: string) => string,
): Span[] {
  const open = new Map<string, Span>();
  const closed: Span[] = [];
  /** Paths of calls under way that nothing was told to falsify, by process and number. */
  const asked = new Map<string, string>();
  for (const { at, pid, call: number, node, kind, what: effect, volume = "", detail } of record) {
    const time = Math.round(Number(BigInt(at) / 1000n)) + offsetMicros;
    const caller = `${pid} ${number}`;
    if (kind === "fault") asked.delete(caller);
    for (const { what, begins, ends, call, field } of uses) {
      if (kind === "call" && effect === call) asked.set(caller, textIn(detail, field));
      const answered = kind === "reply" && effect === call && detail === undefined ? asked.get(caller) : undefined;
      const place = `${node} ${volume} ${what} ${answered ?? textIn(detail, "path")}`;
      const span = open.get(place);
      if (effect === begins && kind === "begin" && span === undefined) {
        open.set(place, { volume, node: nodeOf(node), what, from: time, to: undefined });
      }
      const isOver = (effect === ends && kind === "end") || (effect === begins && kind === "failed");
      if ((!isOver && answered === undefined) || span === undefined) continue;
      open.delete(place);
      closed.push({ ...span, to: time });
    }
  }
  return [...closed, ...open.values()];
}

function textIn(detail: object | undefined, field: string): string {
  const value = (detail as { [name: string]: unknown } | undefined)?.[field];
  return typeof value === "string" ? value : "";
}
