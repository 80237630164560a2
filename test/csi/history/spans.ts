/** A time during which something was so, in microseconds since the epoch. All clocks are those of one machine. */
export interface Span {
  /** The driver's name of the volume. */
  readonly volume: string;
  readonly node: string;
  readonly what: "attachment" | "staged" | "published";
  readonly from: number;
  /** Undefined: it was still so when the recording ended. */
  readonly to: number | undefined;
}

/** Something that must never have been. */
export interface Breach {
  readonly rule:
    | "used beside an attachment elsewhere"
    | "used on two nodes"
    | "used without an attachment"
    | "left over";
  readonly message: string;
}

/**
 * What a history of a volume that one node may have at a time must not show. Knows nothing of the product: attachments
 * are what the API server's audit log has, uses what the driver wrote down of its own effects.
 *
 *   attachment A  ├──────────────────┤
 *   staged     A      ├─────────┤
 *   attachment B                        ├────────────…
 *   staged     B                           ├───────┤
 */
export function breachesOf(spans: readonly Span[]): Breach[] {
  const breaches: Breach[] = [];
  for (const ofVolume of Map.groupBy(spans, ({ volume }) => volume).values()) {
    const attachments = ofVolume.filter(({ what }) => what === "attachment");
    const uses = ofVolume.filter(({ what }) => what !== "attachment");
    for (const use of uses) {
      const elsewhere = attachments.filter(({ node }) => node !== use.node).find((span) => overlap(span, use));
      if (elsewhere !== undefined) breaches.push(breach("used beside an attachment elsewhere", use, elsewhere));
      const other = uses.find((span) => span.node > use.node && overlap(span, use));
      if (other !== undefined) breaches.push(breach("used on two nodes", use, other));
      const own = attachments.filter(({ node }) => node === use.node);
      if (!own.some((span) => covers(span, use))) breaches.push(breach("used without an attachment", use));
    }
    for (const span of ofVolume) if (span.to === undefined) breaches.push(breach("left over", span));
  }
  return breaches;
}

const end = ({ to }: Span) => to ?? Number.POSITIVE_INFINITY;
const overlap = (a: Span, b: Span) => a.from < end(b) && b.from < end(a);
const covers = (outer: Span, inner: Span) => outer.from <= inner.from && end(outer) >= end(inner);

function breach(rule: Breach["rule"], ...spans: Span[]): Breach {
  return { rule, message: `${rule}: ${spans.map(describe).join("; ")}` };
}

function describe({ volume, node, what, from, to }: Span): string {
  return `${volume} ${what} on ${node} from ${time(from)} ${to === undefined ? "on" : `to ${time(to)}`}`;
}

function time(micros: number): string {
  return `${new Date(Math.floor(micros / 1000)).toISOString().slice(11, 23)}${String(micros % 1000).padStart(3, "0")}`;
}
