import { writeFileSync } from "node:fs";
import { need, type Requirement } from "../asserts/requirements.ts";
import { loopDevice } from "./disks/loop-device.ts";
import { RealNode } from "./real-node.ts";

/** What a suite does with what each of its tests is given: it may be set up further. */
type Use<T extends readonly unknown[]> = (...given: T) => void | Promise<void>;

/** Gives each test of a suite something of its own, which is gone afterwards. @param needs beside root */
export function withEach<T extends AsyncDisposable>(
  of: { make(): T | Promise<T> },
  needs: readonly Requirement[],
  use: Use<[T]>,
): void {
  let made: T | undefined;
  before(function () {
    need(this, "root", ...needs);
  });
  beforeEach(async () => {
    made = await of.make();
    await use(made);
  });
  afterEach(async () => {
    await made?.[Symbol.asyncDispose]();
    made = undefined;
  });
}

/** Gives each test of a suite a node of its own with a file in `src`, which is gone afterwards. */
export function withNode(needs: readonly Requirement[], use: Use<[node: RealNode]>): void {
  const make = () => {
    const node = new RealNode();
    writeFileSync(`${node.path}/src/here`, "");
    return node;
  };
  withEach({ make }, needs, use);
}

/** Gives each test of a suite a node of its own, and the path of an empty disk of so many MiB. */
export function withDisk(
  megabytes: number,
  needs: readonly Requirement[],
  use: Use<[disk: string, node: RealNode]>,
): void {
  withNode(["loop-devices", ...needs], (node) =>
    use(node.keep(loopDevice(`${node.path}/disks`, "disk", megabytes)).path, node),
  );
}
