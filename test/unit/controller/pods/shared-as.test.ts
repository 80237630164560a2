import { expect } from "chai";
import { sharedAs } from "../../../../src/controller/pods/admit-pods.ts";
import { setEntry } from "../objects.ts";
import { oneNode } from "../one-node.ts";
import { ours, pod } from "./pod-objects.ts";
import { forPods } from "./pod-worlds.ts";

const names = ["team"];
const ro = { path: "/mnt/nodevolume/ro", readOnly: true };
const rw = { path: "/mnt/nodevolume/rw" };
const named = (...mounts: object[]) => mounts.map((mount, at) => ({ name: `m${at}`, ...mount }));

describe("how pods get the volume of a set", () => {
  const memory = { source: { emptyDir: { medium: "Memory" } } };
  const directory = { source: { local: { path: "/srv/data" } } };
  const table: readonly [string, object, object][] = [
    ["a hostPath", { volume: { source: { hostPath: { path: "/etc/ssl" } } } }, { readOnly: true }],
    ["a local directory", { volume: directory }, { readOnly: true }],
    ["a local device, by its file system", { volume: { ...directory, fsType: "ext4" } }, { readOnly: false }],
    ["a local device, by its name", { volume: { source: { local: { path: "/dev/sdb" } } } }, { readOnly: false }],
    ["a directory in /dev", { volume: { source: { local: { path: "/dev/shm/a" } } } }, { readOnly: true }],
    ["what is the set's own, without mounts", { volume: memory }, { readOnly: false }],
    [
      "what all mounts of the set only read",
      { volume: memory, mounts: named(ro, { ...ro, path: "/mnt/nodevolume/too" }) },
      { readOnly: true },
    ],
    ["what one of them writes", { volume: memory, mounts: named(ro, rw) }, { readOnly: false }],
    [
      "a hostPath that the set gives to be written",
      { volume: { source: { hostPath: { path: "/srv" } } }, allowedNamespaces: { names, readOnly: false } },
      { readOnly: false },
    ],
    [
      "what the set gives read-only",
      { volume: memory, allowedNamespaces: { names, readOnly: true } },
      { readOnly: true },
    ],
    [
      "without programs, where no mount of the set has any",
      { volume: memory, mounts: named({ ...rw, mountOptions: ["noexec"] }, { ...ro, mountOptions: ["noexec"] }) },
      { readOnly: false, noexec: true },
    ],
    [
      "with programs, where one mount of the set has them",
      { volume: memory, mounts: named({ ...rw, mountOptions: ["noexec"] }, ro) },
      { readOnly: false },
    ],
  ];
  for (const [what, more, expected] of table) {
    it(what, () => {
      const { spec } = setEntry("a", { spec: { allowedNamespaces: { names }, mounts: [], ...more } });
      expect(sharedAs(spec ?? expect.fail("not understood"))).to.deep.equal(expected);
    });
  }

  const asked = (attributes: object = {}) => pod("team/p", { volumes: [ours({ set: "a", ...attributes })] });
  const readOnly = (world: ReturnType<typeof oneNode>) => world.intent("share").spec.pods?.map((one) => one.readOnly);

  it("is in the intent, and follows the set; a pod that asks to read only reads", () => {
    const given = (more: object) => forPods("a", { allowedNamespaces: { names, ...more } });
    const world = oneNode([given({})]);
    world.pods = [asked()];
    world.settle();
    expect(readOnly(world)).to.deep.equal([true]);
    world.sets = [given({ readOnly: false })];
    world.settle();
    expect(readOnly(world)).to.deep.equal([false]);
    world.pods = [asked({ readOnly: "true" })];
    world.settle();
    expect(readOnly(world)).to.deep.equal([true]);
  });

  it("stays as it is while the set is not understood", () => {
    const world = oneNode([forPods("a", { allowedNamespaces: { names, readOnly: false } })]);
    world.pods = [asked()];
    world.settle();
    const [set] = world.sets;
    world.sets = [{ metadata: set?.metadata ?? expect.fail("no set") } as typeof set & object];
    world.settle();
    expect(readOnly(world)).to.deep.equal([false]);
  });
});
