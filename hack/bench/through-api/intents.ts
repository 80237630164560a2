// What the controller would write for a set with one volume on one node: granted, with its finalizer and labels.
import { randomUUID } from "node:crypto";
import { apiVersion, finalizer, label, resource } from "../../../src/api/names.ts";
import { layout } from "../../lib/pretend-node/node.ts";
import type { NodeRef } from "../../lib/pretend-node/object.ts";

/**
 * mem: an emptyDir in memory, which is a tmpfs. local: a directory of the node, which is bound, as a local claim is.
 */
export type Kind = "mem" | "local";

/** Where directories are, on the pretended node, that `local` volumes show. */
export const sources = "/mnt/sources";

export function intentName(round: string, pod: number, volume: number): string {
  return `bench.${round}-pod-${pod}-volume-${volume}`;
}

export function sourceOf(name: string): string {
  return `${sources}/${name}`;
}

export function targetOf(name: string): string {
  return `${layout.prefix}/${name}`;
}

/** The body of a create, as the controller sends it. */
export function intentBody(name: string, kind: Kind, node: NodeRef): object {
  const requester = { kind: "NodeVolumeSet", name: "bench", uid: node.uid };
  const source =
    kind === "mem" ? { emptyDir: { medium: "Memory", sizeLimit: "16Mi" } } : { local: { path: sourceOf(name) } };
  return {
    apiVersion,
    kind: resource.intents.kind,
    metadata: {
      name,
      finalizers: [finalizer.inUse],
      labels: {
        [label.node]: node.name,
        [label.type]: Object.keys(source)[0],
        [label.set]: "bench",
        "set.nodevolume.dev/bench": "",
      },
    },
    spec: {
      nodeName: node.name,
      nodeUID: node.uid,
      volumeName: name,
      mode: "Manage",
      suspend: false,
      source,
      volumeMode: "Filesystem",
      grant: { id: randomUUID() },
      mounts: [{ name: "bench.host", requester, path: targetOf(name), readOnly: false }],
      unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
      deletionPolicy: "Unmount",
      adopt: "Never",
    },
  };
}
