import { expect } from "chai";
import { Registry } from "prom-client";
import { mostNotReady, notReadyOf, registerNotReadyMetrics } from "../../../../src/agent/metrics/not-ready-metrics.ts";

type Shown = Parameters<typeof notReadyOf>[0] extends Iterable<infer One> ? One : never;

function intent(name: string, status: "True" | "False" | "Unknown", reason: string, lastTransitionTime: string): Shown {
  const condition = { type: "Ready", status, reason, message: "", lastTransitionTime };
  return { metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z" }, status: { conditions: [condition] } };
}

describe("notReadyOf", () => {
  it("has the volumes that are not ready, the longest first, and not those that are as somebody wants them", () => {
    const found = notReadyOf([
      intent("ready", "True", "Mounted", "2026-01-01T00:00:10Z"),
      intent("late", "False", "SourceNotFound", "2026-01-01T00:00:30Z"),
      intent("long", "False", "ServerUnreachable", "2026-01-01T00:00:20Z"),
      intent("suspended", "False", "Suspended", "2026-01-01T00:00:20Z"),
      intent("observed", "False", "WouldChange", "2026-01-01T00:00:20Z"),
      intent("of another version", "False", "Tomorrow", "2026-01-01T00:00:20Z"),
    ]);
    const at = Date.parse("2026-01-01T00:00:00Z") / 1000;
    expect(found).to.deep.equal([
      { intent: "long", reason: "ServerUnreachable", since: at + 20 },
      { intent: "late", reason: "SourceNotFound", since: at + 30 },
    ]);
  });

  it("counts one that no agent has written anything of from when it was created", () => {
    const [found] = notReadyOf([intent("new", "Unknown", "NotObserved", "1970-01-01T00:00:00Z")]);
    expect(found?.since).to.equal(Date.parse("2026-01-01T00:00:00Z") / 1000);
  });

  it("has so many time series and no more, those of the longest waits", async () => {
    const many = Array.from({ length: mostNotReady + 50 }, (_, n) => {
      const time = new Date(Date.parse("2026-01-02T00:00:00Z") - n * 1000).toISOString();
      return intent(`n${n}`, "False", "SourceNotFound", time);
    });
    const registry = new Registry();
    registerNotReadyMetrics(registry, () => many);
    const lines = (await registry.metrics()).split("\n").filter((line) => line.includes("{"));
    expect(lines).to.have.length(mostNotReady);
    expect(lines[0]).to.include(`intent="n${mostNotReady + 49}",reason="SourceNotFound"`);
    many.length = 1;
    const after = (await registry.metrics()).split("\n").filter((line) => line.includes("{"));
    expect(after).to.have.length(1);
  });
});
