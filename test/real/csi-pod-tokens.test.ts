import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { asMountPath } from "../../src/agent/model/identities.ts";
import { VolumeError } from "../../src/errors.ts";
import { tokensFor } from "../lib/fakes/pod-tokens.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

const key = "csi.storage.k8s.io/serviceAccount.tokens";
const info = (name: string) => `csi.storage.k8s.io/${name}`;
/** Longer than any target waits for the next publish. */
const aMinute = 76_000;

describe("a CSI driver that acts as the pod, on the real kernel (behaviour 109, decision 0041)", () => {
  let there: DriverNode;
  let generation = 0;
  withDriverNode((given) => {
    there = given;
  });
  const audiences = ["vault"];
  const at = (uid: string) => there.node.pods.target(uid);
  const volumeOf = (uids: readonly string[], of: object = {}, more: object = {}) => {
    const pods = uids.map((uid) => ({ uid, name: `pod-${uid}`, namespace: "team", volume: "data", readOnly: false }));
    const asks = { tokenAudiences: audiences, podInfoOnMount: true, requiresRepublish: true };
    return there.volume({ mounts: [], pods, of: { ...asks, ...of }, generation: ++generation, ...more });
  };
  const want = (...args: Parameters<typeof volumeOf>) => there.node.want(volumeOf(...args));
  /** kubelet hands over a token of the pod. */
  const hand = (uid: string, signature: string, until?: string) =>
    there.node.pods.hand(uid, audiences, { vault: signature }, ...(until === undefined ? [] : [until]));
  const ask = (uid: string, signature: string) => {
    hand(uid, signature);
    there.node.pods.ask(uid);
    return there.node.volume(volumeName);
  };
  const publishes = () => there.driver.requests.filter(({ call }) => call === "publish");
  /** Whose publish path, with which tokens: one a call. */
  const given = async () => {
    const targets = (await there.record())?.targets ?? [];
    return publishes().map(({ targetPath, volumeContext, secrets }) => {
      const whose = targets.find(({ published }) => published?.path === targetPath)?.pod?.uid;
      const all = [(volumeContext as Map<string, string>).get(key), (secrets as Map<string, string>).get(key)];
      return [whose, ...all];
    });
  };
  const problem = async (uid: string) =>
    (await there.node.volume(volumeName)).problems.targets.get(asMountPath(at(uid)))?.reason;

  it("gets for each pod its own tokens and name, and those of no other", async () => {
    want(["a", "b"]);
    await ask("a", "1");
    await ask("b", "2");
    expect(await given()).to.deep.equal([
      ["a", tokensFor("a", { vault: "1" }), undefined],
      ["b", tokensFor("b", { vault: "2" }), undefined],
    ]);
    for (const [i, uid] of ["a", "b"].entries()) {
      expect(Object.fromEntries(publishes()[i]?.["volumeContext"] as Map<string, string>)).to.deep.equal({
        [info("ephemeral")]: "false",
        [info("pod.name")]: `pod-${uid}`,
        [info("pod.namespace")]: "team",
        [info("pod.uid")]: uid,
        [info("serviceAccount.name")]: `of-${uid}`,
        [key]: tokensFor(uid, { vault: `${i + 1}` }),
      });
    }
    const [stage] = there.driver.requests;
    expect(stage).to.deep.include({ call: "stage", volumeContext: new Map(), secrets: new Map() });
    const written = readFileSync(`${there.node.stateDir}/journal`, "utf8") + there.node.log.join();
    const [token = ""] = tokensFor("a", { vault: "1" }).match(/eyJ[\w.-]+/) ?? [];
    expect(token).to.have.length.above(40);
    expect(written).to.include("pod-a").and.not.include(token.slice(0, 20));
  });

  it("gets them among the secrets where it asks for that, beside its own", async () => {
    there.node.secrets.set("publish", new Map([["login", "x"]]));
    const nodePublishSecretRef = { namespace: "team", name: "publish" };
    want(["a"], { serviceAccountTokenInSecrets: true, podInfoOnMount: false, nodePublishSecretRef });
    await ask("a", "1");
    const [first] = publishes();
    expect(Object.fromEntries(first?.["secrets"] as Map<string, string>)).to.deep.equal({
      login: "x",
      [key]: tokensFor("a", { vault: "1" }),
    });
    expect(first?.["volumeContext"]).to.deep.equal(new Map());
  });

  for (const serviceAccountTokenInSecrets of [false, true]) {
    it(`gets no more than its grant names of what was kept for another, in secrets: ${serviceAccountTokenInSecrets}`, async () => {
      want(["a"], { serviceAccountTokenInSecrets });
      there.node.pods.hand("a", ["vault", "aws"], { vault: "1", aws: "2" });
      there.node.pods.ask("a");
      await there.node.converge();
      const [[, inContext, inSecrets] = []] = await given();
      expect(inContext ?? inSecrets).to.equal(tokensFor("a", { vault: "1" }));
    });
  }

  it("is called again for the pod whose token is another, at once, and about each minute", async () => {
    want(["a", "b"]);
    await ask("a", "1");
    await ask("b", "2");
    const before = there.node.mounts().map(({ id }) => id);
    hand("a", "1");
    await there.node.converge();
    expect(publishes(), "as it is the same").to.have.length(2);
    hand("a", "3");
    await there.node.converge();
    expect((await given()).slice(2)).to.deep.equal([["a", tokensFor("a", { vault: "3" }), undefined]]);
    there.node.ahead += aMinute;
    await there.node.converge();
    expect((await given()).slice(3)).to.have.deep.members([
      ["a", tokensFor("a", { vault: "3" }), undefined],
      ["b", tokensFor("b", { vault: "2" }), undefined],
    ]);
    expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(before);
  });

  it("is not called again where it does not ask for it, and has the newest token where it has to be", async () => {
    want(["a"], { requiresRepublish: false });
    await ask("a", "1");
    hand("a", "2");
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(publishes()).to.have.length(1);
    execFileSync("umount", [at("a")]);
    execFileSync("umount", [String(publishes()[0]?.["targetPath"])]);
    await there.node.converge();
    expect((await given()).slice(1)).to.deep.equal([["a", tokensFor("a", { vault: "2" }), undefined]]);
  });

  it("has a failed call tried again, with the mount that there is", async () => {
    want(["a"]);
    await ask("a", "1");
    const before = there.node.mounts().map(({ id }) => id);
    there.driver.fail("publish", "before", new VolumeError("DriverFailed", "final", "no"));
    hand("a", "2");
    expect((await there.node.volume(volumeName)).failure).to.include({ kind: "republish", reason: "DriverFailed" });
    there.node.forgetFailures();
    await there.node.converge();
    expect((await given()).at(-1)).to.deep.equal(["a", tokensFor("a", { vault: "2" }), undefined]);
    expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(before);
  });

  it("waits after a restart for kubelet's next call, and meanwhile all stays that is mounted", async () => {
    want(["a", "b"]);
    await ask("a", "1");
    await ask("b", "2");
    await there.node.restart();
    await there.node.converge();
    expect(publishes(), "nobody is asked without a token").to.have.length(2);
    expect(await problem("a")).to.equal(undefined);
    execFileSync("umount", [at("a")]);
    await there.node.converge();
    expect([existsSync(at("a")), publishes().length], "bound again, without the driver").to.deep.equal([true, 2]);
    expect(there.node.mountAt(at("a"))).to.not.equal(undefined);
    // What the driver has published goes: only the driver can bring it back.
    const [path] = (await there.record())?.targets.flatMap(({ pod, published }) =>
      pod?.uid === "a" && published ? [published.path] : [],
    ) ?? [""];
    execFileSync("umount", [path ?? ""]);
    writeFileSync(`${at("a")}/still-here`, "");
    expect(await problem("a")).to.equal("WaitingForToken");
    expect([existsSync(`${at("a")}/still-here`), publishes().length]).to.deep.equal([true, 2]);
    expect(await problem("b")).to.equal(undefined);
    hand("a", "3");
    await there.node.converge();
    expect((await given()).slice(2)).to.deep.equal([["a", tokensFor("a", { vault: "3" }), undefined]]);
    expect([await problem("a"), existsSync(`${at("a")}/still-here`)]).to.deep.equal([undefined, true]);
  });

  it("is not called with what has run out", async () => {
    want(["a"]);
    hand("a", "1", new Date(Date.now() + 60_000).toISOString());
    there.node.pods.ask("a");
    await there.node.converge();
    expect(publishes()).to.have.length(1);
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(publishes()).to.have.length(1);
  });

  it("is called as nobody for a mount of the node that comes later, which says why", async () => {
    want(["a"]);
    await ask("a", "1");
    want(["a"], {}, { mounts: [{ path: there.node.target("host") }] });
    const volume = await there.node.volume(volumeName);
    expect(volume.problems.targets.get(asMountPath(there.node.target("host")))?.reason).to.equal("PerPodIdentity");
    expect(publishes()).to.have.length(1);
    expect(there.node.mountAt(at("a"))).to.not.equal(undefined);
  });

  it("waits for a token also where a crash or a lost journal left open what was done, and takes nothing away", async () => {
    want(["a"]);
    await ask("a", "1");
    await there.node.restart();
    execFileSync("rm", [`${there.node.stateDir}/journal`]);
    await there.node.converge();
    expect([await problem("a"), publishes().length]).to.deep.equal(["WaitingForToken", 1]);
    expect(there.node.mountAt(at("a"))).to.not.equal(undefined);
    await ask("a", "2");
    expect(await problem("a")).to.equal(undefined);
    there.node.pods.giveBack("a");
    there.node.want(volumeOf([], {}, { deleting: true }));
    await there.node.converge();
    there.node.ahead += 130_000; // what the lost journal had may have been sent and not answered
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
    expect([there.node.mounts(), there.left()]).to.deep.equal([[], []]);
  });
});
