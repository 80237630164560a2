import type { Resource } from "../../../src/api/names.ts";

export type JsonRecord = { readonly [key: string]: unknown };

/** What a write says of the object that it is for. Stale and other: what an object of the name had before. */
export interface Preconditions {
  readonly uid?: "current" | "wrong";
  readonly resourceVersion?: "current" | "stale";
}

/** Of what a list or a watch is: by label, by field. */
export interface Selectors {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** A request as KubeClient and reflectors make it. Objects are of one resource, named by a letter. */
export type ApiOperation = { readonly resource: Resource } & (
  | { readonly verb: "create"; readonly name: string; readonly object: JsonRecord }
  | {
      readonly verb: "put";
      readonly name: string;
      /** What is sent where there is no such object. */
      readonly object: JsonRecord;
      /** Merged into the object as it is. */
      readonly change: JsonRecord;
      readonly preconditions: Preconditions;
    }
  | {
      readonly verb: "patch" | "patchStatus";
      readonly name: string;
      readonly patch: JsonRecord;
      readonly preconditions: Preconditions;
    }
  | { readonly verb: "delete"; readonly name: string; readonly preconditions: Preconditions }
  | { readonly verb: "get"; readonly name: string }
  | { readonly verb: "list"; readonly selectors: Selectors; readonly limit?: number }
  /** From: the newest state that was listed, the beginning of the sequence, or all objects first (WatchList). */
  | { readonly verb: "watch"; readonly selectors: Selectors; readonly from: "now" | "start" | "all" }
);
