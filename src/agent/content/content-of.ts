import type { ContentRef, ObjectContent } from "../../plugins/api/content.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { ContentState } from "../model/plan-input.ts";
import { joinedDigest } from "./salted-digest.ts";

/** Content of a volume: of each thing that it shows, in the order of its spec. */
export interface VolumeContent {
  /** One version each; equal ones have equal content. */
  readonly version: string;
  readonly contents: readonly ObjectContent[];
}

/** PURE. What a volume shows, if it shows content. */
export function refsOf(desired: Desired | undefined): readonly ContentRef[] | undefined {
  return desired === undefined || isInvalid(desired) ? undefined : desired.layout.content;
}

/** PURE. What is known of all that a volume shows: its versions if each is known, and the first problem. */
export function contentStateOf(
  refs: readonly ContentRef[] | undefined,
  stateOf: (ref: ContentRef) => ContentState,
): ContentState | undefined {
  if (refs === undefined) return undefined;
  const states = refs.map(stateOf);
  const unknown = states.find((state) => !state.known);
  if (unknown !== undefined) return unknown;
  const problem = states.find((state) => state.problem !== undefined)?.problem;
  const version = states.map((state) => (state.known ? state.version : "")).join(" ");
  const digests = states.flatMap((state) => (state.known && state.digest !== undefined ? [state.digest] : []));
  const digest = (salt: string) => joinedDigest(digests.map((of) => of(salt)));
  return { known: true, version, ...(problem && { problem }), ...(digests.length === states.length && { digest }) };
}

/** PURE. The content of all that a volume shows; undefined if it shows none, or not each is known. */
export function volumeContent(
  refs: readonly ContentRef[] | undefined,
  get: (ref: ContentRef) => ObjectContent | undefined,
): VolumeContent | undefined {
  if (refs === undefined) return undefined;
  const contents = refs.flatMap((ref) => get(ref) ?? []);
  if (contents.length < refs.length) return undefined;
  return { version: contents.map(({ version }) => version).join(" "), contents };
}
