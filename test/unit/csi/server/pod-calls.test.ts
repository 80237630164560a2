import { expect } from "chai";
import { NodeUnpublishVolumeRequest } from "../../../../src/csi/gen/csi.gen.ts";
import { PodCalls } from "../../../../src/csi/server/pod-calls.ts";
import { PodVolumeError } from "../../../../src/csi/server/ports.ts";
import { RefusedCall, refusalOf } from "../../../../src/csi/server/refused-call.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";
import { FakePodVolumes } from "./fake-pod-volumes.ts";
import { kubeletDir, publishRequest, targetPath } from "./requests.ts";

const unpublishRequest = NodeUnpublishVolumeRequest.fromPartial({ volumeId: "csi-3d2a", targetPath });

const inNamespace = (namespace: string) => ({ "csi.storage.k8s.io/pod.namespace": namespace });

describe("the calls of kubelet for pods", () => {
  function world() {
    const system = virtualSystem();
    const volumes = new FakePodVolumes();
    const may = { publish: async () => {}, tokens: false };
    const calls = new PodCalls({
      ...{ system, volumes, kubeletDir },
      mayPublish: () => may.publish(),
      tokensInContext: async () => may.tokens,
    });
    const limits = (ms = Number.POSITIVE_INFINITY, cancelled = new AbortController().signal) => ({
      deadline: system.clock.now() + ms,
      cancelled,
    });
    /** How a call ends: "OK", or the code and the words. */
    const ended = (call: Promise<void>) =>
      call.then(
        () => "OK",
        (thrown: unknown) => {
          const { code, message } = refusalOf(thrown);
          return `${code} ${message}`;
        },
      );
    return { system, volumes, calls, limits, ended, may };
  }

  it("end when the volume is there", async () => {
    const { volumes, calls, limits, ended } = world();
    const call = ended(calls.publish(publishRequest(), limits()));
    await settle();
    expect(calls.underWay).to.include({ publish: 1 });
    (await volumes.call(0)).done();
    expect(await call).to.equal("OK");
    expect(calls.underWay).to.include({ publish: 0 });
  });

  for (const [kind, code] of [
    ["waiting", "ABORTED"],
    ["refused", "FAILED_PRECONDITION"],
  ] as const) {
    it(`say why the volume is not there: ${kind}`, async () => {
      const { volumes, calls, limits, ended } = world();
      const call = ended(calls.publish(publishRequest(), limits()));
      (await volumes.call(0)).fail(new PodVolumeError(kind, "WaitingForAttach", "the driver\nattaches it"));
      expect(await call).to.equal(`${code} WaitingForAttach: the driver\\x0aattaches it`);
    });
  }

  it("say it in a kibibyte, whatever the script", () => {
    for (const text of ["x".repeat(5000), "ß".repeat(5000), "語".repeat(5000)]) {
      const { message } = refusalOf(new RefusedCall("ABORTED", text));
      expect(Buffer.byteLength(message)).to.be.within(850, 1024);
    }
  });

  it("wait 110 s, or five seconds less than the caller does", async () => {
    for (const [patience, waits] of [
      [120_000, 110_000],
      [Number.POSITIVE_INFINITY, 110_000],
      [30_000, 25_000],
      [1_000, 0],
    ] as const) {
      const { system, volumes, calls, limits, ended } = world();
      const call = ended(calls.publish(publishRequest(), limits(patience)));
      const { signal, fail } = await volumes.call(0);
      if (waits > 0) await system.advance(waits - 1);
      expect(signal.aborted, `${patience}`).to.equal(false);
      await system.advance(1);
      expect(signal.aborted, `${patience}`).to.equal(true);
      fail(new PodVolumeError("waiting", "ClaimNotBound", "it waits"));
      expect(await call).to.equal("ABORTED ClaimNotBound: it waits");
      expect(system.pendingTimers).to.equal(0);
    }
  });

  it("end with their caller, and when the agent does", async () => {
    const { volumes, calls, limits, ended } = world();
    const caller = new AbortController();
    const first = ended(calls.publish(publishRequest(), limits(120_000, caller.signal)));
    const { signal, fail } = await volumes.call(0);
    caller.abort(new RefusedCall("CANCELLED", "gone"));
    expect(signal.aborted).to.equal(true);
    fail(signal.reason);
    expect(await first).to.equal("CANCELLED gone");
    const second = ended(calls.publish(publishRequest(), limits()));
    const { signal: other, fail: failOther } = await volumes.call(1);
    calls.stop();
    failOther(other.reason);
    expect(await second).to.equal("UNAVAILABLE the agent ends");
  });

  it("are let end when the agent does, if kubelet gives something back; nothing is published meanwhile", async () => {
    const { system, volumes, calls, limits, ended } = world();
    const waits = ended(
      calls.publish(publishRequest({ targetPath: targetPath.replace("/data/", "/logs/") }), limits()),
    );
    const { signal: waiting, fail } = await volumes.call(0);
    const back = ended(calls.unpublish(unpublishRequest, limits()));
    const { signal, done } = await volumes.call(1);
    let isOver = false;
    const over = calls.end(10_000).then(() => {
      isOver = true;
    });
    fail(waiting.reason);
    expect(await waits).to.equal("UNAVAILABLE the agent ends");
    expect(await ended(calls.publish(publishRequest(), limits()))).to.equal("UNAVAILABLE the agent ends");
    await system.advance(5_000);
    expect([signal.aborted, isOver]).to.deep.equal([false, false]);
    done();
    expect(await back).to.equal("OK");
    await over;
    expect(await ended(calls.unpublish(unpublishRequest, limits()))).to.equal("UNAVAILABLE the agent ends");
    expect(system.pendingTimers).to.equal(0);
  });

  it("are cut off all the same when that takes too long", async () => {
    const { system, volumes, calls, limits, ended } = world();
    const back = ended(calls.unpublish(unpublishRequest, limits()));
    const { signal, fail } = await volumes.call(0);
    const over = calls.end(10_000);
    await system.advance(9_999);
    expect(signal.aborted).to.equal(false);
    await system.advance(1);
    await over;
    fail(signal.reason);
    expect(await back).to.equal("UNAVAILABLE the agent ends");
  });

  it("follow each other on one target, and not on another", async () => {
    const { volumes, calls, limits, ended } = world();
    const path = targetPath.replace("/data/", "/logs/");
    const all = [publishRequest(), publishRequest(), publishRequest({ targetPath: path })].map((request) =>
      ended(calls.publish(request, limits())),
    );
    await settle();
    expect(volumes.calls.map(({ target }) => target.volume)).to.deep.equal(["data", "logs"]);
    (await volumes.call(0)).done();
    expect((await volumes.call(2)).target.volume).to.equal("data");
    for (const call of volumes.calls) call.done();
    expect(await Promise.all(all)).to.deep.equal(["OK", "OK", "OK"]);
  });

  it("end a wait when the volume is given back, and undo it before", async () => {
    const { volumes, calls, limits, ended } = world();
    const published = ended(calls.publish(publishRequest(), limits()));
    const waiting = await volumes.call(0);
    const back = ended(calls.unpublish(unpublishRequest, limits()));
    await settle();
    expect([waiting.signal.aborted, volumes.calls.length]).to.deep.equal([true, 1]); // it is still undoing
    waiting.fail(waiting.signal.reason);
    expect(await published).to.equal("ABORTED kubelet has unpublished the volume meanwhile");
    const { kind, done } = await volumes.call(1);
    expect(kind).to.equal("unpublish");
    done();
    expect(await back).to.equal("OK");
  });

  it("that give up while they wait for another hand on its turn, not their own", async () => {
    const { volumes, calls, limits, ended } = world();
    const caller = new AbortController();
    const first = ended(calls.publish(publishRequest(), limits()));
    const second = ended(calls.publish(publishRequest(), limits(120_000, caller.signal)));
    const third = ended(calls.publish(publishRequest(), limits()));
    await settle();
    caller.abort(new RefusedCall("CANCELLED", "gone"));
    expect(await second).to.equal("CANCELLED gone");
    await settle();
    expect(volumes.calls).to.have.length(1);
    (await volumes.call(0)).done();
    (await volumes.call(1)).done();
    expect(await Promise.all([first, third])).to.deep.equal(["OK", "OK"]);
  });

  it("are refused while the CSIDriver is wrong, but volumes can be given back", async () => {
    const { volumes, calls, limits, ended, may } = world();
    may.publish = () => Promise.reject(new RefusedCall("FAILED_PRECONDITION", "CSIDriverWrong: changed"));
    expect(await ended(calls.publish(publishRequest(), limits()))).to.equal(
      "FAILED_PRECONDITION CSIDriverWrong: changed",
    );
    expect(volumes.calls).to.have.length(0);
    const back = ended(calls.unpublish(unpublishRequest, limits()));
    (await volumes.call(0)).done();
    expect(await back).to.equal("OK");
  });

  it("are bounded, in all and for each namespace, those that give back apart from those that wait", async () => {
    const { volumes, calls, limits, ended } = world();
    const publish = (namespace: string) =>
      ended(calls.publish(publishRequest({ attributes: { set: "s", ...inNamespace(namespace) } }), limits()));
    const of = (namespace: string) => Array.from({ length: 256 }, () => publish(namespace));
    const crowd = of("crowd");
    await settle();
    expect(await publish("crowd")).to.equal("RESOURCE_EXHAUSTED 256 such calls of namespace crowd are under way");
    const all = [...crowd, ...["team-1", "team-2", "team-3"].flatMap(of)];
    await settle();
    expect(calls.underWay).to.include({ publish: 1024 });
    expect(await publish("third")).to.include("RESOURCE_EXHAUSTED 1024");
    const back = ended(calls.unpublish(unpublishRequest, limits()));
    (await volumes.call(0)).fail(new RefusedCall("ABORTED", "given back"));
    expect(new Set(await Promise.all(all)).size).to.equal(2);
    expect((await volumes.call(1)).kind).to.equal("unpublish");
    volumes.calls[1]?.done();
    expect(await back).to.equal("OK");
    const again = publish("crowd");
    (await volumes.call(2)).done();
    expect(await again).to.equal("OK");
  });

  it("that fail for a reason nobody thought of are INTERNAL", async () => {
    const { volumes, calls, limits, ended } = world();
    const call = ended(calls.publish(publishRequest(), limits()));
    (await volumes.call(0)).fail(new TypeError("x is not a function"));
    expect(await call).to.equal("INTERNAL x is not a function");
  });
});
