import { annotation, finalizer, resource } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { Change } from "../api/collection.ts";
import { isJson, type StoredObject } from "../api/json.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";
import type { Report } from "./violation.ts";

/**
 * The finalizer of an intent goes only after the acknowledgement, or with a proof that has a name (safety rules 3, 9,
 * 23).
 */
export class ReleaseRules {
  readonly #server: () => SimApiServer;
  readonly #report: Report;

  constructor(server: () => SimApiServer, report: Report) {
    this.#server = server;
    this.#report = report;
  }

  changed({ before, object, type }: Change, actor: string): void {
    if (before === undefined || actor === "person") return;
    const had = before.metadata.finalizers?.includes(finalizer.inUse) === true;
    const has = type !== "DELETED" && object.metadata.finalizers?.includes(finalizer.inUse) === true;
    if (!had || has) return;
    const intent = before as unknown as NodeVolumeIntent; // the collection holds nothing else
    if (intent.spec.grant === undefined || isAcknowledged(intent) || this.#hasProof(intent)) return;
    this.#report(`${actor} let ${intent.metadata.name} go without an acknowledgement or proof`);
  }

  #hasProof({ metadata, spec, status }: NodeVolumeIntent): boolean {
    if ((metadata.annotations?.[annotation.release] ?? "") !== "") return true;
    const node = this.#server().get(resource.nodes, spec.nodeName);
    if (node === undefined) return spec.nodeLossPolicy.type === "AfterTimeout";
    return isOutOfService(node) || (status.agent !== undefined && bootOf(node) !== status.agent.bootID);
  }
}

function isAcknowledged({ metadata, spec, status }: NodeVolumeIntent): boolean {
  const released = status.state === "Released" && status.inUse === false;
  const retained = status.state === "Retained" && spec.deletionPolicy === "Retain";
  return (
    metadata.deletionTimestamp !== undefined &&
    status.observedUID === metadata.uid &&
    status.observedGeneration === metadata.generation &&
    status.grantID === spec.grant?.id &&
    status.agent !== undefined &&
    (released || retained)
  );
}

function isOutOfService(node: StoredObject): boolean {
  const spec = node["spec"];
  const taints = isJson(spec) && Array.isArray(spec["taints"]) ? spec["taints"] : [];
  return taints.some((taint) => isJson(taint) && taint["key"] === "node.kubernetes.io/out-of-service");
}

function bootOf(node: StoredObject): unknown {
  const status = node["status"];
  const info = isJson(status) ? status["nodeInfo"] : undefined;
  return isJson(info) ? info["bootID"] : undefined;
}
