import { takenBy } from "../resources-of.ts";

/** What the API server has taken between two moments. */
export interface Metered {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Processors that it had in the busiest second. */
  readonly peakCores: number;
  readonly rssMiB: number;
  /** The most memory in this time, as looked at. */
  readonly peakMiB: number;
}

/** Looks at a process several times a second until it is ended. */
export interface Meter {
  end(): Metered;
}

const everyMs = 200;
/** Looks in the time of which the busiest is told. */
const window = 5;

/** @param pid that of the process by now; one that is started again begins at none */
export function meterProcess(pid: () => number): Meter {
  const looks: { at: number; pid: number; cpuSeconds: number; rssMiB: number }[] = [];
  const look = () => {
    const of = pid();
    try {
      const { cpuSeconds, rssMiB } = takenBy(of);
      looks.push({ at: performance.now(), pid: of, cpuSeconds, rssMiB });
    } catch {
      // Between two processes there is none: the next look finds the other one.
    }
  };
  look();
  const timer = setInterval(look, everyMs).unref(); // what fails meanwhile does not end it
  return {
    end() {
      clearInterval(timer);
      look();
      const spans = looks.slice(1).map((after, index) => {
        const before = looks[index] ?? after;
        const from = before.pid === after.pid ? before.cpuSeconds : 0;
        return { seconds: (after.at - before.at) / 1000, cpuSeconds: after.cpuSeconds - from };
      });
      const sum = (of: "seconds" | "cpuSeconds", some = spans) => some.reduce((total, span) => total + span[of], 0);
      const cores = spans.slice(window - 1).map((_, index) => {
        const some = spans.slice(index, index + window);
        return sum("cpuSeconds", some) / sum("seconds", some);
      });
      return {
        seconds: sum("seconds"),
        cpuSeconds: sum("cpuSeconds"),
        peakCores: Math.max(0, ...cores),
        rssMiB: looks.at(-1)?.rssMiB ?? Number.NaN,
        peakMiB: Math.max(0, ...looks.map(({ rssMiB }) => rssMiB)),
      };
    },
  };
}
