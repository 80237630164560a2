import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, statSync, writeSync } from "node:fs";
import type { Operation } from "../../../src/agent/operations.ts";
import type { ChildRequest } from "../../../src/host/linux/child-request.ts";
import { ChildRunner } from "../../../src/host/linux/child-runner.ts";
import { deviceNumberOf } from "../../../src/host/linux/device-number.ts";
import { Randomly } from "../randomly.ts";
import { RealNode } from "../real-node.ts";
import type { Content } from "./contents.ts";
import { type Disk, harmTo, note } from "./disk.ts";
import { DisksOfWorld } from "./disks-of-world.ts";
import type { Somebody } from "./somebody.ts";
import { endAll, type TroubledWorld, troubles } from "./trouble.ts";
import { Wanted } from "./wanted.ts";

const rounds = 3;
const operationsOfRound = 6;
/** Kinds of trouble that there are in one world: of few kinds, each comes often enough to meet what it needs. */
const kindsOfWorld = 5;

/** What one world has shown. */
export interface Shown {
  readonly seed: number;
  readonly harm: readonly string[];
  /** What happened, and how often: of somebody and of the agent. */
  readonly happened: ReadonlyMap<string, number>;
  readonly story: readonly string[];
}

/** Disks of other people, an agent that wants some, and somebody who does something to them between any two of its steps. */
export class World implements TroubledWorld {
  readonly randomly: Randomly;
  readonly somebody: Somebody;
  readonly disks: DisksOfWorld;
  readonly #node = new RealNode();
  readonly #harm: string[] = [];
  readonly #happened = new Map<string, number>();
  readonly #story: string[] = [];
  readonly #begun = performance.now();
  readonly #kinds: string[];
  /** In a hundred steps of the agent, those before which somebody does something. */
  readonly #troubled: number;
  #volumes: Wanted[] = [];
  #looked = new Set<string>();

  /** @param place of worlds that live beside each other: their disks have other sizes */
  constructor(seed: number, somebody: Somebody, contents: readonly Content[], place: number) {
    this.randomly = new Randomly(seed);
    this.somebody = somebody;
    const kinds = Array.from({ length: kindsOfWorld }, () => this.randomly.one(Object.keys(troubles)));
    this.#kinds = ["open", ...kinds]; // what most depends on
    this.#troubled = 10 + this.randomly.below(60);
    this.disks = new DisksOfWorld(this.#node.path, { somebody, randomly: this.randomly, contents, place });
  }

  isMounted({ device }: Disk): boolean {
    const number = numberOf(device);
    return this.#node.mounts().some((mount) => mount.device === number);
  }

  get names(): boolean {
    return this.#volumes.some(({ naming }) => naming === "device" || naming === "link");
  }

  async haveLooked(): Promise<boolean> {
    const looking = this.#volumes.filter(({ naming }) => naming === "fields" || naming === "label");
    return looking.every(({ name }) => this.#looked.has(name));
  }

  async run(): Promise<Shown> {
    const { run } = ChildRunner.prototype;
    const world = this;
    ChildRunner.prototype.run = async function (this: ChildRunner, request, operation, options) {
      await world.#step(request.kind === "mounter" ? request.method : request.kind);
      const how = world.#cutOff(request);
      if (how === "ends") return { code: 1, stdout: "", stderr: "it ended by itself" };
      return run.call(this, request, how === undefined ? operation : { ...operation, deadlineMs: how }, options);
    };
    try {
      await this.#live();
    } catch (cause) {
      throw new Error([`NODEVOLUME_DISK_SEED=${this.randomly.seed}`, ...this.#story].join("\n    "), { cause });
    } finally {
      ChildRunner.prototype.run = run;
      await this.#end();
    }
    return { seed: this.randomly.seed, harm: this.#harm, happened: this.#happened, story: this.#story };
  }

  async #live(): Promise<void> {
    await this.disks.make();
    const count = 1 + this.randomly.below(3);
    const onlyFields = this.randomly.below(5) === 0;
    for (let index = 0; index < count; index++) {
      const [name, target] = [`node.volume-${index}`, this.#node.target(`${index}`)];
      this.#volumes.push(new Wanted({ name, target, onlyFields }, this.disks, this.randomly));
    }
    for (const disk of this.disks.disks) this.#tell(`${disk.name} is ${disk.device}: ${disk.contents}`);
    await this.#settle();
    for (let round = 0; round < rounds; round++) {
      this.#node.want(...this.#volumes.map((volume) => volume.intent));
      await this.#act();
      await this.#keepData();
      await this.#decide();
    }
  }

  /** The agent does what it can, one thing after another, so that it is known what it does while somebody acts. */
  async #act(): Promise<void> {
    for (let done = 0; done < operationsOfRound; done++) {
      const { operations } = await this.#node.plan();
      const [operation] = operations;
      if (operation === undefined) return;
      await this.#step("plan");
      const before = this.#changes();
      await this.#node.run(operation);
      const volume = this.#volumes.find(({ name }) => name === operation.volume);
      if (volume !== undefined) volume.lookedAt = this.#changes().filter((disk) => before.includes(disk));
      await this.#check(`${operation.kind} of ${operation.volume}`);
      await this.#settle();
      await this.#tellOf(operation);
    }
  }

  /** People read what failed, and change what they want. */
  async #decide(): Promise<void> {
    const { volumes } = await this.#node.plan();
    for (const volume of this.#volumes) {
      const message = volumes.get(volume.name)?.failure?.message ?? "";
      const named = /destroyAllDataOnDevices: (\S+)$/.exec(message)?.[1];
      if (named !== undefined && this.randomly.below(3) > 0) this.#giveAway(volume, named);
      else if (volume.naming !== "fields" && this.randomly.below(8) === 0) volume.deleting = !volume.deleting;
      volume.change();
    }
    if (this.randomly.below(4) === 0) await this.#node.restart();
    this.#node.forgetFailures();
    await this.#settle();
  }

  /** Who names a device and what is on it gives that away: as the message has named it, and nothing that has come since. */
  #giveAway(volume: Wanted, named: string): void {
    const { disks } = this.disks;
    const at = disks.findIndex(({ device }) => named.startsWith(`${numberOf(device)}@`));
    const [disk, now] = [disks[at], this.#changes()[at]];
    if (disk === undefined || now === undefined) return;
    volume.destroys = named;
    if (!volume.lookedAt.includes(now)) return;
    this.#tell(`${disk.name} is given away: ${named}`);
    this.#count("given away");
    disk.given = disk.changes;
  }

  /** Between two steps of the agent. */
  async #step(next: string): Promise<void> {
    if (this.randomly.below(100) >= this.#troubled) return;
    await this.#check(`what came before ${next}`);
    const name = this.randomly.one(this.#kinds);
    if (await troubles[name]?.(this)) {
      this.#count(name);
      this.#tell(`before ${next}: ${name}; ${this.#uses()}`);
    }
    await this.#settle();
  }

  /** Of each disk, which one it is, and how often what is on it has changed. */
  #changes(): string[] {
    return this.disks.disks.map(({ name, device, changes }) => `${name} ${device} ${changes}`);
  }

  #uses(): string {
    const texts = this.disks.disks.map(({ name, device, contents, users }) => {
      return `${name}=${device.slice(5)} ${contents} ${users.map(({ how }) => how).join("+")}`;
    });
    return texts.join(", ");
  }

  /** Fails nothing yet: the world goes on, and all harm is told. */
  async #check(after: string): Promise<void> {
    const { disks } = this.disks;
    const seen = await this.somebody.ask("look", { disks: disks.map((disk) => disk.lookedAt) });
    for (const [index, disk] of disks.entries()) {
      const now = seen[index];
      if (now === undefined) continue;
      const harm = harmTo(disk, now);
      if (harm !== undefined) this.#harm.push(`after ${after}: ${harm}`);
      note(disk, now);
      disk.seen = now;
    }
  }

  /** From here on the agent may do this. */
  async #settle(): Promise<void> {
    const { disks } = this.disks;
    const seen = await this.somebody.ask("look", { disks: disks.map((disk) => disk.lookedAt) });
    for (const [index, disk] of disks.entries()) {
      disk.leave = disk.leaveNow(this.isMounted(disk));
      disk.seen = seen[index];
    }
  }

  /** An mkfs is cut off or ends by itself now and then. @returns milliseconds after which it is killed */
  #cutOff(request: ChildRequest): number | "ends" | undefined {
    if (request.kind !== "format") return undefined;
    const chance = this.randomly.below(10);
    if (chance > 2) return undefined;
    const disk = this.disks.disks.find(({ device }) => numberOf(device) === request.device.deviceNumber);
    this.#count(chance === 0 ? "mkfs ends by itself" : "mkfs is cut off");
    if (chance === 0) return "ends";
    if (disk !== undefined) disk.cutOff = true;
    return 20 + this.randomly.below(80);
  }

  /** Pods write to the volumes that are mounted: that is somebody's data from now on. */
  async #keepData(): Promise<void> {
    for (const disk of this.disks.disks) {
      const number = numberOf(disk.device);
      const mount = this.#node.mounts().find((one) => one.device === number && one.fsType === "ext4");
      if (mount === undefined || disk.contents !== "volume") continue;
      const text = randomBytes(8192);
      const fd = openSync(`${mount.point}/data`, "w");
      writeSync(fd, text);
      fsyncSync(fd);
      closeSync(fd);
      const begin = text.subarray(0, 512).toString("hex");
      await this.#settle();
      const at = await this.somebody.ask("find", { path: disk.path, text: begin });
      if (at === null) continue;
      this.#tell(`${disk.name}: a pod has written at ${at}`);
      this.#count("a pod writes");
      disk.hasNow("fileSystem", [[at, text.length]]);
    }
    await this.#settle();
  }

  async #tellOf(operation: Operation): Promise<void> {
    const { failure } = (await this.#node.plan()).volumes.get(operation.volume) ?? {};
    this.#count(`${operation.kind}: ${failure?.reason ?? "done"}`);
    this.#tell(`${operation.kind} of ${operation.volume}: ${failure?.message ?? "done"}`);
    const record = (await this.#node.journal()).records.get(operation.volume);
    if (record?.seenDisks !== undefined) this.#looked.add(operation.volume);
  }

  async #end(): Promise<void> {
    this.#node.unmountAll();
    await endAll(this);
    await this.disks.takeAway();
    await this.#node[Symbol.asyncDispose]();
  }

  #tell(what: string): void {
    this.#story.push(`${(performance.now() - this.#begun).toFixed()} ms ${what}`);
  }

  #count(what: string): void {
    this.#happened.set(what, (this.#happened.get(what) ?? 0) + 1);
  }
}

function numberOf(device: string): string {
  return deviceNumberOf(statSync(device));
}
