import { expect } from "chai";
import { projectClaim } from "../../../../src/controller/attach/objects.ts";
import { createHold } from "../../../../src/controller/claims/hold-claims.ts";
import { ApiError } from "../../../../src/kube/api-error.ts";
import type { KubeClient } from "../../../../src/kube/client.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

function claim(held: boolean) {
  const labels = held ? { "nodevolume.dev/held": "" } : {};
  const found = projectClaim({ metadata: { name: "data", namespace: "apps", uid: "u", resourceVersion: "1", labels } });
  if (found === undefined) throw new Error("no claim");
  return { claims: [found], persistentVolumes: [] };
}

/** A hold, and a client that knows pods and refuses one more as the policy does. */
function world() {
  const { clock, random, log, advance } = virtualSystem();
  const pods: object[] = [];
  const patches: unknown[] = [];
  const client = {
    get: () => Promise.resolve({}),
    list: () => Promise.resolve({ items: pods, resourceVersion: "1" }),
    create: () => Promise.reject(new ApiError(403, "Forbidden", "nodevolume.dev/held")),
    mergePatch(_: unknown, __: unknown, patch: unknown) {
      patches.push(patch);
      return Promise.resolve({});
    },
  } as unknown as KubeClient;
  let reservedAt: number | undefined;
  const reservedSince = () => reservedAt;
  const hold = createHold({ client, clock, random, log, reservedSince, upsertClaim() {}, upsertPersistentVolume() {} });
  const nobody = () => Promise.resolve(undefined);
  /** @param ours whether somebody of ours uses the volume */
  const take = (labelled: boolean, ours = false, begins = true) =>
    hold.take(claim(labelled), { held: ours, begins }, nobody);
  const pod = { metadata: { name: "p" }, spec: { volumes: [{ persistentVolumeClaim: { claimName: "data" } }] } };
  const reserve = () => {
    reservedAt = clock.monotonic();
  };
  return { hold, take, reserve, pods, patches, pod, advance };
}

describe("taking a claim", () => {
  it("label, probe, five seconds, a look at the pods, and then it is ours", async () => {
    const { take, advance, patches } = world();
    expect((await take(false))?.againInMs).to.equal(5_000);
    expect(patches).to.deep.equal([{ metadata: { labels: { "nodevolume.dev/held": "" } } }]);
    await advance(4_000);
    expect((await take(true))?.againInMs).to.equal(1_000);
    await advance(1_000);
    expect(await take(true)).to.equal(undefined);
  });

  it("waits no more for a claim that its owner has kept from pods for five seconds, and looks at the pods all the same", async () => {
    const { take, reserve, advance, hold, pods, patches, pod } = world();
    expect((await take(true, true))?.againInMs, "the policy works, as of now").to.equal(5_000);
    const gone = claim(true).claims[0];
    if (gone !== undefined) hold.gone(gone);
    reserve();
    await advance(3_000);
    expect((await take(false))?.againInMs, "not long enough").to.equal(2_000);
    expect(patches.splice(0)).to.deep.equal([{ metadata: { labels: { "nodevolume.dev/held": "" } } }]);
    await advance(2_000);
    pods.push(pod);
    expect((await take(false))?.word.reason).to.equal("UsedByPods");
    expect(patches, "nobody is turned away").to.deep.equal([]);
    pods.pop();
    expect(await take(false)).to.equal(undefined);
    const metadata = { labels: { "nodevolume.dev/held": "" }, finalizers: ["nodevolume.dev/in-use"] };
    expect(patches).to.deep.equal([{ metadata }]);
    expect(await take(true), "and it stays so").to.equal(undefined);
  });

  it("waits for a claim however long it is reserved, if the policy was not seen to refuse a pod for five seconds", async () => {
    const { take, reserve, advance, patches } = world();
    reserve();
    await advance(60_000);
    expect((await take(false))?.againInMs).to.equal(5_000);
    expect(patches).to.deep.equal([]);
    await advance(5_000);
    expect(await take(false)).to.equal(undefined);
  });

  it("begins anew when the label was off in between, and in a new term", async () => {
    for (const meanwhile of ["label", "term"] as const) {
      const { hold, take, advance, pods, pod } = world();
      await take(false);
      await advance(5_000);
      expect(await take(true)).to.equal(undefined);
      pods.push(pod);
      if (meanwhile === "term") hold.forget();
      const waiting = await take(meanwhile === "term");
      if (meanwhile === "label") expect(waiting?.word.reason).to.equal("UsedByPods");
      else {
        expect(waiting?.againInMs).to.equal(5_000);
        await advance(5_000);
        expect((await take(true))?.word.reason).to.equal("UsedByPods");
      }
    }
  });

  it("asks nobody again for further nodes of a volume that was taken in this term", async () => {
    const { take, advance, pods, pod } = world();
    await take(false);
    await advance(5_000);
    expect(await take(true)).to.equal(undefined);
    pods.push(pod);
    expect(await take(true, true)).to.equal(undefined);
  });

  it("remembers nothing of a claim that is gone", async () => {
    const { hold, take, advance } = world();
    await take(false);
    await advance(5_000);
    expect(await take(true)).to.equal(undefined);
    const [gone] = claim(true).claims;
    if (gone !== undefined) hold.gone(gone);
    expect((await take(true))?.againInMs).to.equal(5_000);
  });

  it("takes a claim that appears while the volume is in use no sooner, and gives its label not back", async () => {
    for (const first of [false, true]) {
      // With the label it was left by a leader that had not come further.
      const { take, advance, pods, patches, pod } = world();
      expect((await take(first, true))?.againInMs, "probe").to.equal(5_000);
      await advance(4_000);
      expect((await take(true, true))?.againInMs, "settle").to.equal(1_000);
      pods.push(pod);
      await advance(1_000);
      expect((await take(true, true))?.word.reason).to.equal("UsedByPods");
      expect(patches).to.deep.equal(first ? [] : [{ metadata: { labels: { "nodevolume.dev/held": "" } } }]);
      pods.length = 0;
      expect(await take(true, true)).to.equal(undefined);
    }
  });

  it("labels and looks at a claim that appears while nobody begins, and leaves what was labelled before", async () => {
    const { take, advance, pods, patches, pod } = world();
    pods.push(pod);
    expect(await take(true, true, false)).to.equal(undefined);
    await take(false, true, false);
    expect(patches).to.have.length(1);
    await advance(5_000);
    expect((await take(true, true, false))?.word.reason).to.equal("UsedByPods");
  });
});
