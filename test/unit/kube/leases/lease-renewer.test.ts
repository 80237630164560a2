import { expect } from "chai";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { microTime } from "../../../../src/kube/leases/lease.ts";
import { createLeaseRenewer } from "../../../../src/kube/leases/lease-renewer.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createLeaseRenewer", () => {
  function story() {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    let renewals = 0;
    const renewer = createLeaseRenewer({
      system,
      client: createKubeClient({ transport: api, fieldManager: "agent" }),
      namespace: "nodevolume-system",
      name: "n1",
      onRenewed: () => {
        renewals += 1;
      },
    });
    const spec = () => api.object("leases", "nodevolume-system/n1")?.spec as { [key: string]: unknown };
    return { system, api, renewer, spec, renewals: () => renewals };
  }

  it("creates the lease, and renews it twice a minute", async () => {
    const { system, api, renewer, spec } = story();
    renewer.start();
    await system.advance(100);
    expect(spec()).to.deep.equal({
      holderIdentity: "n1",
      leaseDurationSeconds: 180,
      // The answer to the read took 1 ms.
      renewTime: microTime(1_700_000_000_001),
    });
    await system.advance(600_000);
    expect(api.writes.length).to.equal(21);
    expect(spec()["renewTime"]).to.equal(microTime(1_700_000_000_000 + 600_000 + 21));
  });

  it("tries again soon after a failure, and takes over what another wrote", async () => {
    const { system, api, renewer, renewals } = story();
    renewer.start();
    await system.advance(100);
    api.patch("leases", "nodevolume-system/n1", { metadata: { labels: { a: "b" } } });
    await system.advance(41_000);
    expect(renewals()).to.equal(2);
    expect(api.object("leases", "nodevolume-system/n1")?.metadata.labels).to.deep.equal({ a: "b" });
  });

  it("creates the lease again when it was deleted", async () => {
    const { system, api, renewer, spec } = story();
    renewer.start();
    await system.advance(100);
    api.remove("leases", "nodevolume-system/n1");
    await system.advance(41_000);
    expect(spec()["holderIdentity"]).to.equal("n1");
  });

  it("stop leaves the lease and no timer", async () => {
    const { system, renewer, spec } = story();
    renewer.start();
    await system.advance(100);
    await renewer.stop();
    expect(spec()["holderIdentity"]).to.equal("n1");
    expect(system.pendingTimers).to.equal(0);
  });
});
