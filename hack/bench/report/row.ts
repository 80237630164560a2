/**
 * What a row's own figure includes. kubelet's figures never include an API server, but where a row says that it is
 * limited.
 */
export type Scope = "in the agent" | "through API server and etcd";

/** One measurement of one side: figures by name. */
export interface Sample {
  readonly [figure: string]: number;
}

/** One figure to print, and what it is called on each side. */
export interface Measure {
  readonly name: string;
  readonly unit: "ms" | "s/min" | "MiB" | "";
  readonly ours: string;
  /** undefined: the other side has no such figure. */
  readonly kubelet?: string;
  /** How many times less than kubelet's it is wanted to be. */
  readonly wanted?: number;
}

/** One line of the table: the figures of all runs, in the order in which they ran. */
export interface Row {
  readonly benchmark: string;
  readonly scenario: string;
  readonly scope: Scope;
  readonly measure: string;
  readonly unit: Measure["unit"];
  readonly wanted?: number;
  readonly ours: readonly number[];
  readonly kubelet: readonly number[];
}

/** PURE. The rows of one scenario from the samples of its runs. What no run has measured has no row. */
export function rowsOf(
  of: Pick<Row, "benchmark" | "scenario" | "scope">,
  measures: readonly Measure[],
  samples: { readonly ours: readonly Sample[]; readonly kubelet: readonly Sample[] },
): Row[] {
  return measures.flatMap(({ name, unit, ours, kubelet, wanted }) => {
    const row: Row = {
      ...of,
      measure: name,
      unit,
      ...(wanted !== undefined && { wanted }),
      ours: samples.ours.flatMap((sample) => sample[ours] ?? []),
      kubelet: kubelet === undefined ? [] : samples.kubelet.flatMap((sample) => sample[kubelet] ?? []),
    };
    return row.ours.length + row.kubelet.length === 0 ? [] : [row];
  });
}
