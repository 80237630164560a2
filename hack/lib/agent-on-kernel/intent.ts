import type { IntentMount, NodeVolumeIntent, NodeVolumeIntentSpec } from "../../../src/api/types.gen.ts";
import { parseIntent } from "../../../src/api/validate.ts";

export type IntentInput = Pick<NodeVolumeIntentSpec, "source"> & {
  name?: string;
  mounts: readonly ({ path: string; name?: string; readOnly?: boolean } & Pick<
    IntentMount,
    "mountOptions" | "fsGroup" | "fsGroupChangePolicy" | "seLinuxOptions"
  >)[];
  generation?: number;
  deleting?: boolean;
  uid?: string;
} & Partial<Omit<NodeVolumeIntentSpec, "mounts" | "source">>;

/** An intent as the API server would show it. */
export function intent(input: IntentInput): NodeVolumeIntent {
  const { name = "node.volume-1", mounts, generation = 1, deleting = false, uid = "uid-1", ...spec } = input;
  const requester = { kind: "NodeVolumeSet", name: "set", uid: "set-uid" };
  const object = {
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeIntent",
    metadata: { name, uid, generation, ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    spec: {
      nodeName: "node",
      nodeUID: "node-uid",
      volumeName: "volume",
      mode: "Manage",
      volumeMode: "Filesystem",
      ...(spec.mode === "Observe" ? {} : { grant: { id: "grant-1" } }),
      mounts: mounts.map((mount, index) => ({ name: `set.m${index}`, requester, ...mount })),
      ...spec,
    },
  };
  const parsed = parseIntent(object);
  if (!parsed.ok) throw new Error(parsed.errors.map((error) => `${error.path}: ${error.message}`).join("; "));
  return parsed.value;
}
