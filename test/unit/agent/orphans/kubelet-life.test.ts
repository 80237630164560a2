import { expect } from "chai";
import { KubeletLife } from "../../../../src/agent/orphans/kubelet-life.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

describe("KubeletLife", () => {
  function world() {
    const system = virtualSystem();
    const state: { renewed: number | Error } = { renewed: 0 };
    const get = async () => {
      if (state.renewed instanceof Error) throw state.renewed;
      return { metadata: { name: "n" }, spec: { renewTime: `${state.renewed}` } };
    };
    const client = { get: get as unknown as KubeClient["get"] };
    const life = new KubeletLife({ clock: system.clock, client, nodeName: "n" });
    const later = async (ms: number, renewed: number | Error) => {
      await system.advance(ms);
      state.renewed = renewed;
      await life.look();
      return life.alive;
    };
    return { life, later };
  }

  it("takes nothing for alive before it has seen it renew its Lease", async () => {
    const { later } = world();
    expect(await later(0, 1)).to.contain("it may be down");
    expect(await later(20_000, 1)).to.contain("it may be down");
    expect(await later(20_000, 2)).to.equal(0);
    expect(await later(20_000, 3)).to.equal(20_000);
  });

  it("begins anew after a pause, whatever the Lease says of the time", async () => {
    const { life, later } = world();
    await later(0, 1);
    await later(20_000, 2);
    expect(await later(60_000, 2), "still within the pause").to.equal(60_000);
    expect(await later(1, 2)).to.contain("it may be down");
    expect(await later(0, 3), "it is back").to.equal(0);
    expect(await later(20_000, new Error("refused"))).to.equal(20_000);
    expect(await later(60_000, new Error("refused"))).to.contain("cannot be read: refused");
    expect(life.alive).to.be.a("string");
  });
});
