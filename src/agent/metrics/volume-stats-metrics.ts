import { Gauge, type Registry } from "prom-client";
import type { VolumeUsage } from "../../csi/ports.ts";
import type { Polled } from "../health/volume-stats.ts";
import type { VolumeName } from "../model/identities.ts";

type Field = Exclude<keyof VolumeUsage, "unit">;

const gauges: readonly { readonly name: string; readonly unit: VolumeUsage["unit"]; readonly field: Field }[] = [
  { name: "capacity_bytes", unit: "BYTES", field: "total" },
  { name: "available_bytes", unit: "BYTES", field: "available" },
  { name: "used_bytes", unit: "BYTES", field: "used" },
  { name: "inodes", unit: "INODES", field: "total" },
  { name: "inodes_free", unit: "INODES", field: "available" },
  { name: "inodes_used", unit: "INODES", field: "used" },
];

/**
 * Usage of CSI volumes, from the driver's last NodeGetVolumeStats reply. Volumes with a PVC have kubelet's metric names
 * and labels; others have ours, by intent. The series of a volume end with it.
 */
export function registerVolumeStatsMetrics(registry: Registry, polled: () => ReadonlyMap<VolumeName, Polled>): void {
  for (const { name, unit, field } of gauges) {
    const what = `${unit === "BYTES" ? "Bytes" : "Inodes"}: ${field}, as the CSI driver reports it.`;
    both(registry, { name, help: what, polled }, ({ stats }) => {
      const found = stats?.usage.find((usage) => usage.unit === unit)?.[field];
      return found === undefined ? undefined : Number(found);
    });
  }
  const help = "1 where the CSI driver reports a fault of the volume.";
  both(registry, { name: "health_status_abnormal", help, polled }, ({ stats }) =>
    stats?.condition === undefined ? undefined : Number(stats.condition.abnormal),
  );
}

interface Measured {
  readonly name: string;
  readonly help: string;
  readonly polled: () => ReadonlyMap<VolumeName, Polled>;
}

/** @param value undefined: nothing is known */
function both(
  registry: Registry,
  { name, help, polled }: Measured,
  value: (polled: Polled) => number | undefined,
): void {
  const registers = [registry];
  const values = () =>
    [...polled()].flatMap(([intent, one]) => {
      const found = value(one);
      return found === undefined ? [] : [{ intent, claim: one.volume.claim, found }];
    });
  new Gauge({
    name: `kubelet_volume_stats_${name}`,
    help,
    labelNames: ["namespace", "persistentvolumeclaim"],
    registers,
    collect() {
      this.reset();
      for (const { claim, found } of values()) {
        if (claim !== undefined) this.set({ namespace: claim.namespace, persistentvolumeclaim: claim.name }, found);
      }
    },
  });
  new Gauge({
    name: `nodevolume_volume_stats_${name}`,
    help,
    labelNames: ["intent"],
    registers,
    collect() {
      this.reset();
      for (const { intent, claim, found } of values()) if (claim === undefined) this.set({ intent }, found);
    },
  });
}
