import type { Superblock } from "./superblock.ts";

/** A block device: what is on it survives everything but being formatted. */
export class Disk {
  readonly name: string;
  /** `major:minor`, which another boot may give anew. */
  number: string;
  sizeBytes = 2 ** 30;
  /** Of the file system that is on it, which may be smaller. */
  filesystemBytes = 2 ** 30;
  /** The file system that is on it, with its files. */
  filesystem: Superblock | undefined;
  /** Bytes that are no file system. */
  garbage = false;
  /** They are what an mkfs of the agent's that was killed has left. */
  cutOff = false;
  /** Somebody outside of file systems who has it open exclusively. */
  holder: string | undefined;
  /** Whoever asks the device for something waits until this is false again. */
  hung = false;
  readonly #onRelease: (() => void)[] = [];

  constructor(name: string, number: string) {
    this.name = name;
    this.number = number;
  }

  /** What tells it from every other disk, on whatever number it is. */
  get serial(): string {
    return `serial-of-${this.name}`;
  }

  get empty(): boolean {
    return this.filesystem === undefined && !this.garbage;
  }

  get mounted(): boolean {
    return (this.filesystem?.references ?? 0) > 0;
  }

  /** Calls `action` when the device answers: now, or once it is no longer hung. */
  whenAnswering(action: () => void): void {
    if (this.hung) this.#onRelease.push(action);
    else action();
  }

  release(): void {
    this.hung = false;
    for (const action of this.#onRelease.splice(0)) action();
  }
}
