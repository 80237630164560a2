import { understand } from "../../../src/agent/desired/intents.ts";
import { isInvalid } from "../../../src/agent/model/desired.ts";
import { Errno } from "../../sim/kernel/errno.ts";
import type { IntentChoice } from "./choices.ts";
import { rawIntent } from "./intents.ts";
import type { LawNode } from "./node.ts";
import { pathAt, paths } from "./paths.ts";
import type { Event, Story } from "./story.ts";
import { volumeName } from "./volumes.ts";

/** What a story has to remember of the intents: each has one UID in its life, and generations that grow. */
export class Teller {
  readonly #node: LawNode;
  readonly #story: Story;
  readonly #choices = new Map<number, { choice: IntentChoice; uid: string; generation: number }>();
  #uids = 0;

  constructor(node: LawNode, story: Story) {
    this.#node = node;
    this.#story = story;
  }

  /** The node before the story begins. */
  prepare(): void {
    const { people, machine } = this.#node;
    for (const index of [0, 1]) people.makeDirectory(`/srv/${index}`);
    this.#story.disks.forEach((state, index) => {
      const known = state === "xfs" || state === "ext4";
      const disk = machine.addDisk(`/dev/vd${index}`, known ? state : undefined);
      disk.garbage = state === "garbage";
      disk.holder = state === "held" ? "device-mapper" : undefined;
    });
  }

  /** What cannot happen now does not. */
  async tell(event: Event): Promise<void> {
    try {
      await this.#tell(event);
    } catch (error) {
      if (!(error instanceof Errno)) throw error;
    }
  }

  async #tell(event: Event): Promise<void> {
    const node = this.#node;
    const { people } = node;
    switch (event.kind) {
      case "want":
        return this.#want(event.volume, { mounts: event.mounts, options: event.options, deleting: false });
      case "observe":
        return this.#fresh(event.volume, { observe: true, granted: false });
      case "suspend":
        return this.#change(event.volume, { suspend: true });
      case "retain":
        return this.#change(event.volume, { retain: true, deleting: true });
      case "delete":
        return this.#change(event.volume, { deleting: true });
      case "break":
        return this.#change(event.volume, { broken: 1 });
      case "vanish":
        return this.#vanish(event.volume);
      case "unmount":
        return people.unmount(pathAt(event.path), true);
      case "mountOver":
        return people.mountTmpfs(pathAt(event.path));
      case "remount":
        return people.remount(pathAt(event.path), { noexec: true });
      case "use":
        return void people.use(pathAt(event.path));
      case "unuse":
        return this.#unuse();
      case "unmountStage":
        return people.unmount(this.#stagingPath(event.volume), true);
      case "removeSource":
        return people.rename("/srv/0", `/srv/0-${node.scheduler.now}`);
      case "changeContent":
        node.contentVersion++;
        return node.trigger();
      case "kill":
      case "killUnsynced":
        node.kill();
        node.synced = event.kind === "kill";
        return node.start();
      case "reboot":
        node.rules.rebooted(); // a reboot unmounts
        return node.reboot();
      case "hideTable":
        node.tableReadable = false;
        return;
      case "wait":
        return node.run(event.ms);
    }
  }

  /** The end of all faults: everything is readable, and nothing foreign is in the way. */
  heal(): void {
    const node = this.#node;
    const { people } = node;
    node.synced = true;
    node.tableReadable = true;
    this.#unuse();
    people.makeDirectory("/srv/0");
    for (const path of paths) {
      while (this.#foreignOn(path)) people.unmount(path, true);
    }
    for (const disk of node.machine.disks.values()) disk.holder = undefined;
    node.trigger();
  }

  #foreignOn(path: string): boolean {
    const { host } = this.#node.machine.kernel;
    const top = this.#node.machine.table(host).at(path);
    return [...host.mounts].some((mount) => mount.id === top?.id && mount.maker === "person");
  }

  #want(volume: number, change: Partial<IntentChoice>): void {
    const name = volumeName(volume);
    const known = this.#choices.get(volume);
    const present = this.#node.desired.get(name);
    if (present?.deleting === true) return; // the name is free again once it is gone
    if (present !== undefined && known?.choice.observe === false) this.#change(volume, change);
    else this.#fresh(volume, change);
  }

  /** Another object, of the same name if there was one. */
  #fresh(volume: number, change: Partial<IntentChoice>): void {
    if (this.#node.desired.get(volumeName(volume))?.deleting === true) return;
    const uid = `uid-${++this.#uids}`;
    const mounts = this.#choices.get(volume)?.choice.mounts ?? [];
    this.#put(volume, { choice: { ...plain, mounts, ...change }, uid, generation: 1 });
  }

  #change(volume: number, change: Partial<IntentChoice>): void {
    const known = this.#choices.get(volume);
    const present = this.#node.desired.get(volumeName(volume));
    if (known === undefined || present === undefined || present.deleting) return;
    if (isInvalid(present) && change.deleting !== true) return;
    const choice = { ...known.choice, ...change };
    this.#put(volume, { ...known, choice, generation: known.generation + 1 });
  }

  #put(index: number, known: { choice: IntentChoice; uid: string; generation: number }): void {
    const type = this.#story.types[index] ?? "memory";
    const name = volumeName(index);
    const { uid, generation } = known;
    const entry = understand(rawIntent(known.choice, { name, index, type }, { uid, generation }));
    if (entry === undefined) throw new Error("no intent");
    this.#choices.set(index, known);
    this.#node.rules.wanted(name);
    this.#node.trace.add("api", `${name} ${uid}/${generation} ${JSON.stringify(known.choice)}`);
    this.#node.desired.set(name, entry.desired);
    this.#node.trigger();
  }

  #vanish(volume: number): void {
    const name = volumeName(volume);
    const gone = this.#node.desired.get(name);
    if (gone === undefined || gone.deleting) return; // what was seen to be deleted may go on being released
    this.#node.trace.add("api", `${name} vanishes`);
    this.#node.desired.delete(name);
    this.#node.rules.vanish(name, this.#node.isRunning(name));
    this.#node.trigger();
  }

  #unuse(): void {
    const { processes } = this.#node.machine.kernel;
    for (const process of [...processes.all()]) if (process.command === "tail") this.#node.people.end(process);
  }

  #stagingPath(volume: number): string {
    return `/var/lib/nodevolume/staging/${this.#node.records.get(volumeName(volume))?.key ?? "none"}`;
  }
}

const plain: IntentChoice = {
  deleting: false,
  observe: false,
  granted: true,
  suspend: false,
  adopt: false,
  retain: false,
  unmountMax: "Normal",
  broken: undefined,
  options: 0,
  mounts: [],
};
