import { fieldManager, group, policyProbe, systemNamespace } from "../api/names.ts";
import { asRecord, isRecord, recordIn, stringIn } from "../kube/json.ts";
import type { Own } from "./own.ts";

/** PURE. What is wrong with the body of a request for what its rule is for; undefined if nothing is. */
export type BodyCheck = (body: unknown, own: Own) => string | undefined;

/** Longest validity of a token, in seconds: as the CRDs and the policy of the agents bound it. */
const longestToken = 86_400;

/** The status of one version of one object, and nothing else of it. `notOurs` are written by the controller. */
export function statusPatch(notOurs: readonly string[] = []): BodyCheck {
  return (body) => {
    const [metadata, status] = [recordIn(body, "metadata"), recordIn(body, "status")];
    if (!hasOnly(body, ["metadata", "status"]) || status === undefined) return "the body is not the patch of a status";
    const preconditions = ["uid", "resourceVersion"];
    const named = preconditions.every((key) => stringIn(metadata, key) !== undefined);
    if (!named || !hasOnly(metadata, preconditions)) return "the status is not of one version of one object";
    return notOurs.some((key) => Object.hasOwn(status, key)) ? "the status has fields of the controller" : undefined;
  };
}

/** The node's own Lease, held by the node. */
export const ownLease: BodyCheck = (body, { nodeName }) => {
  const problem = leaseNamed(body, nodeName);
  if (problem !== undefined) return problem;
  const isHolder = stringIn(recordIn(body, "spec"), "holderIdentity") === nodeName;
  return isHolder ? undefined : "the Lease is not held by this node";
};

/** A Lease that the policy of the agents must refuse. */
export const probedLease: BodyCheck = (body) => leaseNamed(body, policyProbe);

function leaseNamed(body: unknown, name: string): string | undefined {
  const metadata = recordIn(body, "metadata");
  if (!hasOnly(body, ["apiVersion", "kind", "metadata", "spec"]) || stringIn(body, "kind") !== "Lease")
    return "the body is not a Lease";
  const isIt = stringIn(metadata, "name") === name && stringIn(metadata, "namespace") === systemNamespace;
  return isIt ? undefined : "the Lease is another";
}

const eventKeys = [
  ...["apiVersion", "kind", "metadata", "involvedObject", "type", "reason", "message", "count"],
  ...["firstTimestamp", "lastTimestamp", "source", "reportingComponent", "reportingInstance"],
];

/** An Event of this agent, about an object of ours. */
export const ownEvent: BodyCheck = (body, { nodeName }) => {
  const metadata = recordIn(body, "metadata");
  if (!hasOnly(body, eventKeys) || stringIn(body, "kind") !== "Event") return "the body is not an Event";
  if (!hasOnly(metadata, ["namespace", "name"]) || stringIn(metadata, "namespace") !== "default")
    return "the Event is not in the namespace default";
  const source = recordIn(body, "source");
  const isOurs = stringIn(source, "component") === fieldManager.agent && stringIn(source, "host") === nodeName;
  if (!isOurs || stringIn(body, "reportingComponent") !== fieldManager.agent)
    return "the Event does not name this node's agent as its source";
  const involved = recordIn(body, "involvedObject");
  const isOurObject = stringIn(involved, "apiVersion")?.startsWith(`${group}/`) === true;
  // kubectl describe looks Events up by kind and name, whatever their apiVersion is.
  const isOurKind = ["NodeVolumeIntent", "NodeVolumeState"].includes(stringIn(involved, "kind") ?? "");
  return isOurObject && isOurKind ? undefined : "the Event is about somebody else's object";
};

/** That an Event has come again. */
export const againEvent: BodyCheck = (body) => {
  const metadata = recordIn(body, "metadata");
  const isEmpty = metadata !== undefined && Object.keys(metadata).length === 0;
  const is = isEmpty && hasOnly(body, ["metadata", "count", "lastTimestamp", "message"]);
  return is ? undefined : "the body is more than the count of an Event";
};

/** A token that is good for a day at most, and worth nothing without this node. */
export const boundToken: BodyCheck = (body, { nodeName }) => {
  const spec = recordIn(body, "spec");
  const bound = recordIn(spec, "boundObjectRef");
  const isRequest =
    hasOnly(body, ["apiVersion", "kind", "spec"]) &&
    stringIn(body, "kind") === "TokenRequest" &&
    hasOnly(spec, ["audiences", "expirationSeconds", "boundObjectRef"]);
  if (!isRequest) return "the body is not a request for a token";
  const isBound = hasOnly(bound, ["apiVersion", "kind", "name"]) && stringIn(bound, "kind") === "Node";
  if (!isBound || stringIn(bound, "name") !== nodeName) return "the token is not bound to this node";
  const seconds = asRecord(spec)?.["expirationSeconds"];
  const isShort = typeof seconds === "number" && Number.isInteger(seconds) && seconds > 0 && seconds <= longestToken;
  return isShort ? undefined : `the token is good for longer than ${longestToken} seconds`;
};

function hasOnly(value: unknown, keys: readonly string[]): boolean {
  return isRecord(value) && Object.keys(value).every((key) => keys.includes(key));
}
