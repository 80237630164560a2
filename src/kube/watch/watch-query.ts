import type { Random } from "../../ports.ts";

/** Which objects of a collection are watched. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The parameters of a watch that goes on after `resourceVersion`, or begins with all objects if that is "". */
export function watchQuery(of: Selection, resourceVersion: string, random: Random): { [name: string]: string } {
  return {
    watch: "true",
    allowWatchBookmarks: "true",
    // Spread, so that the watches of many agents are not all opened again at the same moment.
    timeoutSeconds: String(300 + Math.floor(random.next() * 300)),
    ...(of.labelSelector !== undefined && { labelSelector: of.labelSelector }),
    ...(of.fieldSelector !== undefined && { fieldSelector: of.fieldSelector }),
    ...(resourceVersion === ""
      ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
      : { resourceVersion }),
  };
}
