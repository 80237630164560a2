import { mkdirSync, symlinkSync } from "node:fs";
import type { Randomly } from "../builders/randomly.ts";
import { anyData, anyPlace, type Content, piece } from "./contents.ts";
import { Disk } from "./disk.ts";
import type { Focus } from "./focus.ts";
import { Refused, type Somebody } from "./somebody.ts";

const MiB = 1024 * 1024;
const KiB = 1024;

interface MadeOf {
  readonly somebody: Somebody;
  readonly randomly: Randomly;
  readonly contents: readonly Content[];
  readonly place: number;
}

/** What makes the disks of one world, with what is on them. */
export class DisksOfWorld {
  readonly disks: Disk[] = [];
  /** Links that volumes name disks by. */
  readonly links: string[] = [];
  /** Loop devices that are second names of disks for as long as the world is there. */
  readonly aliases: string[] = [];
  readonly least: number;
  readonly #directory: string;
  readonly #somebody: Somebody;
  readonly #randomly: Randomly;
  readonly #contents: readonly Content[];
  #made = 0;

  constructor(directory: string, { somebody, randomly, contents, place }: MadeOf) {
    this.#directory = directory;
    this.#somebody = somebody;
    this.#randomly = randomly;
    this.#contents = contents;
    this.least = (13 + 4 * place) * MiB + 4 * KiB * (1 + randomly.below(700)); // no disk beside them is as large
    mkdirSync(`${directory}/names`);
  }

  /** Bytes that each small disk of this world has at most. */
  get most(): number {
    return this.least + MiB;
  }

  async make({ disks, naming }: Pick<Focus, "disks" | "naming"> = {}): Promise<void> {
    if (disks === undefined) await this.#makeAny();
    else for (const which of disks) await this.#makeOne(which);
    if (naming === "alias" || (disks === undefined && this.#randomly.below(4) === 0))
      await this.#nameTwice(this.#randomly.one(this.disks));
    this.#link();
  }

  async #makeOne(which: "empty" | "filled"): Promise<void> {
    const disk = await this.attach();
    if (which === "filled") await this.#fill(disk);
  }

  async #makeAny(): Promise<void> {
    const randomly = this.#randomly;
    const count = 2 + randomly.below(3);
    for (let index = 0; index < count; index++) {
      const disk = await this.attach(randomly.below(6) === 0 ? 150 * MiB : 0);
      if (randomly.below(2) === 0) await this.#fill(disk);
      else if (randomly.below(6) === 0) await this.#divide(disk);
    }
    if (randomly.below(5) === 0) await this.#addZram();
  }

  /** One disk of each kind that the agent meets: nobody's, with data, and in use. */
  async makeOneOfEach(): Promise<void> {
    await this.attach();
    await this.write(await this.attach());
    const used = await this.attach();
    used.users.push({ how: "writes", by: await this.#somebody.ask("open_as", { device: used.device, how: "writes" }) });
    await this.#nameTwice(await this.attach());
    this.#link();
  }

  /** A loop device that stays, as kubelet makes one on each raw volume. */
  async #nameTwice(disk: Disk): Promise<void> {
    const alias = await this.#somebody.ask("attach", { path: disk.device });
    disk.users.push({ how: "alias", by: alias });
    this.aliases.push(alias);
  }

  #link(): void {
    const devices = [...this.disks.map(({ device }) => device), ...this.aliases];
    for (const [index, device] of devices.entries()) {
      const link = `${this.#directory}/names/disk-${index}`;
      symlinkSync(device, link);
      this.links.push(link);
    }
  }

  /** One more disk, with nothing on it. No two have the same size. */
  async attach(more = 0): Promise<Disk> {
    const name = `disk-${this.#made}`;
    const size = this.least + more + 8 * KiB * this.#made++;
    const path = `${this.#directory}/disks/${name}`;
    await this.#somebody.ask("make", { path, size });
    const disk = new Disk({ name, size, path, device: await this.#somebody.ask("attach", { path }) });
    this.disks.push(disk);
    return disk;
  }

  /** Puts something of somebody's on it. */
  async #fill(disk: Disk): Promise<void> {
    const content = this.contentFor(disk);
    if (content !== undefined && this.#randomly.below(3) > 0) return this.copy(content, disk);
    return this.write(disk);
  }

  contentFor({ begin, end, size }: Disk, kind?: Content["contents"]): Content | undefined {
    const wanted = this.#contents.filter(({ contents }) => kind === undefined || contents === kind);
    const fitting = wanted.filter(({ bytes }) => bytes <= end - begin && bytes > size / 16);
    return fitting.length === 0 ? undefined : this.#randomly.one(fitting);
  }

  async copy({ path, places, contents, label }: Content, disk: Disk): Promise<void> {
    await this.#somebody.ask("copy", { path, device: disk.device });
    disk.hasNow(
      contents,
      places.map(([at, length]) => [disk.begin + at, length]),
      label,
    );
  }

  /** @param id of who has it open */
  async write(disk: Disk, id?: number): Promise<void> {
    const at = anyPlace(disk.end - disk.begin, this.#randomly);
    await this.#somebody.ask("write", { device: disk.device, at, data: anyData(), ...(id !== undefined && { id }) });
    disk.hasNow("data", [[disk.begin + at, piece]]);
  }

  /** One partition up to its end. */
  async #divide(disk: Disk): Promise<void> {
    const { size, path } = disk;
    const start = MiB;
    const device = await this.#somebody.ask("partition", { device: disk.device, start, length: size - start });
    disk.users.push({ how: "partition", by: disk.device });
    const whole = new Disk({ name: disk.name, size, path, device: disk.device, end: start });
    whole.users.push(...disk.users);
    this.disks[this.disks.indexOf(disk)] = whole;
    this.disks.push(new Disk({ name: `${disk.name}p1`, size, path, device, begin: start, end: size, whole }));
  }

  async #addZram(): Promise<void> {
    const size = this.least;
    try {
      const device = await this.#somebody.ask("zram", { size });
      this.disks.push(new Disk({ name: "zram", size, device, path: device }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // the kernel has none
    }
  }

  /** Gives everything back to the kernel: nobody uses it any more. */
  async takeAway(): Promise<void> {
    for (const device of this.aliases) await this.#somebody.ask("detach", { device });
    for (const { device, whole, path } of this.disks) {
      if (device === path) await this.#somebody.ask("no_zram", { device });
      else if (whole !== undefined) await this.#somebody.ask("no_partition", { device: whole.device });
    }
    for (const { device, whole, path } of this.disks)
      if (device !== path && whole === undefined) await this.#somebody.ask("detach", { device });
  }
}
