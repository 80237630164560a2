/** What can be said of a claim that a node uses, from the objects and the kernel's mount table: pure. */
import type { JsonObject } from "../../lib/api-client.ts";
import { prefix } from "../demo.ts";
import { placeOf } from "../mount-lines.ts";

/** All that is looked at. */
export interface World {
  readonly claim: JsonObject | undefined;
  readonly volume: JsonObject | undefined;
  /** The VolumeAttachment of the volume. */
  readonly attachment: JsonObject | undefined;
  readonly intent: JsonObject | undefined;
  /** Lines of mountinfo that are of the claim's file system. */
  readonly mounts: readonly string[];
  /** Bytes of the file system, where it is mounted. */
  readonly bytes: number | undefined;
}

export interface Fact {
  /** Who says it. */
  readonly by: "objects" | "kernel";
  readonly is: string;
  /** Told when it is no longer so; if not given, the end of it is not worth a line. */
  readonly isNot?: string;
}

/** What is true now, by a name for each. */
export function factsOf(world: World): ReadonlyMap<string, Fact> {
  const facts = new Map<string, Fact>();
  const add = (name: string, truth: boolean, by: Fact["by"], is: string, isNot?: string) => {
    if (truth) facts.set(name, { by, is, ...(isNot !== undefined && { isNot }) });
  };
  const claim = world.claim as Claim | undefined;
  const volume = world.volume as Volume | undefined;
  const attachment = world.attachment as Attachment | undefined;
  const intent = world.intent as Intent | undefined;
  const [by, kernel] = ["objects", "kernel"] as const;

  add("bound", claim?.status?.phase === "Bound", by, `the claim is bound: ${claim?.spec?.volumeName} was made for it`);
  const held = claim?.metadata.labels?.["nodevolume.dev/held"] !== undefined;
  const holds = "the claim is held: pods cannot name it (every API server has 5 s to know that)";
  add("held", held, by, holds, "the claim is free again: pods can name it");
  const wanted = `a VolumeAttachment is there (${attachment?.metadata.name.slice(0, 12)}…)`;
  add("attachment", attachment !== undefined, by, wanted, "the VolumeAttachment is gone: the volume is detached");
  add("attached", attachment?.status?.attached === true, by, "the attacher says that it is attached");
  const node = intent?.spec.nodeName;
  add("granted", intent?.spec.grant !== undefined, by, `${node} has the leave to use it`);
  const { deletionTimestamp } = intent?.metadata ?? {};
  add("revoked", intent !== undefined && deletionTimestamp !== undefined, by, `${node} is told to give it back`);
  const ready = intent?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  add("ready", ready, by, "the agent has reported that all is as wanted");
  add("intent", intent !== undefined, by, `the intent for ${node} is there`, "the intent is gone");

  for (const line of world.mounts) {
    const place = placeOf(line);
    const { is, isNot } = mountFact(line, place);
    add(`mount ${place}`, true, kernel, is, isNot);
  }
  const size = volume?.spec?.capacity?.storage;
  add(`volume ${size}`, size !== undefined, by, `the PersistentVolume has ${size}`);
  const capacity = claim?.status?.capacity?.storage;
  add(`claim ${capacity}`, capacity !== undefined, by, `the claim has ${capacity}`);
  const { bytes } = world;
  add(
    `bytes ${bytes}`,
    bytes !== undefined,
    kernel,
    `the file system has ${((bytes ?? 0) / 2 ** 20).toFixed(0)} MiB for files`,
  );
  return facts;
}

/** What has begun and what has ended, one sentence each with who says it. */
export function changesBetween(
  before: ReadonlyMap<string, Fact>,
  after: ReadonlyMap<string, Fact>,
): { readonly by: Fact["by"]; readonly text: string }[] {
  const ended = [...before].filter(([name, { isNot }]) => !after.has(name) && isNot !== undefined);
  const begun = [...after].filter(([name]) => !before.has(name));
  return [
    ...ended.map(([, { by, isNot = "" }]) => ({ by, text: isNot })),
    ...begun.map(([, { by, is }]) => ({ by, text: is })),
  ];
}

/** What a mount of the volume is there for. */
function mountFact(line: string, place: string): { readonly is: string; readonly isNot: string } {
  if (place.startsWith(prefix)) return { is: `mounted on ${place}`, isNot: `not mounted on ${place} any more` };
  const short = `…${place.slice(place.lastIndexOf("/")).slice(0, 9)}`;
  if (!place.endsWith("/staging")) return { is: `published by the driver: ${short}`, isNot: `unpublished: ${short}` };
  return { is: `staged by the driver: ${deviceOf(line)} is mounted as xfs`, isNot: "unstaged" };
}

/** The source of a mount, after the dash that ends the optional fields. */
function deviceOf(line: string): string {
  return line.split(" - ")[1]?.split(" ")[1] ?? "?";
}

interface Claim {
  readonly metadata: { readonly labels?: { readonly [name: string]: string } };
  readonly spec?: { readonly volumeName?: string };
  readonly status?: { readonly phase?: string; readonly capacity?: { readonly storage?: string } };
}

interface Volume {
  readonly spec?: { readonly capacity?: { readonly storage?: string } };
}

interface Attachment {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly attached?: boolean };
}

interface Intent {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string; readonly grant?: object };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
