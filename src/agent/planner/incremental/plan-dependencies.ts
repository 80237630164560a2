import type { ChildProcessID } from "../../../host/ports/types.ts";
import { contentStateOf, refsOf } from "../../content/content-of.ts";
import { tokensOf } from "../../content/pod-tokens.ts";
import { isInvalid } from "../../model/desired.ts";
import type { Begun } from "../../model/operation.ts";
import type { ContentState, PlanInput } from "../../model/plan-input.ts";
import type { SwapState } from "../../model/swap-states.ts";
import type { VolumePlan } from "../../model/volume-plan.ts";
import { givenBackOf } from "../pod-steps.ts";

/**
 * Inputs that a volume's plan was made from, except the mount tables. A plan is reused only if each of them is the same
 * object, or an equal value, as before.
 */
export interface PlannedFrom extends Pick<VolumePlan, "desired" | "record"> {
  readonly running: ReturnType<PlanInput["pendingOperations"]["get"]>;
  readonly begun: Begun | undefined;
  readonly observed: ReturnType<PlanInput["observed"]["get"]>;
  readonly content: ContentState | undefined;
  readonly health: VolumePlan["health"] | undefined;
  readonly unresponsive: VolumePlan["unresponsive"] | undefined;
  readonly ended: ChildProcessID | undefined;
  readonly swap: SwapState | undefined;
  /** Whether the driver is registered of a volume that kubelet manages. */
  readonly registered: boolean | undefined;
  /** Targets of pods that kubelet has unpublished. */
  readonly givenBack: string | undefined;
  /** Tokens of pods that there are for its targets. */
  readonly tokens: string | undefined;
}

/** PURE. A volume's inputs except its intent and its record. */
export function besides(
  name: string,
  desired: VolumePlan["desired"],
  input: PlanInput,
): Omit<PlannedFrom, "desired" | "record"> {
  return {
    running: input.pendingOperations.get(name),
    begun: input.begun?.get(name),
    observed: input.observed.get(name),
    content: contentState(desired, input),
    health: input.health?.get(name),
    unresponsive: input.unresponsive?.get(name),
    ended: input.ended?.get(name),
    swap: input.swaps?.get(name),
    registered: registeredOf(desired, input),
    givenBack: givenBackOf(input.records.get(name), input),
    tokens: tokensIn(desired, input),
  };
}

/** PURE. Whether no input of a volume's plan has changed. */
export function isAsKnown(name: string, known: PlannedFrom, input: PlanInput): boolean {
  return (
    input.desired.get(name) === known.desired &&
    input.records.get(name) === known.record &&
    input.pendingOperations.get(name) === known.running &&
    input.begun?.get(name) === known.begun &&
    input.observed.get(name) === known.observed &&
    input.health?.get(name) === known.health &&
    input.unresponsive?.get(name) === known.unresponsive &&
    input.ended?.get(name) === known.ended &&
    input.swaps?.get(name) === known.swap &&
    registeredOf(known.desired, input) === known.registered &&
    givenBackOf(known.record, input) === known.givenBack &&
    tokensIn(known.desired, input) === known.tokens &&
    isSameContent(known.content, contentState(known.desired, input))
  );
}

function contentState(desired: VolumePlan["desired"], { contents }: PlanInput): ContentState | undefined {
  return contentStateOf(refsOf(desired), contents);
}

function tokensIn(desired: VolumePlan["desired"], input: PlanInput): string | undefined {
  return desired === undefined || isInvalid(desired) ? undefined : tokensOf(desired, input);
}

function registeredOf(desired: VolumePlan["desired"], { registered }: PlanInput): boolean | undefined {
  const driver = desired === undefined || isInvalid(desired) ? undefined : desired.kubelet?.observed.driver;
  return driver === undefined ? undefined : registered?.(driver);
}

function isSameContent(a: ContentState | undefined, b: ContentState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const same = a.problem?.reason === b.problem?.reason && a.problem?.message === b.problem?.message;
  return same && (a.known ? b.known && a.version === b.version : !b.known);
}
