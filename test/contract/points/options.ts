import { expect } from "chai";
import type { Point } from "../point.ts";

export const options: Point = {
  name: "options",
  title: "a change of options is followed, and the same in other words is no change",
  asks: ({ kind }) => kind !== "device", // it takes none
  async holds(bench) {
    const { node, of, targets } = bench;
    await bench.setUp();
    const wanted = (mountOptions: ("noexec" | "noatime" | "nosuid")[], own: readonly string[] | undefined) =>
      bench.intent({ mounts: targets.map((path) => ({ path, mountOptions })), ...(own && { mountOptions: [...own] }) });
    node.want(wanted(["noexec", "noatime"], of.spec?.mountOptions));
    await bench.isSetUp();
    for (const path of targets) expect(node.mountAt(path)?.options).to.include.members(["noexec", "noatime"]);
    const before = node.done.length;
    node.want(wanted(["noatime", "nosuid", "noexec"], of.sameOptions ?? of.spec?.mountOptions?.toReversed()));
    await bench.isSetUp();
    expect(node.done.slice(before)).to.deep.equal([]);
  },
};
