import { Gauge, type Registry } from "prom-client";

/** One series of a metric. */
export interface Sample {
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

/** Registers a gauge that is computed when somebody asks. Samples with the same labels are added up. */
export function sampledGauge(
  registry: Registry,
  metric: { readonly name: string; readonly help: string; readonly labelNames?: string[] },
  samples: () => Iterable<Sample>,
): void {
  new Gauge({
    ...metric,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of samples()) this.inc(labels, value);
    },
  });
}
