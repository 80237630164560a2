import { expect } from "chai";
import { copiesOf } from "../../../../../src/agent/executor/csi/still-used.ts";
import type { ActionContext } from "../../../../../src/agent/executor/operation-context.ts";
import { MountTable } from "../../../../../src/host/mount-table/mount-table.ts";
import { type Holder, PinnedUnknown } from "../../../../../src/host/ports/evidence.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";

describe("copies of what a driver published", () => {
  it("are none that go by themselves, also where a namespace cannot be read", async () => {
    const path = "/csi/a";
    const table = new MountTable([entry({ id: 1, point: "/" }), entry({ id: 2, parent: 1, point: path })]);
    const at = (namespace: string, more: Partial<Holder> = {}): Holder => {
      return { pid: 9, command: "x", mountPoint: path, namespace, ...more };
    };
    const all = [at("mnt:[1]", { onNode: true, private: true }), at("mnt:[2]"), at("mnt:[3]", { private: true })];
    const unread = new PinnedUnknown("a file keeps mnt:[7]", ["mnt:[7]"]);
    const fake = (mountedOn: () => Promise<readonly Holder[]>) =>
      ({ host: { mountTable: { read: async () => table }, evidence: { mountedOn } } }) as unknown as ActionContext;
    const of = (holders: readonly Holder[]) => holders.map(({ namespace }) => namespace);
    expect(
      of(
        await copiesOf(
          fake(async () => all),
          path,
        ),
      ),
    ).to.deep.equal(["mnt:[3]"]);
    const error = await copiesOf(
      fake(() => Promise.reject(unread.beside(all))),
      path,
    ).catch((thrown: unknown) => thrown);
    expect(error).to.be.an.instanceOf(PinnedUnknown);
    expect(of((error as PinnedUnknown).holders)).to.deep.equal(["mnt:[3]"]);
    expect((error as PinnedUnknown).namespaces).to.deep.equal(["mnt:[7]"]);
  });
});
