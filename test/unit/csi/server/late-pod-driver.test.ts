import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LatePodDriver } from "../../../../src/csi/server/late-pod-driver.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

describe("the driver for pods where there may be no kubelet", () => {
  let parent: string;
  let directory: string;
  let events: string[];
  const begin = (system = virtualSystem()) => {
    const load = async () => {
      events.push("loaded");
      return { stop: () => void events.push("stopped"), end: async () => void events.push("ended") };
    };
    return { system, late: new LatePodDriver({ system, directory, load }) };
  };
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "nodevolume-late-"));
    directory = join(parent, "plugins_registry");
    events = [];
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  it("is loaded at once if there is a directory to register in, and ends with the agent", async () => {
    mkdirSync(directory);
    const { system, late } = begin();
    await settle();
    expect([events, system.pendingTimers]).to.deep.equal([["loaded"], 0]);
    await late.end();
    expect(events).to.deep.equal(["loaded", "ended"]);
  });

  it("is loaded once the directory comes", async () => {
    const { system, late } = begin();
    await system.advance(60_000);
    expect(events).to.deep.equal([]);
    mkdirSync(directory);
    await system.advance(31_000);
    expect(events).to.deep.equal(["loaded"]);
    await late.end();
  });

  it("is stopped if the agent has ended while it was loaded", async () => {
    mkdirSync(directory);
    void begin().late.end();
    await settle();
    expect(events).to.deep.equal(["loaded", "stopped"]);
    rmSync(directory, { recursive: true });
    const { system, late } = begin();
    await late.end();
    expect(system.pendingTimers).to.equal(0);
  });
});
