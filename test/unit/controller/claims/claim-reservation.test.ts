import { expect } from "chai";
import { projectClaim } from "../../../../src/controller/model/storage-objects.ts";
import { claim, world } from "./reservation-world.ts";

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

  it("of which a pod is refused late only is waited for from then on", async () => {
    const { take, advance, say } = world();
    say("exceeded quota");
    expect((await take(false))?.againInMs, "tried again").to.equal(250);
    await advance(4_000);
    say("nodevolume.dev/held");
    expect((await take(true))?.againInMs).to.equal(5_000);
    await advance(5_000);
    expect(await take(true)).to.equal(undefined);
  });

  it("that somebody else has attached by then is given back", async () => {
    const { take, advance, attachElsewhere, patches } = world();
    await take(false);
    await advance(5_000);
    attachElsewhere({ reason: "ForeignAttachment", message: "of kubelet" });
    expect((await take(true))?.waitReason.reason).to.equal("ForeignAttachment");
    expect(patches.at(-1)).to.deep.equal({ metadata: { labels: { "nodevolume.dev/held": null } } });
  });

  it("begins anew when the label was off in between, and in a new term", async () => {
    for (const meanwhile of ["label", "term"] as const) {
      const { reservation, take, advance, pods, pod } = world();
      await take(false);
      await advance(5_000);
      expect(await take(true)).to.equal(undefined);
      pods.push(pod);
      if (meanwhile === "term") reservation.forget();
      const waiting = await take(meanwhile === "term");
      if (meanwhile === "label") expect(waiting?.waitReason.reason).to.equal("UsedByPods");
      else {
        expect(waiting?.againInMs).to.equal(5_000);
        await advance(5_000);
        expect((await take(true))?.waitReason.reason).to.equal("UsedByPods");
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
    const { reservation, take, advance } = world();
    await take(false);
    await advance(5_000);
    expect(await take(true)).to.equal(undefined);
    const [gone] = claim(true).claims;
    if (gone !== undefined) reservation.gone(gone);
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
      expect((await take(true, true))?.waitReason.reason).to.equal("UsedByPods");
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
    expect((await take(true, true, false))?.waitReason.reason).to.equal("UsedByPods");
  });
});

describe("taking a volume that two claims name", () => {
  it("marks none of them while a pod uses one", async () => {
    const { reservation, pods, pod, patches } = world();
    const [data] = claim(false).claims;
    const twin = projectClaim({ metadata: { name: "twin", namespace: "apps", uid: "t", resourceVersion: "1" } });
    if (data === undefined || twin === undefined) throw new Error("no claim");
    const volume = { claims: [twin, data], persistentVolumes: [] };
    const take = () => reservation.reserve(volume, { held: false, begins: true }, () => Promise.resolve(undefined));
    pods.push(pod);
    expect((await take())?.waitReason.reason).to.equal("UsedByPods");
    expect(patches).to.deep.equal([]);
    pods.pop();
    expect((await take())?.waitReason.reason).to.equal("WaitingForAttach");
    expect(patches).to.have.length(2);
  });
});

describe("taking a claim that its owner has reserved", () => {
  const reservedMarks = { labels: { "nodevolume.dev/held": "" }, finalizers: ["nodevolume.dev/in-use"] };

  /** One of which the policy was seen to refuse a pod, and the label as well, for more than five seconds. */
  async function settled() {
    const there = world();
    there.reserve();
    await there.advance(5_000);
    expect((await there.take(false))?.againInMs, "the policy may have been installed just now").to.equal(5_000);
    await there.advance(5_000);
    return there;
  }

  it("waits until the policy has refused pods for five seconds, and then for nothing", async () => {
    const { take, patches } = await settled();
    expect(await take(false)).to.equal(undefined);
    expect(patches).to.deep.equal([{ metadata: reservedMarks }]);
    expect(await take(true), "and it stays so").to.equal(undefined);
  });

  it("takes the usual way while it is younger", async () => {
    const { take, reserve, advance, patches } = world();
    reserve();
    await advance(3_000);
    expect((await take(false))?.againInMs).to.equal(5_000);
    expect(patches).to.deep.equal([{ metadata: { labels: { "nodevolume.dev/held": "" } } }]);
  });

  it("is neither marked nor taken while a pod uses it, or somebody else has it attached", async () => {
    const { take, pods, pod, attachElsewhere, patches } = await settled();
    pods.push(pod);
    expect((await take(false))?.waitReason.reason).to.equal("UsedByPods");
    pods.pop();
    attachElsewhere({ reason: "ForeignAttachment", message: "of kubelet" });
    expect((await take(false))?.waitReason.reason).to.equal("ForeignAttachment");
    expect(patches).to.deep.equal([]);
    attachElsewhere(undefined);
    expect(await take(false)).to.equal(undefined);
  });

  it("begins anew when the policies are other ones, in a new term, and says when pods are not refused", async () => {
    const { take, advance, installAnew, reservation, say } = await settled();
    installAnew();
    expect((await take(false))?.againInMs).to.equal(5_000);
    await advance(5_000);
    reservation.forget();
    expect((await take(false))?.againInMs).to.equal(5_000);
    await advance(5_000);
    say("exceeded quota");
    expect((await take(false))?.waitReason.reason).to.equal("PolicyMissing");
    say("nodevolume.dev/reserved");
    expect(await take(false), "what keeps one pod away says nothing of the policies").to.equal(undefined);
  });

  it("does not wait where it was looked before anybody wanted it, once a term, and asks all the same", async () => {
    const { reservation, take, reserve, advance, trials, say, installAnew, patches } = world();
    reserve();
    say("exceeded quota");
    await reservation.prepare(claim(false));
    await advance(9_000);
    say("nodevolume.dev/reserved");
    await reservation.prepare(claim(false));
    expect(trials(), "no pod is tried again so soon").to.equal(1);
    await advance(1_000);
    for (let looks = 0; looks < 3; looks += 1) await reservation.prepare(claim(false));
    expect(trials()).to.equal(2);
    await advance(4_000);
    expect((await take(false))?.againInMs, "five seconds, as of any").to.equal(1_000);
    await advance(1_000);
    say("exceeded quota");
    expect((await take(false))?.waitReason.reason, "by now").to.equal("PolicyMissing");
    expect(patches).to.deep.equal([]);
    say("nodevolume.dev/reserved");
    expect(await take(false)).to.equal(undefined);
    installAnew();
    expect((await take(false))?.againInMs, "under other policies").to.equal(5_000);
    reservation.forget();
    await reservation.prepare(claim(false));
    await advance(4_000);
    expect((await take(false))?.againInMs, "in another term").to.equal(1_000);
  });

  it("is told from one that is refused by the label of another binding", async () => {
    const { take, say } = await settled();
    say("nodevolume.dev/held");
    expect((await take(false))?.waitReason.reason).to.equal("PolicyMissing");
  });
});
