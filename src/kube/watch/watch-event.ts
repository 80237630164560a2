import { isRecord, numberIn, recordIn, stringIn } from "../json.ts";

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: "ERROR"; readonly status: number; readonly message: string };

/** A watch line as an event; undefined if it is none that is known. */
export function parseWatchEvent(raw: unknown): WatchEvent | undefined {
  const type = stringIn(raw, "type");
  const object = recordIn(raw, "object");
  if (type === "ERROR") {
    const message = stringIn(object, "message") ?? "no message";
    return { type, status: numberIn(object, "code") ?? 500, message };
  }
  const metadata = recordIn(object, "metadata");
  const resourceVersion = stringIn(metadata, "resourceVersion");
  if (!isRecord(object) || resourceVersion === undefined || resourceVersion === "") return undefined;
  if (type === "BOOKMARK") {
    const initialEventsEnd = stringIn(recordIn(metadata, "annotations"), "k8s.io/initial-events-end") === "true";
    return { type, resourceVersion, initialEventsEnd };
  }
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return { type, object, resourceVersion };
  return undefined;
}
