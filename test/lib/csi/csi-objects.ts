import { allowing } from "../../../hack/lib/allowing.ts";
import { type ApiClient, type JsonObject, mergePatch } from "../../../hack/lib/api-client.ts";
import { apply, type KubeObject } from "../../../hack/lib/csi/accounts.ts";
import { until } from "../../../hack/lib/until.ts";

const storage = "/apis/storage.k8s.io/v1";
const core = "/api/v1";

interface Claim {
  readonly spec: { readonly volumeName?: string };
  readonly status?: { readonly phase?: string };
}

interface ClaimOptions {
  readonly storageClass: string;
  readonly size?: string;
  readonly accessModes?: readonly string[];
  readonly volumeMode?: "Filesystem" | "Block";
  /** Sets that the claim allows; if not given, the one of its own name. */
  readonly allowed?: readonly string[];
}

/** Objects of Kubernetes' own that tests of CSI make, as a cluster's administrator, and what they wait for. */
export class CSIObjects {
  readonly #admin: ApiClient;

  constructor(admin: ApiClient) {
    this.#admin = admin;
  }

  async csiDriver(name: string, spec: JsonObject = {}): Promise<void> {
    const all = { attachRequired: true, podInfoOnMount: false, fsGroupPolicy: "File", ...spec };
    await this.#apply(`${storage}/csidrivers`, "storage.k8s.io/v1", "CSIDriver", { metadata: { name }, spec: all });
  }

  async storageClass(name: string, provisioner: string, more: JsonObject = {}): Promise<void> {
    const fields = { provisioner, reclaimPolicy: "Delete", volumeBindingMode: "Immediate", allowVolumeExpansion: true };
    await this.#apply(`${storage}/storageclasses`, "storage.k8s.io/v1", "StorageClass", {
      metadata: { name },
      ...fields,
      ...more,
    });
  }

  /** A PV of a volume that the driver already has. */
  async volume(name: string, driver: string, volumeHandle: string, more: JsonObject = {}): Promise<void> {
    const spec = {
      capacity: { storage: "20Mi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver, volumeHandle },
      ...more,
    };
    await this.#apply(`${core}/persistentvolumes`, "v1", "PersistentVolume", { metadata: { name }, spec });
  }

  async claim(name: string, options: ClaimOptions): Promise<void> {
    const { storageClass, size = "20Mi", accessModes = ["ReadWriteOnce"], volumeMode = "Filesystem" } = options;
    const { allowed = [name] } = options;
    const spec = {
      storageClassName: storageClass,
      accessModes,
      volumeMode,
      resources: { requests: { storage: size } },
    };
    const metadata = { name, namespace: "default", labels: allowing(...allowed) };
    await this.#apply(`${core}/namespaces/default/persistentvolumeclaims`, "v1", "PersistentVolumeClaim", {
      metadata,
      spec,
    });
  }

  /** Waits until the claim is bound. @returns its PV */
  async bound(claim: string, ms = 60_000): Promise<KubeObject> {
    let volume: string | undefined;
    await until(`the claim ${claim} to be bound`, ms, async () => {
      const found = (await this.get(`${core}/namespaces/default/persistentvolumeclaims/${claim}`)) as Claim | undefined;
      volume = found?.spec.volumeName;
      return found?.status?.phase === "Bound";
    });
    return (await this.get(`${core}/persistentvolumes/${volume}`)) as unknown as KubeObject;
  }

  /** A VolumeAttachment by hand, of a PV. */
  async attach(name: string, attacher: string, volume: string, nodeName: string): Promise<void> {
    const spec = { attacher, nodeName, source: { persistentVolumeName: volume } };
    await this.#apply(`${storage}/volumeattachments`, "storage.k8s.io/v1", "VolumeAttachment", {
      metadata: { name },
      spec,
    });
  }

  /** Waits until the attacher has answered. @returns the status */
  async attached(name: string, ms = 30_000): Promise<JsonObject> {
    let status: JsonObject = {};
    await until(`the VolumeAttachment ${name} to be attached`, ms, async () => {
      const found = await this.get(`${storage}/volumeattachments/${name}`);
      status = (found?.["status"] as JsonObject | undefined) ?? {};
      return status["attached"] === true;
    });
    return status;
  }

  /** Undefined if there is none. @throws Error with the message of any other failure */
  async get(path: string): Promise<JsonObject | undefined> {
    const { status, body } = await this.#admin.call("GET", path);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${String(body["message"])}`);
    return body;
  }

  async patch(path: string, body: JsonObject): Promise<void> {
    const answer = await this.#admin.call("PATCH", path, { body, contentType: mergePatch });
    if (answer.status !== 200) throw new Error(`PATCH ${path}: ${answer.status} ${String(answer.body["message"])}`);
  }

  /** Deletes an object, and waits until it is gone: its finalizers are others'. */
  async remove(path: string, ms = 60_000): Promise<void> {
    await this.#admin.call("DELETE", path);
    await until(`${path} to be gone`, ms, async () => (await this.get(path)) === undefined);
  }

  async #apply(collection: string, apiVersion: string, kind: string, rest: Omit<KubeObject, "apiVersion" | "kind">) {
    await apply(this.#admin, collection, { apiVersion, kind, ...rest } as KubeObject);
  }
}
