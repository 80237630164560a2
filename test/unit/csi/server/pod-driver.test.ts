import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { expect } from "chai";
import { PodVolumeError } from "../../../../src/csi/server/ports.ts";
import { withdrawPodDriver } from "../../../../src/csi/server/withdraw.ts";
import { DriverWorld } from "./driver-world.ts";
import { podUID, targetPath } from "./requests.ts";

describe("the driver csi.nodevolume.dev on its sockets", () => {
  let world: DriverWorld;
  beforeEach(() => {
    world = new DriverWorld();
  });
  afterEach(() => world.end());

  it("is found by kubelet, and says what it is", async () => {
    await world.start();
    const found = await world.kubelet.register(world.registration);
    expect(found).to.deep.equal({
      type: "CSIPlugin",
      name: "csi.nodevolume.dev",
      endpoint: world.endpoint,
      supportedVersions: ["1.0.0"],
      nodeID: "node-1",
    });
    expect(world.registrations).to.deep.equal([[true, undefined]]);
  });

  it("hears that kubelet refuses it", async () => {
    await world.start();
    await world.kubelet.register(world.registration, "conflicting\ndriver");
    const why = "kubelet refuses the driver csi.nodevolume.dev: conflicting\\x0adriver";
    expect(world.registrations).to.deep.equal([[false, why]]);
  });

  it("is for root alone, and kubelet sees no name of ours but these", async () => {
    await world.start();
    const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
    expect([world.endpoint, dirname(world.endpoint), world.registration].map(modeOf)).to.deep.equal([
      "600",
      "700",
      "600",
    ]);
    expect(readdirSync(world.registrationDir)).to.deep.equal(["csi.nodevolume.dev-reg.sock"]);
  });

  it("publishes, and takes back", async () => {
    await world.start();
    const published = world.kubelet.publish(world.endpoint);
    const first = await world.volumes.call(0);
    expect(first.target).to.deep.equal({
      podUID,
      volume: "data",
      path: targetPath,
      namespace: "team-a",
      podName: "web-0",
      wants: { set: "datasets" },
      readOnly: false,
      containersRead: false,
    });
    first.done();
    expect(await published).to.deep.equal(["OK", ""]);
    const back = world.kubelet.unpublish(world.endpoint, targetPath);
    (await world.volumes.call(1)).done();
    expect(await back).to.deep.equal(["OK", ""]);
  });

  it("says in the status what is missing, and why a volume is waited for", async () => {
    await world.start();
    expect(await world.kubelet.publish(world.endpoint, { attributes: { set: "a", readonly: "true" } })).to.deep.equal([
      "INVALID_ARGUMENT",
      "csi.volumeAttributes[readonly] is not known; there are set, persistentVolumeClaim, subPath, readOnly",
    ]);
    const published = world.kubelet.publish(world.endpoint);
    (await world.volumes.call(0)).fail(new PodVolumeError("waiting", "ClaimNotBound", "team-a/data waits"));
    expect(await published).to.deep.equal(["ABORTED", "ClaimNotBound: team-a/data waits"]);
  });

  it("ends the wait of a caller that goes", async () => {
    await world.start();
    const caller = new AbortController();
    const published = world.kubelet.publish(world.endpoint, {}, caller.signal);
    const { signal, fail } = await world.volumes.call(0);
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    caller.abort();
    await aborted;
    fail(new PodVolumeError("waiting", "ClaimNotBound", "undone"));
    expect((await published)[0]).to.equal("CANCELLED");
    await world.callEnded("NodePublishVolume CANCELLED");
  });

  it("ends a wait before its caller's time is over", async () => {
    await world.start();
    const published = world.kubelet.publish(world.endpoint, {}, undefined, 5_200);
    const { signal, fail } = await world.volumes.call(0);
    signal.addEventListener("abort", () => fail(new PodVolumeError("waiting", "ClaimNotBound", "it waits")));
    expect(await published).to.deep.equal(["ABORTED", "ClaimNotBound: it waits"]);
  });

  it("refuses to publish while the CSIDriver is changed", async () => {
    await world.start();
    world.object = { spec: { attachRequired: true } };
    const driver = await world.start(); // reads it anew
    const [code, words] = await world.kubelet.publish(world.endpoint);
    expect(code).to.equal("FAILED_PRECONDITION");
    expect(words).to.include(
      "CSIDriverWrong: the CSIDriver csi.nodevolume.dev is changed: attachRequired must be false",
    );
    driver.stop();
  });

  it("does nothing else", async () => {
    await world.start();
    for (const call of ["stage", "expand", "stats"] as const)
      expect((await world.kubelet[call](world.endpoint))[0], call).to.equal("UNIMPLEMENTED");
  });

  it("takes the place of sockets that a killed agent has left, and leaves its own when it ends", async () => {
    mkdirSync(dirname(world.endpoint), { recursive: true });
    for (const path of [world.endpoint, world.registration]) {
      const left = createServer();
      await new Promise<void>((resolve) => left.listen(path, resolve));
      left.close();
      writeFileSync(path, ""); // closing took the file away
    }
    const first = await world.start();
    first.stop();
    expect([world.endpoint, world.registration].map((path) => lstatSync(path).isSocket())).to.deep.equal([true, true]);
    await world.start();
    const published = world.kubelet.publish(world.endpoint);
    (await world.volumes.call(0)).done();
    expect(await published).to.deep.equal(["OK", ""]);
  });

  it("answers kubelet what it gives back while it ends, and takes no more calls then", async () => {
    const driver = await world.start();
    const back = world.kubelet.unpublish(world.endpoint, targetPath);
    const { done } = await world.volumes.call(0);
    const over = driver.end();
    done();
    expect(await back).to.deep.equal(["OK", ""]);
    await over;
    expect((await world.kubelet.unpublish(world.endpoint, targetPath))[0]).to.equal("UNAVAILABLE");
    expect(lstatSync(world.endpoint).isSocket()).to.equal(true);
  });

  it("goes altogether when pods shall not be served any more", async () => {
    const driver = await world.start();
    driver.stop();
    withdrawPodDriver(world.csiDir, world.registrationDir);
    expect(readdirSync(world.registrationDir)).to.deep.equal([]);
    withdrawPodDriver(world.csiDir, world.registrationDir); // nothing is there
  });

  it("says what keeps it from its sockets, and tries again", async () => {
    rmSync(world.registrationDir, { recursive: true });
    const started = world.start();
    await world.log.told("pods are not served");
    expect(String(world.log.of("pods are not served")?.["error"])).to.include("must be kubelet's plugins_registry");
    mkdirSync(world.registrationDir);
    await started;
  });
});
