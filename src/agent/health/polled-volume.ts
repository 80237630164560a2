import { isInvalid } from "../model/desired.ts";
import type { VolumePlan } from "../model/volume-plan.ts";

/** A volume of a driver that can be asked how full it is, and where. */
export interface PolledVolume {
  readonly driver: string;
  readonly volumeID: string;
  /** Where it is published for one target: as of a pod's volume, any of them says the same. */
  readonly volumePath: string;
  readonly stagingPath: string;
  /** The claim that the intent names. */
  readonly claim?: { readonly namespace: string; readonly name: string };
}

/** PURE. Undefined while it is not published, and when it is to go: nothing is asked of what is being taken down. */
export function polledVolume({ phase, desired, actualState }: VolumePlan): PolledVolume | undefined {
  const { record } = actualState.stage;
  if (phase !== "setUp" || desired === undefined || isInvalid(desired) || record?.csi === undefined) return undefined;
  const there = actualState.targets.find(({ published }) => published === "there")?.record?.published;
  if (there === undefined) return undefined;
  const { persistentVolumeClaim: of } = desired.spec.source;
  return {
    driver: record.csi.driver,
    volumeID: record.csi.volumeHandle,
    volumePath: there.path,
    stagingPath: record.path,
    ...(of && { claim: { namespace: of.namespace, name: of.claimName } }),
  };
}

/** PURE. Whether statistics of one volume are valid for the other. */
export function isSamePolled(a: PolledVolume | undefined, b: PolledVolume | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const places: (keyof PolledVolume)[] = ["driver", "volumeID", "volumePath", "stagingPath"];
  return places.every((key) => a[key] === b[key]);
}
