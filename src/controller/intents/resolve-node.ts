import { finalizer } from "../../api/names.ts";
import { isOfNodeItself } from "../../api/source-traits.ts";
import type { NodeVolumeSetSpec, VolumeSource } from "../../api/types.gen.ts";
import type { NodeInput, SetObstacle, SetOnNode } from "../model/node-input.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { foundShares, type SetShare, sameShares, wantedShare } from "../model/set-share.ts";
import {
  type IntentName,
  intentNameOf,
  sameSource,
  type VolumeIdentity,
  volumeIdentity,
} from "../model/volume-identity.ts";
import { availabilityOf } from "../nodes/availability.ts";
import { selectNode } from "../nodes/select-nodes.ts";
import { compareText } from "../util/canonical-json.ts";
import { type ConflictResult, resolveConflicts } from "./conflicts.ts";
import { setsThatDoNotFit } from "./size-limits.ts";

/** What each set wants and has on a node, by set; sets with neither are left out. Pure. */
export function resolveNode(input: NodeInput): Map<string, SetOnNode> {
  const intents = new Map(input.intents.map((intent) => [intentNameOf(intent), intent]));
  const found = foundShares(input.intents);
  const entries = new Map(input.sets.map((entry) => [entry.metadata.name, entry]));
  const names = [...new Set([...entries.keys(), ...found.keys()])].sort(compareText);
  const requests = names.map((name) => requestedVolume(input, name, entries.get(name), found.get(name) ?? []));
  const claims = requests.map(({ set, found: shares, wanted, frozen }) => {
    const wantedShares = wanted === undefined ? [] : [wanted];
    return { set, found: shares, wanted: frozen ? shares : wantedShares };
  });
  const results = resolveConflicts(claims);
  const tooLarge = setsThatDoNotFit(requests);
  const setsOnNode = requests.flatMap((requested) => {
    const obstacle = tooLarge.has(requested.set) ? tooLargeObstacle : requested.obstacle;
    const onNode = setOnNode({ ...requested, obstacle }, results.get(requested.set), intents, input.refusals);
    return onNode === undefined ? [] : [[requested.set, onNode] as const];
  });
  return new Map(setsOnNode);
}

const tooLargeObstacle: SetObstacle = {
  reason: "IntentTooLarge",
  message: "too many mounts of one volume on one node: at most 64, and 16 KiB",
};

/** The part that a set requests on a node, before conflicts with other sets are resolved. */
interface RequestedVolume
  extends Pick<SetOnNode, "set" | "entry" | "selected" | "identity" | "found" | "wanted" | "obstacle"> {
  readonly frozen: boolean;
  /** Only volumes that are there may be changed. */
  readonly nothingNew: boolean;
  /** Not even these: it is not known, or not so, that the claim allows the set. */
  readonly unchanged: boolean;
}

function requestedVolume(
  input: NodeInput,
  set: string,
  entry: SetEntry | undefined,
  found: readonly SetShare[],
): RequestedVolume {
  const none = { selected: false, identity: undefined, wanted: undefined, nothingNew: false, unchanged: false };
  const nothing = { set, entry, found, ...none };
  const spec = entry?.spec;
  // A set that was removed without its finalizer, a set that is not understood, and a Node that is gone have this in
  // common: no one has revoked the present mounts. A set that is being deleted has revoked them.
  const deleted = entry?.metadata.deletionTimestamp !== undefined;
  if (!deleted && (entry === undefined || spec === undefined || input.node === undefined)) {
    return { ...nothing, frozen: true, obstacle: undefined };
  }
  const leaving = { ...nothing, frozen: false, obstacle: undefined };
  if (deleted || entry === undefined || spec === undefined || input.node === undefined) return leaving;
  const selection = selectNode(spec, input.node);
  if (selection === "leave" || (selection === "keep" && found.length === 0)) return leaving;
  const identity = volumeIdentity({
    nodeName: input.name,
    setName: set,
    setUID: entry.metadata.uid ?? "",
    volume: spec.volume,
  });
  const { wanted, obstacle } = allowedShare(identity, entry, spec, found, input.allowedPrefixes);
  const selected = spec.mounts.length > 0 || isOfNodeItself(spec.volume);
  const requested = {
    ...nothing,
    frozen: false,
    selected,
    identity,
    wanted,
    nothingNew: selection === "keep",
    obstacle,
  };
  return withConsent(requested, input, spec.volume.source);
}

/**
 * A set that the claim does not allow gets nothing new. What it has under a grant stays as it is, because it may be in
 * use; what was never granted, it loses: its mounts, or its settings if it only observes, would hold up who may use the
 * claim.
 */
function withConsent(
  requested: RequestedVolume,
  { name: node, consent, intents }: NodeInput,
  source: VolumeSource,
): RequestedVolume {
  const said = consent(requested.set, source);
  if (said === undefined) return requested;
  if (said === "unknown")
    return { ...requested, unchanged: true, obstacle: requested.obstacle ?? saidBefore(requested, node) };
  const granted = new Set(intents.flatMap(({ metadata, spec }) => (spec.grant === undefined ? [] : [metadata.name])));
  const keeps = requested.found.some(({ intentName }) => granted.has(intentName));
  const obstacle = { reason: "ClaimNotAllowed", message: said.message } as const;
  return { ...requested, wanted: keeps ? requested.wanted : undefined, unchanged: true, obstacle };
}

/** That the claim did not allow the set, as its status says: it is not Ready only because claims are being read. */
function saidBefore({ entry }: RequestedVolume, node: string): SetObstacle | undefined {
  const said = entry?.status.failing?.find((one) => one.node === node && one.reason === "ClaimNotAllowed");
  return said && { reason: "ClaimNotAllowed", message: said.message ?? "" };
}

/** The wanted part without the mounts that the agent would refuse. One that is there already stays: it does no harm. */
function allowedShare(
  identity: VolumeIdentity,
  { metadata }: SetEntry,
  spec: NodeVolumeSetSpec,
  found: readonly SetShare[],
  prefixes: readonly string[],
): { wanted: SetShare | undefined; obstacle: SetObstacle | undefined } {
  const share = wantedShare(identity, { name: metadata.name, uid: metadata.uid ?? "", spec });
  const there = new Set(found.flatMap(({ mounts }) => mounts.map(({ name, path }) => `${name} ${path}`)));
  const isAllowed = (path: string) => prefixes.some((prefix) => path.startsWith(`${prefix}/`));
  const refused = share.mounts.filter((mount) => !isAllowed(mount.path));
  const mounts = share.mounts.filter((mount) => isAllowed(mount.path) || there.has(`${mount.name} ${mount.path}`));
  const paths = refused.map((mount) => mount.path).join(", ");
  return {
    wanted: mounts.length === 0 && !isOfNodeItself(spec.volume) ? undefined : { ...share, mounts },
    obstacle:
      refused.length === 0
        ? undefined
        : { reason: "PathNotAllowed", message: `${paths}: not beneath an allowed prefix (${prefixes.join(", ")})` },
  };
}

function setOnNode(
  requested: RequestedVolume,
  result: ConflictResult | undefined,
  intents: ReadonlyMap<IntentName, Intent>,
  refusals: ReadonlyMap<IntentName, string>,
): SetOnNode | undefined {
  const { set, entry, selected, identity, found, wanted, unchanged } = requested;
  const state = stateOf(requested);
  if (state === undefined) return undefined;
  const writes = state === "absent" || state === "outdated";
  const refused = writes && wanted !== undefined ? refusals.get(wanted.intentName) : undefined;
  const taken = wanted !== undefined && isOfAnother(requested, intents.get(wanted.intentName));
  const message = taken ? `its intent would have the name of another volume's: ${wanted.intentName}` : refused;
  const obstacle = requested.obstacle ?? (message === undefined ? undefined : { reason: "Invalid" as const, message });
  const blocked = result?.held === true || result?.waitsFor !== undefined || obstacle?.reason === "IntentTooLarge";
  const held = blocked || unchanged || (wanted !== undefined && !mayBeWritten(requested, wanted, intents));
  return {
    set,
    entry,
    state,
    selected,
    identity,
    found,
    wanted,
    held,
    waitsFor: result?.waitsFor,
    conflicts: result?.conflicts ?? [],
    obstacle,
    availability: availabilityOf(found, intents),
  };
}

function stateOf({ frozen, selected, found, wanted, obstacle }: RequestedVolume): SetOnNode["state"] | undefined {
  if (frozen) return found.length === 0 ? undefined : "frozen";
  if (wanted === undefined) {
    if (found.length > 0) return "leaving";
    return selected && obstacle !== undefined ? "absent" : undefined;
  }
  if (found.length === 0) return "absent";
  return sameShares(found, wanted) ? "current" : "outdated";
}

/** Whether what has the name of a requested volume's intent is not its volume. */
function isOfAnother({ identity }: RequestedVolume, existing: Intent | undefined): boolean {
  return existing !== undefined && identity !== undefined && !sameSource(existing.spec.source, identity.source);
}

/** What must be so before anything of `wanted` is written, apart from the other sets. */
function mayBeWritten(requested: RequestedVolume, wanted: SetShare, intents: ReadonlyMap<IntentName, Intent>): boolean {
  // Without it, the set could be gone before its volumes are.
  if (!(requested.entry?.metadata.finalizers ?? []).includes(finalizer.unmount)) return false;
  const existing = intents.get(wanted.intentName);
  if (isOfAnother(requested, existing)) return false;
  // One name is one object: the volume can come again when the node has let go of it.
  if (existing?.metadata.deletionTimestamp !== undefined) return false;
  const isThere = requested.found.some((share) => share.intentName === wanted.intentName);
  return isThere || !requested.nothingNew;
}
