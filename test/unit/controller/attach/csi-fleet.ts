import { allowing } from "../../../../hack/lib/allowing.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import type { ApiRequest } from "../../../../src/kube/client/transport.ts";
import { isRecord, recordIn, stringIn } from "../../../../src/kube/json.ts";
import type { FakeObject } from "../../fake-api-objects.ts";
import { refusal } from "../../fake-api-objects.ts";
import type { Fleet } from "../fleet.ts";
import { createFleet } from "../fleet.ts";
import { settledStatus } from "../objects.ts";

export const driver = "disk.example";

/**
 * A fleet whose volumes are a CSI driver's: agents that mount what they are granted, an attacher, and the policies that
 * keep pods from claims that are held. All of them are fakes that do what the real ones are known to.
 */
export interface CSIFleet extends Fleet {
  /** A node with the driver on it. */
  driverNode(name: string, limit?: number): void;
  /** Nodes whose agents keep what they have. */
  readonly stubborn: Set<string>;
  /** What the attacher leaves alone: "attach", "detach" or both. */
  readonly attacher: { paused: Set<string>; error: string; errorCode?: number; metadata: object };
  readonly policy: { installed: boolean };
  attachments(): FakeObject[];
  csiSet(name: string, source: object, more?: object): void;
  /** A claim bound to a PersistentVolume of the driver. */
  claim(name: string, handle: string, more?: object): void;
  pod(name: string, claim: string, more?: object): void;
  /** `status.attach` of the intent on a node, as "reason on". */
  waitReason(node: string): string | undefined;
  granted(): string[];
  /** Lets `ms` pass, with everybody at work. */
  live(ms: number, eachMs?: number): Promise<void>;
}

/** What each claim says of the sets of these stories: their owners allow them. */
export const allowed: { readonly [label: string]: string } = allowing("a", "b", "other", "first");

/** The one that the policy names comes first. */
const closing = ["nodevolume.dev/held", "nodevolume.dev/reserved"];

/** Nodes with the driver, each with the label `role`. */
export function addNodes(fleet: CSIFleet, roles: { readonly [name: string]: string }): void {
  for (const [name, role] of Object.entries(roles)) {
    fleet.driverNode(name);
    fleet.node(name, { labels: { role } });
  }
}

export function createCSIFleet(): CSIFleet {
  const fleet = createFleet();
  const { api } = fleet;
  const stubborn = new Set<string>();
  const attacher: CSIFleet["attacher"] = { paused: new Set(), error: "", metadata: {} };
  const policy = { installed: true };
  const { request } = api;
  api.request = (sent) => (sent.query?.["dryRun"] === undefined ? request(sent) : Promise.resolve(dryRun(sent)));

  /** As the policy of config/policy/claims.yaml. */
  function dryRun({ body, path }: ApiRequest) {
    const namespace = /namespaces\/([^/]+)/.exec(path)?.[1];
    const [named] = api.objects("persistentvolumeclaims").filter(({ metadata }) => {
      return metadata.namespace === namespace && JSON.stringify(body).includes(`"claimName":"${metadata.name}"`);
    });
    const closed = closing.find((one) => Object.hasOwn(named?.metadata.labels ?? {}, one));
    if (policy.installed && closed !== undefined) return refusal(403, "Forbidden", `the claim has the label ${closed}`);
    return { status: 201, body };
  }

  function policies(): void {
    for (const plural of ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]) {
      for (const name of ["nodevolume-claim-marks", "nodevolume-claims", "nodevolume-claims-reserved"]) {
        if (api.object(plural, name) === undefined) api.apply(plural, { metadata: { name } });
      }
    }
  }

  function agentStep(intent: Intent): void {
    const { nodeName, grant } = intent.spec;
    const deleted = intent.metadata.deletionTimestamp !== undefined;
    if (grant === undefined || (deleted && stubborn.has(nodeName))) return;
    const { attach } = intent.status;
    const status = { ...settledStatus(intent), agentState: intent.status.agentState, ...(attach && { attach }) };
    const patch = JSON.parse(JSON.stringify(status)) as object;
    if (JSON.stringify(patch) === JSON.stringify(intent.status)) return;
    api.patch("nodevolumeintents", intent.metadata.name, { status: patch }, "status");
  }

  /** The external-attacher: a finalizer, the driver's word, and the finalizer off again. */
  function attach({ metadata, status }: FakeObject): void {
    const plural = "volumeattachments";
    if (metadata.deletionTimestamp !== undefined) {
      if (!attacher.paused.has("detach")) api.patch(plural, metadata.name, { metadata: { finalizers: null } });
      return;
    }
    if (attacher.paused.has("attach") || (isRecord(status) && status["attached"] === true)) return;
    if (metadata.finalizers === undefined) {
      api.patch(plural, metadata.name, { metadata: { finalizers: [`external-attacher/${driver}`] } });
    }
    const said =
      attacher.error === "" ? {} : { attachError: { message: attacher.error, errorCode: attacher.errorCode } };
    const answer = { attached: attacher.error === "", attachmentMetadata: attacher.metadata, ...said };
    api.patch(plural, metadata.name, { status: answer }, "status");
  }

  const csi: CSIFleet = {
    ...fleet,
    stubborn,
    attacher,
    policy,
    driverNode(name, limit) {
      fleet.node(name);
      fleet.mute.add(name);
      const one = { name: driver, nodeID: `id-${name}`, ...(limit !== undefined && { allocatable: { count: limit } }) };
      api.apply("csinodes", { metadata: { name }, spec: { drivers: [one] } });
    },
    attachments: () => api.objects("volumeattachments"),
    csiSet: (name, source, more = {}) => fleet.set(name, { volume: { source }, ...more }),
    claim(name, handle, more = {}) {
      const metadata = { name, namespace: "apps", labels: { ...allowed } };
      const claim = api.apply("persistentvolumeclaims", {
        metadata,
        spec: { volumeName: `pv-${handle}` },
        status: { phase: "Bound", capacity: { storage: "1Gi" } },
      });
      const claimRef = { namespace: "apps", name, uid: claim.metadata.uid };
      const spec = { csi: { driver, volumeHandle: handle }, accessModes: ["ReadWriteOnce"], claimRef };
      const capacity = { storage: "1Gi" };
      api.apply("persistentvolumes", { metadata: { name: `pv-${handle}` }, spec: { ...spec, capacity, ...more } });
    },
    pod(name, claim, more = {}) {
      const volumes = [{ name: "v", persistentVolumeClaim: { claimName: claim } }];
      api.apply("pods", { metadata: { name, namespace: "apps" }, spec: { volumes }, ...more });
    },
    waitReason(node) {
      const attach = recordIn(fleet.intent(node).status, "attach");
      const on = recordIn(attach, "on");
      return attach && [stringIn(attach, "reason"), stringIn(on, "node") ?? stringIn(on, "name")].join(" ").trim();
    },
    granted: () => fleet.intents().flatMap(({ spec }) => (spec.grant === undefined ? [] : [spec.nodeName])),
    async live(ms, eachMs = 50) {
      policies();
      for (let gone = 0; gone < ms; gone += eachMs) {
        await fleet.run(eachMs);
        for (const intent of fleet.intents()) agentStep(intent);
        for (const one of csi.attachments()) attach(one);
      }
    },
  };
  return csi;
}
