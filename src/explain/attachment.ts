import { arrayIn, recordIn, stringIn } from "../kube/json.ts";
import { attachErrorCode, attachLimitText, isResourceExhausted } from "../kube/objects/attach-error.ts";
import { type Facts, named, type Raw } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { nextStep } from "./next-steps.ts";

/** PURE. What of a VolumeAttachment is needed. */
export interface AttachmentFacts {
  readonly name: string;
  readonly node: string;
  readonly attacher: string;
  readonly persistentVolume: string | undefined;
  readonly attached: boolean;
  readonly deleting: boolean;
  readonly raw: Raw;
}

/** PURE. A VolumeAttachment, reduced to what explanations need. */
export function attachmentFacts(raw: Raw): AttachmentFacts {
  const spec = recordIn(raw, "spec");
  return {
    name: raw.metadata.name,
    node: stringIn(spec, "nodeName") ?? "",
    attacher: stringIn(spec, "attacher") ?? "",
    persistentVolume: stringIn(recordIn(spec, "source"), "persistentVolumeName"),
    attached: recordIn(raw, "status")?.["attached"] === true,
    deleting: raw.metadata.deletionTimestamp !== undefined,
    raw,
  };
}

/** PURE. The VolumeAttachment of this name among the facts; undefined if there is none. */
export function attachmentNamed(facts: Facts, name: string): AttachmentFacts | undefined {
  const raw = named(facts.volumeAttachments, name);
  return raw && attachmentFacts(raw);
}

/** What the driver says of its last try, and since when; undefined: it has not failed. */
function failure(raw: Raw, key: "attachError" | "detachError"): { quote: string; since: string } | undefined {
  const error = recordIn(recordIn(raw, "status"), key);
  const message = stringIn(error, "message");
  if (message === undefined) return undefined;
  return { quote: message, since: stringIn(error, "time") ?? raw.metadata.creationTimestamp ?? "" };
}

function detaching(
  { name, node, attacher, raw }: Pick<AttachmentFacts, "name" | "node" | "attacher" | "raw">,
  on: NonNullable<Finding["on"]>,
): Finding {
  const failed = failure(raw, "detachError");
  return {
    state: "waiting",
    code: "Detaching",
    text: `the volume is being detached from ${node} (VolumeAttachment ${name})`,
    since: raw.metadata.deletionTimestamp ?? "",
    on,
    ...(failed !== undefined && { quote: failed.quote }),
    todo:
      failed === undefined
        ? `If it stays, read the log of the controller of ${attacher}: its external-attacher detaches the volume.`
        : `The driver ${attacher} refuses to detach it. The message above is its own; its controller's log has more.`,
  };
}

/** PURE. How an attachment stands, with the driver's own words where it refused. */
export function attachmentFindings(
  facts: Facts,
  { name, node, attacher, attached, deleting, raw }: AttachmentFacts,
): Finding[] {
  const on = { kind: "VolumeAttachment", name, node };
  if (deleting) return [detaching({ name, node, attacher, raw }, on)];
  if (attached)
    return [{ state: "done", code: "Attached", text: `it is attached to ${node} (VolumeAttachment ${name})`, on }];
  const failed = failure(raw, "attachError");
  if (failed !== undefined && isResourceExhausted(attachErrorCode(raw))) {
    const there = facts.volumeAttachments
      .map(attachmentFacts)
      .filter((one) => one.node === node && one.attacher === attacher);
    const drivers = arrayIn(recordIn(named(facts.csiNodes, node), "spec"), "drivers");
    const driver = drivers.find((one) => stringIn(one, "name") === attacher);
    const limit = recordIn(driver, "allocatable")?.["count"];
    const room = attachLimitText(node, there.length, typeof limit === "number" ? limit : undefined, true);
    const text = `the driver ${attacher} has no room for it (VolumeAttachment ${name}): ${room}`;
    const todo = nextStep("AttachLimitReached", { node }) ?? "";
    return [{ state: "waiting", code: "AttachLimitReached", text, ...failed, on, todo }];
  }
  if (failed !== undefined)
    return [
      {
        state: "waiting",
        code: "AttachFailed",
        text: `the driver ${attacher} refuses to attach it to ${node} (VolumeAttachment ${name})`,
        ...failed,
        on,
        todo: `The message is the driver's own; it is retried. The log of the controller of ${attacher} has more.`,
      },
    ];
  return [
    {
      state: "waiting",
      code: "WaitingForAttach",
      text: `the driver ${attacher} has not attached it to ${node} yet (VolumeAttachment ${name})`,
      ...(raw.metadata.creationTimestamp !== undefined && { since: raw.metadata.creationTimestamp }),
      on,
      todo: `If it stays: does the controller of ${attacher} run, and its external-attacher?`,
    },
  ];
}
