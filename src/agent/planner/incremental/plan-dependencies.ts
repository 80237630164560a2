import type { ChildProcessID } from "../../../host/ports/types.ts";
import { contentStateOf, refsOf } from "../../content/content-of.ts";
import { tokensOf } from "../../content/pod-tokens.ts";
import { isInvalid } from "../../model/desired.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { Begun } from "../../model/operation.ts";
import type { ContentState, PlanInput } from "../../model/plan-input.ts";
import type { SwapState } from "../../model/swap-states.ts";
import type { VolumePlan } from "../../model/volume-plan.ts";
import { unpublishRequests } from "../pod-steps.ts";

/**
 * Inputs that a volume's plan was made from, except the mount tables. A plan is reused only if each of them is the same
 * object, or an equal value, as before.
 */
export interface PlannedFrom {
  readonly desired: VolumePlan["desired"];
  readonly record: VolumePlan["record"];
  readonly running: ReturnType<PlanInput["pendingOperations"]["get"]>;
  readonly begun: Begun | undefined;
  readonly observed: ReturnType<PlanInput["observed"]["get"]>;
  readonly content: ContentState | undefined;
  readonly health: VolumePlan["health"];
  readonly unresponsive: VolumePlan["unresponsive"];
  readonly ended: ChildProcessID | undefined;
  readonly swap: SwapState | undefined;
  /** Whether the driver is registered of a volume that kubelet manages. */
  readonly registered: boolean | undefined;
  /** Targets of pods for which kubelet has called NodeUnpublishVolume. */
  readonly unpublished: string | undefined;
  /** Tokens of pods that there are for its targets. */
  readonly tokens: string | undefined;
}

/** PURE. A volume's inputs; undefined if there is no such volume. */
export function plannedFrom(name: VolumeName, input: PlanInput): PlannedFrom | undefined {
  const desired = input.desired.get(name);
  const record = input.records.get(name);
  if (desired === undefined && record === undefined) return undefined;
  const understood = desired === undefined || isInvalid(desired) ? undefined : desired;
  const driver = understood?.kubelet?.observed.driver;
  return {
    desired,
    record,
    running: input.pendingOperations.get(name),
    begun: input.begun?.get(name),
    observed: input.observed.get(name),
    content: contentStateOf(refsOf(desired), input.contents),
    health: input.health?.get(name),
    unresponsive: input.unresponsive?.get(name),
    ended: input.ended?.get(name),
    swap: input.swaps?.get(name),
    registered: driver === undefined ? undefined : input.registered?.(driver),
    unpublished: unpublishRequests(record, input),
    tokens: tokensOf(understood, input),
  };
}

/** PURE. Whether a plan made from one would be the same if it were made from the other; undefined: no such volume. */
export function isSame(a: PlannedFrom | undefined, b: PlannedFrom | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const inputs = Object.keys(a) as (keyof PlannedFrom)[];
  return inputs.every((key) => (key === "content" ? isSameContent(a.content, b.content) : a[key] === b[key]));
}

function isSameContent(a: ContentState | undefined, b: ContentState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const same = a.problem?.reason === b.problem?.reason && a.problem?.message === b.problem?.message;
  return same && (a.known ? b.known && a.version === b.version : !b.known);
}

type StuckOperations = NonNullable<PlanInput["stuckOperations"]>;
type Stuck = ReturnType<StuckOperations["get"]>;

/**
 * PURE. Volumes of which something else hangs than before, or of which the mount table has to say what it waits for.
 */
export function changedStuck(before: StuckOperations = new Map(), now: StuckOperations = new Map()): Set<VolumeName> {
  const all = new Set([...before.keys(), ...now.keys()]);
  return new Set([...all].filter((name) => !isSameStuck(before.get(name), now.get(name))));
}

function isSameStuck(a: Stuck, b: Stuck): boolean {
  if (a === undefined || b === undefined) return false;
  if (!("pid" in a && "pid" in b)) return JSON.stringify(a) === JSON.stringify(b);
  return a.pid === b.pid && a.abandoned === b.abandoned && a.waitsFor !== undefined && a.waitsFor === b.waitsFor;
}
