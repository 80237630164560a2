import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { parseIntent } from "../../../src/api/validate.ts";

/** mem: an emptyDir in memory, which is a tmpfs. local: a directory of the node, which is a bind. */
export type Kind = "mem" | "local";

export interface PodsOf {
  readonly pods: number;
  /** Volumes of each pod: each is an intent with one mount. */
  readonly volumes: number;
  readonly kind: Kind;
}

export interface Place {
  /** Beneath which targets are. */
  readonly prefix: string;
  /** Beneath which directories are that `local` volumes show. */
  readonly sources: string;
}

export const nodeName = "bench-node";

function intentName(pod: number, volume: number): string {
  return `${nodeName}.pod-${pod}-volume-${volume}`;
}

/** The names of one pod's intents. */
export function namesOf({ volumes }: Pick<PodsOf, "volumes">, pod: number): string[] {
  return Array.from({ length: volumes }, (_, volume) => intentName(pod, volume));
}

export function targetOf({ prefix }: Pick<Place, "prefix">, name: string): string {
  return `${prefix}/${name.slice(nodeName.length + 1)}`;
}

export function sourceOf({ sources }: Pick<Place, "sources">, name: string): string {
  return `${sources}/${name.slice(nodeName.length + 1)}`;
}

/** An intent as the API server shows it, granted and with its defaults. */
export function intentOf(name: string, kind: Kind, place: Place): NodeVolumeIntent {
  const requester = { kind: "NodeVolumeSet", name: "bench", uid: "6b0c6b5e-0000-4000-8000-000000000000" };
  const source =
    kind === "mem"
      ? { emptyDir: { medium: "Memory" } }
      : { hostPath: { path: sourceOf(place, name), type: "Directory" } };
  const parsed = parseIntent({
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeIntent",
    metadata: {
      name,
      uid: `uid-of-${name}`,
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      finalizers: ["nodevolume.dev/in-use"],
      labels: { "nodevolume.dev/node": nodeName, "nodevolume.dev/set": "bench" },
    },
    spec: {
      nodeName,
      nodeUID: "5f0c6b5e-0000-4000-8000-000000000000",
      volumeName: "bench",
      mode: "Manage",
      volumeMode: "Filesystem",
      source,
      grant: { id: "grant-1" },
      mounts: [{ name: "bench.data", requester, path: targetOf(place, name) }],
    },
  });
  if (!parsed.ok) throw new Error(parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("; "));
  return parsed.value;
}
