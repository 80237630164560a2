// Volumes of the host-path driver, made before anything is measured; the same on either side.
import { credentials } from "@grpc/grpc-js";
import { allowing } from "../../lib/allowing.ts";
import type { ApiClient } from "../../lib/api-client.ts";
import { apply } from "../../lib/csi/accounts.ts";
import {
  ControllerClient,
  CreateVolumeRequest,
  type CreateVolumeResponse,
  VolumeCapability_AccessMode_Mode,
} from "../../lib/csi/gen/csi.gen.ts";
import { until } from "../../lib/until.ts";

export const driverName = "hostpath.csi.k8s.io";
export const namespace = "default";
export const storageClass = "nodevolume-bench";

const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
/** Milliseconds for all claims of a run to be bound. */
const patience = 240_000;

export async function makeStorageClass(admin: ApiClient): Promise<void> {
  await apply(admin, "/apis/storage.k8s.io/v1/storageclasses", {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: storageClass },
    provisioner: driverName,
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
}

/** Makes the claims, and waits until each has its volume. @param labels of each, beside what Kubernetes knows of */
export async function makeClaims(
  admin: ApiClient,
  names: readonly string[],
  labels: { readonly [key: string]: string } = {},
): Promise<void> {
  const spec = {
    storageClassName: storageClass,
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Mi" } },
  };
  for (const name of names) {
    // The set that uses it has its name.
    const metadata = { name, namespace, labels: { ...labels, ...allowing(name) } };
    const object = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec };
    await apply(admin, claims, object);
  }
  await until(`${names.length} claims to be bound`, patience, async () => {
    const { body } = await admin.call("GET", claims);
    const items = body["items"] as { metadata: { name: string }; status?: { phase?: string } }[];
    const bound = new Set(items.filter(({ status }) => status?.phase === "Bound").map(({ metadata }) => metadata.name));
    return names.every((name) => bound.has(name));
  });
}

/** Deletes claims, and waits until they are gone: their finalizers are others'. */
export async function removeClaims(admin: ApiClient, names: readonly string[]): Promise<void> {
  for (const name of names) await admin.call("DELETE", `${claims}/${name}`);
  await until(`${names.length} claims to be gone`, patience, async () => {
    const { body } = await admin.call("GET", claims);
    const items = body["items"] as { metadata: { name: string } }[];
    return !items.some(({ metadata }) => names.includes(metadata.name));
  });
}

/** Has the driver make volumes that no PersistentVolume names. @param socket of the driver @returns their handles */
export async function makeVolumes(socket: string, names: readonly string[]): Promise<string[]> {
  const client = new ControllerClient(`unix:${socket}`, credentials.createInsecure());
  try {
    const handles: string[] = [];
    for (const name of names) handles.push(await makeVolume(client, name));
    return handles;
  } finally {
    client.close();
  }
}

function makeVolume(client: ControllerClient, name: string): Promise<string> {
  const capability = {
    mount: { fsType: "", mountFlags: [], volumeMountGroup: "" },
    accessMode: { mode: VolumeCapability_AccessMode_Mode.SINGLE_NODE_WRITER },
  };
  const request = CreateVolumeRequest.fromPartial({
    name,
    capacityRange: { requiredBytes: "1048576" },
    volumeCapabilities: [capability],
  });
  return new Promise((resolve, reject) => {
    client.createVolume(request, (error: Error | null, { volume }: CreateVolumeResponse) => {
      if (error === null && volume !== undefined) resolve(volume.volumeId);
      else reject(error ?? new Error(`the driver made no volume ${name}`));
    });
  });
}
