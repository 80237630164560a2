import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { Operation } from "../../../src/agent/model/operation.ts";
import type { ChildRequest } from "../../../src/host/linux/child/child-protocol.ts";
import { ChildRunner } from "../../../src/host/linux/child/child-runner.ts";
import { LinuxDevices } from "../../../src/host/linux/device/linux-devices.ts";
import { Randomly } from "../builders/randomly.ts";
import { RealNode } from "../kernel/real-node.ts";
import { Checker } from "./checker.ts";
import type { Content } from "./contents.ts";
import { type Disk, numberOf } from "./disk.ts";
import { DisksOfWorld } from "./disks-of-world.ts";
import type { Focus } from "./focus.ts";
import { MkfsEndings } from "./mkfs-endings.ts";
import type { Somebody } from "./somebody.ts";
import { endAll, ofCutOff, type TroubledWorld, troubles } from "./trouble.ts";
import { type Placed, Wanted } from "./wanted.ts";

const operationsOfRound = 6;
/** Kinds of trouble that there are in one world: of few kinds, each comes often enough to meet what it needs. */
const kindsOfWorld = 5;

export interface WorldOf {
  readonly somebody: Somebody;
  readonly contents: readonly Content[];
  /** Of worlds that live beside each other: their disks have other sizes. */
  readonly place: number;
  /** Absent: of everything there is some. */
  readonly focus?: Focus | undefined;
  /** One disk of each kind, a volume for each, and nobody who does anything: what the agent does then is known. */
  readonly plain?: boolean;
}

/** What one world has shown. */
export interface Shown {
  readonly seed: number;
  readonly harm: readonly string[];
  /** What happened, and how often: of somebody and of the agent. */
  readonly happened: ReadonlyMap<string, number>;
  readonly story: readonly string[];
}

/**
 * Disks of other people, an agent that wants some, and somebody who does something to them between any two of its
 * steps.
 */
export class World implements TroubledWorld {
  readonly randomly: Randomly;
  readonly somebody: Somebody;
  readonly disks: DisksOfWorld;
  readonly #node = new RealNode();
  readonly #checker: Checker;
  readonly #mkfs: MkfsEndings;
  readonly #happened = new Map<string, number>();
  readonly #story: string[] = [];
  readonly #begun = performance.now();
  readonly #kinds: readonly string[];
  readonly #focus: Focus | undefined;
  readonly #plain: boolean;
  /** In a hundred steps of the agent, those before which somebody does something. */
  readonly #troubled: number;
  /** How often the agent tries, in worlds in which mkfs are cut off often enough that some are again. */
  readonly #rounds: number;
  #volumes: Wanted[] = [];
  #looked = new Set<string>();

  constructor(seed: number, { somebody, contents, place, focus, plain = false }: WorldOf) {
    this.randomly = new Randomly(seed);
    this.somebody = somebody;
    [this.#focus, this.#plain] = [focus, plain];
    const kinds = Array.from({ length: kindsOfWorld }, () => this.randomly.one(Object.keys(troubles)));
    this.#kinds = focus?.troubles ?? ["open", ...kinds]; // what most depends on
    this.#troubled = plain ? 0 : focus === undefined ? 10 + this.randomly.below(60) : 70;
    const of = { disks: () => this.disks.disks, count: (what: string) => this.#count(what) };
    this.#checker = new Checker({ ...of, somebody });
    this.#mkfs = new MkfsEndings({ ...of, randomly: this.randomly, most: focus?.mkfs, none: plain });
    this.#rounds = this.#mkfs.often || focus !== undefined ? 5 : 3;
    const own = contents.filter(({ path }) => focus?.content === undefined || path.endsWith(`/${focus.content}`));
    this.disks = new DisksOfWorld(this.#node.path, { somebody, randomly: this.randomly, contents: own, place });
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

  async isRestKnown(disk: Disk): Promise<boolean> {
    const { records } = await this.#node.journal();
    return this.#mkfs.isRestKnown(
      disk,
      [...records.values()].flatMap(({ formatting }) => formatting ?? []),
    );
  }

  async run(): Promise<Shown> {
    const { run } = ChildRunner.prototype;
    const { format } = LinuxDevices.prototype;
    const world = this;
    ChildRunner.prototype.run = async function (this: ChildRunner, request, operation, options) {
      await world.#step(request.kind === "mounter" ? request.method : request.kind);
      world.#noteRead(request, operation.volume);
      return world.#mkfs.run(request, (replaced, how) => run.call(this, replaced, { ...operation, ...how }, options));
    };
    LinuxDevices.prototype.format = function (this: LinuxDevices, ...args) {
      return world.#mkfs.during(args[3].identity, () => format.apply(this, args));
    };
    try {
      await this.#live();
    } catch (cause) {
      throw new Error([`NODEVOLUME_DISK_SEED=${this.randomly.seed}`, ...this.#story].join("\n    "), { cause });
    } finally {
      ChildRunner.prototype.run = run;
      LinuxDevices.prototype.format = format;
      await this.#end();
    }
    return { seed: this.randomly.seed, harm: this.#checker.harm, happened: this.#happened, story: this.#story };
  }

  async #live(): Promise<void> {
    if (this.#plain) await this.#makePlain();
    else await this.#make();
    for (const disk of this.disks.disks) this.#tell(`${disk.name} is ${disk.device}: ${disk.contents}`);
    await this.#settle();
    if (this.#plain) return this.#round();
    for (let round = 0; round < this.#rounds; round++) {
      await this.#round();
      await this.#decide();
    }
  }

  async #make(): Promise<void> {
    const { naming } = this.#focus ?? {};
    await this.disks.make(this.#focus);
    const count = 1 + this.randomly.below(3);
    const onlyFields = naming === undefined && this.randomly.below(5) === 0;
    for (let index = 0; index < count; index++) this.#want({ onlyFields, naming });
  }

  async #makePlain(): Promise<void> {
    await this.disks.makeOneOfEach();
    const { disks, aliases } = this.disks;
    const named = disks.filter(({ users }) => users.every(({ how }) => how !== "alias")).map(({ device }) => device);
    for (const device of [...named, ...aliases]) this.#want({ onlyFields: false, naming: "device", device });
    this.#want({ onlyFields: true, naming: "label" });
  }

  #want(how: Pick<Placed, "onlyFields" | "naming" | "device">): void {
    const index = this.#volumes.length;
    const [name, target] = [`node.volume-${index}`, this.#node.target(`${index}`)];
    this.#volumes.push(new Wanted({ ...how, name, target }, this.disks, this.randomly));
  }

  async #round(): Promise<void> {
    this.#node.want(...this.#volumes.map((volume) => volume.intent));
    await this.#act();
    await this.#keepData();
  }

  /**
   * The agent does what it can, one thing after another, so that it is known what it does while somebody acts. What
   * fails is tried again in the next round, however long this one takes: a slow machine lives in the same world.
   */
  async #act(): Promise<void> {
    const now = performance.now();
    for (let done = 0; done < operationsOfRound; done++) {
      const { operations } = await this.#node.plan(now);
      const [operation] = operations;
      if (operation === undefined) return;
      await this.#step("plan");
      await this.#node.run(operation);
      await this.#checker.check(`${operation.kind} of ${operation.volume}`);
      await this.#settle();
      await this.#tellOf(operation);
    }
  }

  /** People read what failed, and change what they want. */
  async #decide(): Promise<void> {
    const { volumes } = await this.#node.plan();
    for (const volume of this.#volumes) {
      const message = volumes.get(asVolumeName(volume.name))?.failure?.message ?? "";
      const named = /destroyAllDataOnDevices: (\S+)$/.exec(message)?.[1];
      if (named !== undefined && this.randomly.below(3) > 0) this.#giveAway(volume, named);
      else if (volume.naming !== "fields" && this.randomly.below(8) === 0) volume.deleting = !volume.deleting;
      volume.change();
    }
    if (this.randomly.below(4) === 0) await this.#node.restart();
    this.#node.forgetFailures();
    await this.#settle();
  }

  /**
   * Who names a device and what is on it gives that away: as the message has named it, and nothing that has come since.
   * It is the disk that was read there, which may be elsewhere by now, and be there again later.
   */
  #giveAway(volume: Wanted, named: string): void {
    volume.destroys = named;
    const read = [...volume.read].find(([device]) => named.startsWith(`${numberOf(device)}@`));
    if (read === undefined) return;
    const [device, { disk, changes }] = read;
    if (disk.changes !== changes) return;
    this.#tell(`${disk.name} is given away: ${named}`);
    this.#count("given away");
    disk.given = { device, changes };
  }

  /** Between two steps of the agent. */
  async #step(next: string): Promise<void> {
    if (this.#focus?.before?.includes(next) === false || this.randomly.below(100) >= this.#troubled) return;
    await this.#checker.check(`what came before ${next}`);
    const cutOff = this.#focus === undefined && this.disks.disks.some((disk) => disk.cutOff !== undefined);
    const name = this.randomly.one(cutOff ? [...this.#kinds, ...ofCutOff] : this.#kinds);
    if (await troubles[name]?.(this)) {
      this.#count(name);
      this.#tell(`before ${next}: ${name}; ${this.#uses()}`);
    }
    await this.#settle();
  }

  #uses(): string {
    const texts = this.disks.disks.map(({ name, device, contents, users }) => {
      return `${name}=${device.slice(5)} ${contents} ${users.map(({ how }) => how).join("+")}`;
    });
    return texts.join(", ");
  }

  #settle(): Promise<void> {
    const labels = this.#volumes.flatMap(({ label }) => label ?? []);
    return this.#checker.settle((disk) => disk.leaveNow(this.isMounted(disk), labels));
  }

  #noteRead(request: ChildRequest, name: string | undefined): void {
    if (request.kind !== "probe") return;
    const volume = this.#volumes.find((one) => one.name === name);
    for (const disk of this.disks.disks.filter(({ device }) => device === request.path)) {
      disk.read = { changes: disk.changes, used: disk.mayBeWritten };
      volume?.read.set(request.path, { disk, changes: disk.changes });
    }
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
    for (const disk of this.disks.disks)
      if (failure?.reason === "DeviceBusy" && failure.message.startsWith(`${disk.device} `) && disk.read.used)
        disk.leaveEnded = true;
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
