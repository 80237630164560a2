/** A CSIDriver as the API server has it. */
export interface CSIDriverObject {
  readonly spec?: object | undefined;
}

/** The fields of a CSIDriver (storage.k8s.io/v1) that decide how kubelet calls a driver. */
interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly fsGroupPolicy?: string;
  readonly volumeLifecycleModes?: readonly string[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly tokenRequests?: readonly unknown[];
  readonly serviceAccountTokenInSecrets?: boolean;
}

/**
 * PURE. What is wrong with our own CSIDriver object; empty if kubelet calls us as it must (safety rule 18): with the
 * pod's identity, for inline volumes only, and without applying the fsGroup of one pod to a shared volume.
 * tokenRequests are the administrator's choice: they add tokens of pods for the drivers behind ours, and need periodic
 * calls because tokens expire (config/components/pod-tokens, decision 0041).
 */
export function wrongFields(object: CSIDriverObject): string[] {
  const spec = (object.spec ?? {}) as CSIDriverSpec; // of a typed, built-in resource
  return [
    spec.attachRequired !== false && "attachRequired must be false",
    spec.podInfoOnMount !== true && "podInfoOnMount must be true",
    spec.fsGroupPolicy !== "None" && "fsGroupPolicy must be None",
    spec.volumeLifecycleModes?.join() !== "Ephemeral" && "volumeLifecycleModes must be [Ephemeral]",
    spec.requiresRepublish === true && !hasTokens(spec) && "requiresRepublish must be false without tokenRequests",
    spec.requiresRepublish !== true && hasTokens(spec) && "requiresRepublish must be true with tokenRequests",
    spec.seLinuxMount === true && "seLinuxMount must be false",
  ].filter((problem) => problem !== false);
}

/** PURE. Whether kubelet writes tokens of pods into the volume context, over what a pod wrote there (behaviour 109). */
export function tokensStandInContext(object: CSIDriverObject | undefined): boolean {
  const spec = (object?.spec ?? {}) as CSIDriverSpec;
  return hasTokens(spec) && spec.serviceAccountTokenInSecrets !== true;
}

function hasTokens({ tokenRequests = [] }: CSIDriverSpec): boolean {
  return tokenRequests.length > 0;
}
