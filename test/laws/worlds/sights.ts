import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { stagingAttributes } from "../../../src/plugins/api/volume-plugin.ts";
import type { StagingSight, TargetChoice, WorldChoice } from "./choices.ts";
import type { Draft } from "./drafts.ts";
import { pathAt, prefix, settings } from "./paths.ts";
import { type MountsAt, recordedAttributes } from "./records.ts";
import { foreign, type Mounted, plain, TableBuilder } from "./table-builder.ts";

const rootDisk = { identity: { device: "8:1", root: "/" }, fsType: "ext4", source: "/dev/sda1", attributes: plain };

export interface MountedWorld {
  readonly table: MountTable;
  readonly nodeTable: MountTable | undefined;
  /** The mount of a volume that is on a path, and another one there, if there are. */
  mountsAt(draft: Draft, path: string): MountsAt;
}

/** Mounts what the world's table is to show. */
export function mountedWorld(choice: WorldChoice, drafts: readonly Draft[]): MountedWorld {
  const builder = new TableBuilder(rootDisk, choice.shared);
  const ids = new Map<string, number>();
  for (const draft of drafts) {
    for (const mounted of stagingLayers(draft)) builder.mount(stagingPathOf(draft), mounted);
  }
  if (choice.node !== "none") builder.mount(prefix, { ...rootDisk, identity: { device: "8:1", root: prefix } });
  const order = choice.deepFirst ? [1, 0, 2, 3, 4] : [0, 1, 2, 3, 4];
  for (const index of order) {
    for (const { mounted, of } of layersOf(index, choice, drafts)) {
      const id = builder.mount(pathAt(index), mounted);
      if (of !== undefined) ids.set(`${of.name} ${pathAt(index)}`, id);
    }
  }
  if (choice.covered) builder.mount(prefix, foreign(40));
  const table = builder.table();
  return {
    table,
    nodeTable: choice.node === "none" ? undefined : nodeTableOf(table, choice),
    mountsAt({ name }, path) {
      const own = ids.get(`${name} ${path}`);
      const layers = table.layers(path);
      return { ours: layers.find(({ id }) => id === own), other: layers.find(({ id }) => id !== own) };
    },
  };
}

function stagingPathOf({ name }: Draft): string {
  return `${settings.stateDir}/staging/${volumeKey(name)}`;
}

function stagingLayers(draft: Draft): Mounted[] {
  const { staged, choice } = draft;
  if (staged.kind !== "filesystem") return [];
  const recorded = choice.record?.stage !== undefined && !choice.record.rebooted;
  const ours: Mounted = { ...staged, attributes: stagingAttributes };
  const layers: { readonly [sight in StagingSight]: readonly Mounted[] } = {
    unrecorded: [ours],
    ours: recorded ? [ours] : [],
    absent: [],
    foreign: [foreign(30)],
    foreignOver: [...(recorded ? [ours] : []), foreign(30)],
    twice: recorded ? [ours, ours] : [],
    readOnly: recorded ? [{ ...ours, frozen: true }] : [],
  };
  return [...layers[choice.staging]];
}

interface Layer {
  readonly mounted: Mounted;
  /** The volume whose mount it is. */
  readonly of?: Draft;
}

/** What is mounted on one path, lowest first. */
function layersOf(index: number, choice: WorldChoice, drafts: readonly Draft[]): Layer[] {
  const sight = choice.sights[index] ?? "absent";
  const path = pathAt(index);
  const owner = drafts.find((draft) => recordedTarget(draft, index) !== undefined);
  const target = owner && recordedTarget(owner, index);
  const ours = owner && target ? [{ mounted: mountOf(owner, target), of: owner }] : [];
  const other = { mounted: foreign(index) };
  switch (sight) {
    case "ours":
      return ours;
    case "absent":
      return [];
    case "foreign":
      return [other];
    case "foreignOver":
      return [...ours, other];
    case "foreignUnder":
      return [other, ...ours];
    case "twice":
      return [...ours, ...ours];
    case "renamed":
      return ours.map(({ mounted, of }) => ({ of, mounted: renamed(mounted) }));
    case "otherFlags":
      return ours.map(({ mounted, of }) => ({ of, mounted: { ...mounted, attributes: flipped(mounted) } }));
    case "unrecorded": {
      const wanting = drafts.find(({ desired }) => desired?.mounts.some((mount) => mount.path === path));
      return wanting === undefined || owner !== undefined
        ? ours
        : [{ mounted: { ...wanting.staged, attributes: plain }, of: wanting }];
    }
  }
}

/** A target of the journal whose mount no reboot has taken away. */
function recordedTarget({ choice: { record } }: Draft, index: number): TargetChoice | undefined {
  return record?.rebooted === true ? undefined : record?.targets.find(({ path }) => path === index);
}

function mountOf(draft: Draft, target: TargetChoice): Mounted {
  const { staged } = draft;
  const identity = target.current ? staged.identity : staged.before;
  return { ...staged, identity, attributes: recordedAttributes(target, draft) };
}

function renamed(mounted: Mounted): Mounted {
  const { identity } = mounted;
  return { ...mounted, identity: { ...identity, root: `${identity.root}//deleted` } };
}

function flipped({ attributes }: Mounted) {
  return { ...attributes, readOnly: !attributes.readOnly, noexec: !attributes.noexec };
}

/** What the node has of the agent's mounts: copies with ids of their own, in the same peer groups. */
function nodeTableOf({ entries }: MountTable, { node }: WorldChoice): MountTable {
  const copies = entries.filter(
    ({ point, shared }) => point === "/" || (point.startsWith(prefix) && shared !== undefined),
  );
  const arrived = copies.filter((entry) => node !== "missing" || entry.point === "/" || entry.point === prefix);
  const flip = ({ options }: MountEntry) => (options.includes("ro") ? ["rw", "relatime"] : ["ro", "relatime"]);
  return new MountTable(
    arrived.map((entry) => ({
      ...entry,
      id: entry.id + nodeIDs,
      parent: entry.parent + nodeIDs,
      options: node === "otherFlags" && entry.point !== "/" ? flip(entry) : entry.options,
    })),
  );
}

const nodeIDs = 5000;
