import { volumes as all } from "../../../../hack/lib/page/cluster.ts";
import type { Volume } from "../../../../hack/lib/page/objects.ts";

export { rawIntent, rawLease, rawNode, rawSet, rawState, waitingStatus } from "../../../../hack/lib/page/objects.ts";

const [first, second] = all;
if (first === undefined || second === undefined) throw new Error("there are volumes");

/** Two of the cluster's: datasets and scratch. */
export const volumes: readonly [Volume, Volume] = [first, second];
