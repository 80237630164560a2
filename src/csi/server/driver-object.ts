import { podDriver } from "../../api/names.ts";

/** Of a CSIDriver (storage.k8s.io/v1), what says how kubelet calls a driver. */
interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly fsGroupPolicy?: string;
  readonly volumeLifecycleModes?: readonly string[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly tokenRequests?: readonly unknown[];
}

const remedy = "apply config/default again; fields that cannot be changed need the object deleted before";

/**
 * PURE. What is wrong with our own CSIDriver object; undefined if kubelet calls us as it must (safety rule 18): with a pod's identity,
 * for inline volumes alone, and without giving a shared volume's files to the group of one pod.
 * @param object as the API server has it; undefined if there is none
 */
export function driverObjectProblem(object: { readonly spec?: object } | undefined): string | undefined {
  if (object === undefined) return `there is no CSIDriver ${podDriver}: ${remedy}`;
  const spec = (object.spec ?? {}) as CSIDriverSpec; // of a typed, built-in resource
  const wrong = [
    spec.attachRequired !== false && "attachRequired must be false",
    spec.podInfoOnMount !== true && "podInfoOnMount must be true",
    spec.fsGroupPolicy !== "None" && "fsGroupPolicy must be None",
    spec.volumeLifecycleModes?.join() !== "Ephemeral" && "volumeLifecycleModes must be [Ephemeral]",
    spec.requiresRepublish === true && "requiresRepublish must be false",
    spec.seLinuxMount === true && "seLinuxMount must be false",
    (spec.tokenRequests ?? []).length > 0 && "tokenRequests must be empty",
  ].filter((problem) => problem !== false);
  return wrong.length === 0 ? undefined : `the CSIDriver ${podDriver} is changed: ${wrong.join(", ")}; ${remedy}`;
}
