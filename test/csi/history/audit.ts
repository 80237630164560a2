import type { Span } from "./spans.ts";

/** A line of the API server's audit log, of its stage ResponseComplete at the level RequestResponse. */
interface AuditLine {
  readonly verb: string;
  readonly objectRef?:
    | { readonly resource?: string; readonly name?: string; readonly subresource?: string }
    | undefined;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: AttachmentObject | undefined;
}

interface AttachmentObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: { readonly nodeName?: string; readonly source?: { readonly persistentVolumeName?: string } };
}

/** What tells the API server to write down each write of a VolumeAttachment, with what it answered. */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    {
      level: "RequestResponse",
      verbs: ["create", "update", "patch", "delete"],
      resources: [{ group: "storage.k8s.io", resources: ["volumeattachments"] }],
    },
    { level: "None" },
  ],
};

/**
 * When VolumeAttachments existed: from when the request that made one was received, to when the one that let it go was
 * answered. So a span is longer than the truth, never shorter.
 * @param volumeOf the driver's name of a PersistentVolume; attachments of others are left out
 */
export function attachmentSpans(log: string, volumeOf: (persistentVolume: string) => string | undefined): Span[] {
  const open = new Map<string, Span>();
  const closed: Span[] = [];
  for (const line of log.split("\n").filter((text) => text !== "")) {
    const { objectRef, responseObject, responseStatus, ...times } = JSON.parse(line) as AuditLine;
    if (objectRef?.resource !== "volumeattachments" || !(Number(responseStatus?.code) < 300)) continue;
    const name = responseObject?.metadata?.name ?? objectRef.name ?? "";
    const { nodeName: node, source } = responseObject?.spec ?? {};
    const volume = volumeOf(source?.persistentVolumeName ?? "");
    // Its name is a function of volume and node: there is one at a time.
    if (!open.has(name) && node !== undefined && volume !== undefined) {
      open.set(name, { volume, node, what: "attachment", from: micros(times.requestReceivedTimestamp), to: undefined });
    }
    const span = open.get(name);
    if (span === undefined || !isGone({ objectRef, responseObject, ...times })) continue;
    open.delete(name);
    closed.push({ ...span, to: micros(times.stageTimestamp) });
  }
  return [...closed, ...open.values()];
}

/** An object is gone with the request that leaves it deleted and without a finalizer. */
function isGone({
  verb,
  objectRef,
  responseObject,
}: Pick<AuditLine, "verb" | "objectRef" | "responseObject">): boolean {
  if (objectRef?.subresource !== undefined && objectRef.subresource !== "") return false;
  if (verb === "delete" && responseObject?.kind === "Status") return true;
  const { deletionTimestamp, finalizers = [] } = responseObject?.metadata ?? {};
  return (verb === "delete" || deletionTimestamp !== undefined) && finalizers.length === 0;
}

/** RFC 3339 with microseconds, as audit logs have it. */
function micros(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? "0";
  return Math.floor(Date.parse(timestamp) / 1000) * 1_000_000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}
