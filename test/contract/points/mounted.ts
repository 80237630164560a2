import { expect } from "chai";
import { sourceType } from "../../../src/plugins/registry.ts";
import type { Point } from "../point.ts";

export const mounted: Point = {
  name: "mounted",
  title: "is mounted on each target as the kernel's table shows, and then nothing is left to do",
  async holds(bench) {
    const { node, of, source, targets } = bench;
    expect(Object.keys(source)).to.deep.equal([sourceType(source)]);
    await bench.setUp();
    const [rw, ro] = targets.map((path) => node.mountAt(path));
    const devices = of.kind === "device" ? [] : ["nodev"];
    expect(rw?.options).to.include.members(["nosuid", ...devices, of.readOnly ? "ro" : "rw"]);
    expect(ro?.options).to.include(of.kind === "device" ? "rw" : "ro");
    const { fsType, source: from = /^/, options = [] } = of.table ?? { fsType: rw?.fsType ?? "" };
    for (const mount of [rw, ro]) {
      expect(mount?.fsType).to.equal(fsType);
      expect(mount?.source).to.match(from);
      const is = (option: string | RegExp) => (text: string) =>
        typeof option === "string" ? text === option : option.test(text);
      const missing = options.filter((option) => mount?.superOptions.some(is(option)) !== true);
      expect(missing, `of ${mount?.superOptions.join(",")}`).to.deep.equal([]);
    }
    const before = node.done.length;
    await node.converge();
    expect(node.done.slice(before)).to.deep.equal([]);
  },
};
