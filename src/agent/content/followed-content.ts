import type { Transport } from "../../kube/client/transport.ts";
import type { ContentRef, ObjectContent } from "../../plugins/api/content.ts";
import type { System } from "../../ports.ts";
import type { ContentState } from "../model/plan-input.ts";

/** Dependencies of reading and watching the objects that volumes show. */
export interface ContentsDeps {
  readonly system: System;
  readonly transport: Transport;
  /** Something about what is shown has changed. */
  onChange(ref: ContentRef): void;
}

/** One thing whose content is followed. */
export interface FollowedContent {
  state(optional: boolean): ContentState;
  /** @returns undefined if the content is not known */
  get(optional: boolean): ObjectContent | undefined;
  stop(): void;
}
