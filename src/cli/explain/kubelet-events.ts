import { eventsOf, type Facts, type Raw } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { numberIn, recordIn, stringIn } from "../../kube/json.ts";

/** What kubelet and the attach/detach controller say when a volume does not come, and what it means. The first that fits counts. */
const meanings: readonly { readonly words: RegExp; readonly code: string; readonly todo: string }[] = [
  {
    words: /not found in the list of registered CSI drivers/i,
    code: "DriverNotRegistered",
    todo: "Does the driver's pod run on the node, and its node-driver-registrar?",
  },
  {
    words: /multi-attach/i,
    code: "MultiAttach",
    todo: "Only one node can have the volume: end the pod that has it there, or run both on one node.",
  },
  {
    words: /device or resource busy|target is busy|\bEBUSY\b/i,
    code: "TargetBusy",
    todo: "A process still uses what has to be unmounted. On the node: fuser -vm PATH, with the path above, lists all; end them.",
  },
  {
    words:
      /transport endpoint is not connected|stale (nfs )?file handle|connection timed out|no route to host|host is down|deadline ?exceeded/i,
    code: "NotAnswering",
    todo: "The server or FUSE process does not answer, or is gone: restore it. Unmount a dead FUSE mount before it is mounted again.",
  },
  {
    words: /permission denied|access denied/i,
    code: "AccessDenied",
    todo: "The server refuses this node or these credentials: look at the export, and at the Secret that the class names.",
  },
  {
    words: /(secret|configmap) ".*" not found|references non-existent/i,
    code: "ObjectNotFound",
    todo: "Create the object that is named, or correct its name in the pod.",
  },
];

const couldNot = {
  mount: "kubelet could not mount it",
  attach: "it could not be attached",
  unmount: "kubelet could not unmount it",
} as const;

const reasons = new Set([
  "FailedMount",
  "FailedAttachVolume",
  "FailedMapVolume",
  "VolumeResizeFailed",
  "FailedUnMount",
]);

/**
 * PURE. The newest word of kubelet, or of the attach/detach controller, on a volume of a pod. Their messages name it: by its
 * PersistentVolume, or by its name in the pod. One that names none ("unable to attach or mount volumes") lists them.
 */
export function failureEvent(facts: Facts, pod: Raw, names: readonly string[]): Finding | undefined {
  const told = eventsOf(facts, pod).filter((event) => reasons.has(stringIn(event, "reason") ?? ""));
  const ofVolume = (event: Raw) => {
    const message = stringIn(event, "message") ?? "";
    return names.some(
      (name) => message.includes(`"${name}"`) || message.includes(`[${name}]`) || message.includes(`/${name}/`),
    );
  };
  const exact = told.find(
    (event) => ofVolume(event) && !/^unable to attach or mount/i.test(stringIn(event, "message") ?? ""),
  );
  const event = exact ?? told.find(ofVolume);
  if (event === undefined) return undefined;
  const message = stringIn(event, "message") ?? "";
  const meaning = meanings.find(({ words }) => words.test(message));
  const count = numberIn(event, "count") ?? numberIn(recordIn(event, "series"), "count");
  const since = stringIn(event, "firstTimestamp") ?? event.metadata.creationTimestamp;
  const reason = stringIn(event, "reason");
  return {
    state: "waiting",
    code: meaning?.code ?? stringIn(event, "reason") ?? "FailedMount",
    text:
      reason === "FailedAttachVolume"
        ? couldNot.attach
        : reason === "FailedUnMount"
          ? couldNot.unmount
          : couldNot.mount,
    quote: message,
    ...(since !== undefined && { since }),
    ...(count !== undefined && { attempts: count }),
    ...(meaning !== undefined && { todo: meaning.todo }),
  };
}

/** PURE. Whether a finding is what kubelet says, and so what people see first. */
export function isSymptom({ text }: Finding): boolean {
  return Object.values<string>(couldNot).includes(text);
}
