import { podDriver } from "../../api/names.ts";
import type { CSIVolume } from "../../plugins/api/volume-plugin.ts";
import type { Problem } from "../model/actual-volume.ts";

/** PURE. Why a publish waits: the tokens of before are gone with the agent that had them, or have run out. */
export function waitingForToken({ driver }: Pick<CSIVolume, "driver">, path: string): Problem {
  const message =
    `driver ${driver} acts as the pod, and publishes ${path} when kubelet next hands over the pod's tokens, in a minute or two;` +
    ` it must have all that the grant names: see tokenRequests of the CSIDriver ${podDriver}`;
  return { reason: "WaitingForToken", message };
}

/** PURE. Why a call of kubelet comes to nothing: it has not handed over what the driver needs. */
export function tokensLacking(driver: string, audiences: readonly string[]): Problem {
  if (audiences.length === 0) {
    const message = `the pod's tokens from kubelet for driver ${driver} have expired by the clock of this node: correct the clock`;
    return { reason: "WaitingForToken", message };
  }
  const which = audiences.map((audience) => JSON.stringify(audience)).join(", ");
  const message =
    `driver ${driver} acts as the pod, and kubelet has handed over no token for the audience ${which}:` +
    ` list it in tokenRequests of the CSIDriver ${podDriver} (config/components/pod-tokens)`;
  return { reason: "WaitingForToken", message };
}

/** PURE. Why no mount of the node gets a volume of which the driver acts as the pod that uses it. */
export function identityOfNoPod({ driver }: Pick<CSIVolume, "driver">): Problem {
  const message = `driver ${driver} acts as the pod that uses a volume (tokenRequests), and a mount of a node is no pod's: take the mount off the set`;
  return { reason: "PerPodIdentity", message, on: { kind: "CSIDriver", name: driver } };
}
