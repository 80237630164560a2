import { expect } from "chai";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { EventInput } from "../../../../src/kube/events/event-correlator.ts";
import { createEventCorrelator } from "../../../../src/kube/events/event-correlator.ts";
import { createEventRecorder } from "../../../../src/kube/events/event-recorder.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../virtual-system.ts";

const event = (message: string, name = "a", reason = "Conflict"): EventInput => ({
  object: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", name, uid: `uid-${name}` },
  type: "Warning",
  reason,
  message,
});

describe("createEventCorrelator, by the rules of client-go", () => {
  it("counts what is the same again", () => {
    const correlator = createEventCorrelator();
    const counts = [1, 2, 3].map((t) => correlator.correlate(event("same"), t));
    expect(counts.map((c) => c.action === "write" && c.count)).to.deep.equal([1, 2, 3]);
    expect(new Set(counts.map((c) => c.action === "write" && c.key)).size).to.equal(1);
  });

  it("combines the tenth distinct message within ten minutes, and those after it", () => {
    const correlator = createEventCorrelator();
    const messages = Array.from({ length: 12 }, (_, i) => {
      const c = correlator.correlate(event(`message ${i}`), i * 1000);
      return c.action === "write" ? `${c.message} ×${c.count}` : c.action;
    });
    expect(messages[8]).to.equal("message 8 ×1");
    expect(messages.slice(9)).to.deep.equal([
      "(combined from similar events): message 9 ×1",
      "(combined from similar events): message 10 ×2",
      "(combined from similar events): message 11 ×3",
    ]);
  });

  it("begins anew after ten quiet minutes, and for another reason or object", () => {
    const correlator = createEventCorrelator();
    for (let i = 0; i < 12; i += 1) correlator.correlate(event(`m${i}`), i);
    const messageOf = (input: EventInput, now: number) => {
      const c = correlator.correlate(input, now);
      return c.action === "write" && c.message;
    };
    expect(messageOf(event("x"), 20)).to.contain("combined");
    expect(messageOf(event("x", "a", "Other"), 20)).to.equal("x");
    expect(messageOf(event("x", "b"), 20)).to.equal("x");
    expect(messageOf(event("x"), 700_000)).to.equal("x");
  });

  it("lets 25 pass for an object, then one each five minutes", () => {
    const correlator = createEventCorrelator();
    const passed = (now: number) => correlator.correlate(event("same"), now).action === "write";
    const first = Array.from({ length: 40 }, () => passed(0)).filter(Boolean).length;
    expect(first).to.equal(25);
    expect([passed(299_000), passed(300_000), passed(300_001), passed(600_000)]).to.deep.equal([
      false,
      true,
      false,
      true,
    ]);
    expect(correlator.correlate(event("other object", "b"), 300_001).action).to.equal("write");
  });

  it("forgets the oldest objects rather than grow without end", () => {
    const correlator = createEventCorrelator();
    for (let i = 0; i < 10_000; i += 1) correlator.correlate(event("same", `object-${i}`), i);
    const again = correlator.correlate(event("same", "object-0"), 10_001);
    expect(again.action === "write" && again.count).to.equal(1);
  });
});

describe("createEventRecorder", () => {
  function story(yieldTo?: () => Promise<void>) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    const drops: string[] = [];
    const client = createKubeClient({ transport: api, fieldManager: "c" });
    const recorder = createEventRecorder({
      system,
      client,
      component: "nodevolume-controller",
      ...(yieldTo && { yieldTo }),
      onDrop: (why) => drops.push(why),
    });
    const events = () => api.objects("events");
    return { system, api, recorder, events, drops };
  }

  it("writes an Event that the API server takes: in the namespace default for a cluster-scoped object", async () => {
    const { system, recorder, events } = story();
    recorder.event(event("text"));
    await system.advance(10);
    expect(events()).to.have.length(1);
    expect(events()[0]).to.deep.include({
      involvedObject: event("").object,
      type: "Warning",
      reason: "Conflict",
      message: "text",
      count: 1,
      source: { component: "nodevolume-controller" },
      reportingComponent: "nodevolume-controller",
    });
    expect(events()[0]?.metadata.namespace).to.equal("default");
    expect(events()[0]?.metadata.name).to.match(/^a\.[0-9a-f-]+$/);
  });

  it("raises the count of the Event that there is, also when both were recorded at once", async () => {
    const { system, recorder, events } = story();
    recorder.event(event("text"));
    recorder.event(event("text"));
    await system.advance(10_000);
    recorder.event(event("text"));
    await system.advance(10);
    expect(events().map((e) => [e["count"], e["firstTimestamp"], e["lastTimestamp"]])).to.deep.equal([
      [3, "2023-11-14T22:13:20Z", "2023-11-14T22:13:30Z"],
    ]);
  });

  it("lets go first what is more urgent, but not for ever", async () => {
    const urgent: (() => void)[] = [];
    const { system, recorder, events } = story(() => new Promise((resolve) => urgent.push(resolve)));
    for (const text of ["first", "second"]) recorder.event(event(text));
    await system.advance(4_000);
    expect(events(), "while it is on its way").to.have.length(0);
    urgent.shift()?.();
    await system.advance(10);
    expect(events().map((e) => e["message"])).to.deep.equal(["first"]);
    await system.advance(5_000);
    expect(events(), "after it took too long").to.have.length(2);
    expect(system.pendingTimers).to.equal(0);
  });

  it("creates the Event again when the server has forgotten it", async () => {
    const { system, api, recorder, events } = story();
    recorder.event(event("text"));
    await system.advance(10);
    api.remove("events", `default/${events()[0]?.metadata.name}`);
    recorder.event(event("text"));
    await system.advance(10);
    expect(events().map((e) => e["count"])).to.deep.equal([2]);
  });

  it("tries again while the server is away, and gives up after three attempts", async () => {
    const { system, api, recorder, events, drops } = story();
    let requests = 0;
    api.fault = () => {
      requests += 1;
      return requests <= 2 ? { when: "before" } : undefined;
    };
    recorder.event(event("text"));
    await system.advance(20_000);
    expect(events()).to.have.length(1);
    api.fault = () => ({ when: "before" });
    recorder.event(event("other"));
    await system.advance(20_000);
    expect(drops).to.deep.equal(["no-answer"]);
  });

  it("counts what is refused, what is too much and what does not fit", async () => {
    const { system, api, recorder, drops } = story();
    api.fault = () => ({ status: 403 });
    recorder.event(event("refused"));
    await system.advance(10);
    for (let i = 0; i < 25; i += 1) recorder.event(event("many", "b"));
    recorder.event(event("one too many", "b"));
    expect(drops).to.deep.equal(["refused", "rate"]);
    for (let i = 0; i < 300; i += 1) recorder.event(event("m", `object-${i}`));
    expect(drops.filter((d) => d === "queue-full").length).to.be.greaterThan(40);
  });

  it("flush resolves when all is written; after stop nothing is", async () => {
    const { system, api, recorder, events } = story();
    recorder.event(event("text"));
    const flushed = recorder.flush();
    await system.advance(10);
    await flushed;
    recorder.stop();
    recorder.event(event("late"));
    await system.advance(10);
    expect([events().length, api.writes.length]).to.deep.equal([1, 1]);
  });
});
