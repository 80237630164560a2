import fc from "fast-check";
import type { MountChoice, VolumeType } from "./choices.ts";

/** Something that happens to a node: the intents change, people meddle, the agent or the machine ends. */
export type Event =
  | { readonly kind: "want"; readonly volume: number; readonly mounts: readonly MountChoice[]; readonly options: 0 | 1 }
  | { readonly kind: "observe" | "suspend" | "delete" | "retain" | "vanish" | "break"; readonly volume: number }
  | { readonly kind: "unmount" | "mountOver" | "remount" | "use" | "unuse"; readonly path: number }
  | { readonly kind: "unmountStage"; readonly volume: number }
  | { readonly kind: "removeSource" | "changeContent" | "kill" | "killUnsynced" | "reboot" | "hideTable" }
  | { readonly kind: "wait"; readonly ms: number };

export interface Story {
  readonly seed: number;
  readonly place: "host" | "pod";
  readonly types: readonly VolumeType[];
  readonly disks: readonly ("empty" | "xfs" | "ext4" | "garbage" | "held")[];
  readonly events: readonly Event[];
}

const onVolume = fc.nat(2);
const onPath = fc.nat(3);
const mount = fc.record<MountChoice>({
  path: fc.nat(3),
  moved: fc.constant(false),
  readOnly: fc.boolean(),
  noexec: fc.constant(false),
});
const want = fc.record({
  kind: fc.constant("want" as const),
  volume: onVolume,
  mounts: fc.uniqueArray(mount, { selector: ({ path }) => path, maxLength: 2 }),
  options: fc.constantFrom<(0 | 1)[]>(0, 0, 1),
});
const ofVolume = fc.record({
  kind: fc.constantFrom(
    "observe",
    "suspend",
    "delete",
    "delete",
    "delete",
    "retain",
    "vanish",
    "break",
    "unmountStage",
  ),
  volume: onVolume,
});
const ofPath = fc.record({
  kind: fc.constantFrom("unmount", "unmount", "mountOver", "remount", "use", "unuse"),
  path: onPath,
});
const ofNode = fc.record({
  kind: fc.constantFrom("removeSource", "changeContent", "kill", "killUnsynced", "reboot", "hideTable"),
});
const wait = fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 5, 30, 2000) });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: want },
  { weight: 3, arbitrary: ofVolume },
  { weight: 3, arbitrary: ofPath },
  { weight: 2, arbitrary: ofNode },
  { weight: 3, arbitrary: wait },
);

const types = fc.constantFrom<VolumeType[]>("memory", "disk", "hostPath", "device", "configMap", "secret", "directory");

export const stories: fc.Arbitrary<Story> = fc.record<Story>({
  seed: fc.nat(1000),
  place: fc.constantFrom("host", "pod"),
  types: fc.array(types, { minLength: 3, maxLength: 3 }),
  disks: fc.array(fc.constantFrom("empty", "empty", "xfs", "ext4", "garbage", "held"), { minLength: 3, maxLength: 3 }),
  events: fc
    .tuple(fc.array(want, { minLength: 1, maxLength: 3 }), fc.array(event, { minLength: 2, maxLength: 14 }))
    .map(([wants, events]): Event[] => [...wants, { kind: "wait", ms: 2000 }, ...events]),
});

/** Stories of disks in every condition, by agents that are killed in the middle of what they do. */
export const diskStories: fc.Arbitrary<Story> = fc.record<Story>({
  seed: fc.nat(1000),
  place: fc.constantFrom("host", "pod"),
  types: fc.constant(["device", "device", "device"]),
  disks: fc.array(fc.constantFrom("empty", "xfs", "ext4", "garbage", "held"), { minLength: 3, maxLength: 3 }),
  events: fc.array(fc.oneof(want, ofVolume, ofNode, wait), { minLength: 3, maxLength: 10 }),
});
