// The part of a kubelet that makes a driver known to the control plane. A fake: nobody mounts for pods here.
import { credentials } from "@grpc/grpc-js";
import { NodeClient, type NodeGetInfoResponse } from "../../../src/csi/gen/csi.gen.ts";
import { type ApiClient, mergePatch } from "../api-client.ts";
import type { NodeRef } from "../pretend-node/object.ts";
import { apply } from "./accounts.ts";

const annotation = "csi.volume.kubernetes.io/nodeid";

interface Known {
  readonly nodeID: string;
  /** 0: the driver sets no limit. */
  readonly limit: number;
}

/**
 * Writes what a kubelet writes: CSINode, the Node's annotation of node ids, and volumesInUse for pods that only exist
 * as objects.
 */
export class FakeKubelet {
  readonly #admin: ApiClient;
  readonly #node: NodeRef;
  readonly #drivers = new Map<string, Known>();

  constructor(admin: ApiClient, node: NodeRef) {
    this.#admin = admin;
    this.#node = node;
  }

  /** Asks the driver who it is on this node, and publishes it. @param socket as this process has to name it */
  async registered(driver: string, socket: string): Promise<void> {
    const { nodeId, maxVolumesPerNode } = await infoOf(socket);
    this.#drivers.set(driver, { nodeID: nodeId, limit: Number(maxVolumesPerNode) });
    await this.#publish();
  }

  async unregistered(driver: string): Promise<void> {
    this.#drivers.delete(driver);
    await this.#publish();
  }

  /** What the attach/detach controller waits for before it detaches a volume of a pod. */
  async reportInUse(volumes: readonly string[]): Promise<void> {
    const path = `/api/v1/nodes/${this.#node.name}/status`;
    await this.#admin.call("PATCH", path, { contentType: mergePatch, body: { status: { volumesInUse: volumes } } });
  }

  async #publish(): Promise<void> {
    const { name, uid } = this.#node;
    const drivers = [...this.#drivers].map(([driver, { nodeID, limit }]) => ({
      name: driver,
      nodeID,
      topologyKeys: [],
      ...(limit > 0 ? { allocatable: { count: limit } } : {}),
    }));
    await apply(this.#admin, "/apis/storage.k8s.io/v1/csinodes", {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSINode",
      metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
      spec: { drivers },
    });
    const ids = Object.fromEntries([...this.#drivers].map(([driver, { nodeID }]) => [driver, nodeID]));
    const annotations = { [annotation]: JSON.stringify(ids) };
    const body = { metadata: { annotations } };
    await this.#admin.call("PATCH", `/api/v1/nodes/${name}`, { contentType: mergePatch, body });
  }
}

async function infoOf(socket: string): Promise<NodeGetInfoResponse> {
  const client = new NodeClient(`unix:${socket}`, credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) => {
      client.nodeGetInfo({}, (error: Error | null, info: NodeGetInfoResponse) =>
        error ? reject(error) : resolve(info),
      );
    });
  } finally {
    client.close();
  }
}
