import { expect } from "chai";
import type { Cluster } from "../../../../src/cli/cluster.ts";
import type { Context } from "../../../../src/cli/command.ts";
import { drainedCommand } from "../../../../src/cli/commands/drained.ts";
import { waitCommand } from "../../../../src/cli/commands/wait.ts";
import { errorText } from "../../../../src/cli/error-text.ts";
import { errorOf } from "../../../../src/kube/client/api-error.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { type Transport, TransportError } from "../../../../src/kube/client/transport.ts";
import { raw, set, state } from "../../../lib/builders/cli-objects.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

/** Answers nothing, as behind a firewall that drops what it gets. */
const hangingFake: Transport = { request: () => new Promise(() => {}), stream: () => () => {} };

function story(transport: (system: ReturnType<typeof virtualSystem>) => Transport) {
  const system = virtualSystem();
  const used = transport(system);
  const client = createKubeClient({ transport: used, fieldManager: "" });
  const notes: string[] = [];
  const interruption = new AbortController();
  const context = {
    terminal: { out: (text: string) => notes.push(text), note: (line: string) => notes.push(line) },
    system,
    interrupted: interruption.signal,
    connect: async () => ({ client, transport: used, namespace: "shop" }) as unknown as Cluster,
  } as unknown as Context;
  const run = (command: typeof waitCommand, args: string[], values = {}) => command.run({ args, values, context });
  return { system, notes, run, interruption };
}

describe("kubectl nvi wait", () => {
  for (const word of ["datasets", "set/datasets", "volume/datasets", "pod/web"]) {
    it(`ends by its own --timeout while the API server hangs: ${word}`, async () => {
      const { system, notes, run } = story(() => hangingFake);
      const code = run(waitCommand, [word], { timeout: "5s" });
      await system.advance(5_000);
      expect(await code).to.equal(1);
      expect(notes).to.deep.equal(["waiting: the API server has not answered", `${word} is not ready after 5s`]);
    });
  }

  it("counts what the first answer has taken, and says that the watch has none", async () => {
    const { system, notes, run } = story(({ timers }) => {
      const api = createFakeApiServer(timers);
      api.apply("nodevolumesets", set("datasets") as never);
      return { request: (call) => api.request(call), stream: () => () => {} };
    });
    const code = run(waitCommand, ["datasets"], { timeout: "5s" });
    await system.advance(5_000);
    expect(await code).to.equal(1);
    expect(notes.at(-1)).to.equal("nodevolumeset.nodevolume.dev/datasets is not ready after 5s");
  });

  it("says nothing that a terminal obeys, whatever an agent has written", async () => {
    const failing = [{ node: "n1", reason: "SetUpFailed", message: "\u001b]0;owned\u0007\u001b[2Kmounted" }];
    const { system, notes, run } = story(({ timers }) => {
      const api = createFakeApiServer(timers);
      api.apply("nodevolumesets", set("datasets", {}, { observedGeneration: 1, failing }) as never);
      return api;
    });
    const code = run(waitCommand, ["datasets"], { timeout: "5s" });
    await system.advance(5_000);
    expect(await code).to.equal(1);
    expect(notes[0]).to.contain("n1: SetUpFailed (\\x1b]0;owned\\x07\\x1b[2Kmounted)");
  });

  it("ends by Ctrl-C while the API server hangs", async () => {
    const { system, run, interruption } = story(() => hangingFake);
    const code = run(waitCommand, ["datasets"]);
    await system.advance(100);
    interruption.abort();
    expect(await code).to.equal(130);
  });
});

describe("kubectl nvi drained --wait", () => {
  it("ends by its own --timeout while the API server hangs, and claims nothing", async () => {
    const { system, notes, run } = story(() => hangingFake);
    const code = run(drainedCommand, ["n1"], { wait: "true", timeout: "5s" });
    await system.advance(5_000);
    expect(await code).to.equal(3);
    expect(notes.join("\n")).to.equal(
      "waiting: the API server has not answered\nit is unknown whether node/n1 is drained",
    );
  });
});

describe("kubectl nvi drained", () => {
  it("says nothing that a terminal obeys, whatever an agent has written", async () => {
    const condition = {
      type: "Drained",
      status: "False",
      reason: "Mounted",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const conditions = [{ ...condition, message: "\u001b[2J" }] as never;
    const { system, notes, run } = story(({ timers }) => {
      const api = createFakeApiServer(timers);
      api.apply("nodes", raw("n1", undefined, {}) as never);
      api.apply("nodevolumestates", state("n1", { conditions }) as never);
      return api;
    });
    const code = run(drainedCommand, ["n1"]);
    await system.advance(1_000);
    expect(await code).to.equal(0);
    expect(notes.at(-1)).to.equal("The agent of n1 reported Drained=False: \\x1b[2J");
  });
});

describe("errorText", () => {
  const notServed = (path: string) => errorOf({ status: 404, body: "404 page not found" }, `GET ${path}`);

  it("says that the operator is not installed where its kinds are not served", () => {
    expect(errorText(notServed("/apis/nodevolume.dev/v1alpha1/nodevolumeintents"))).to.match(
      /^node-volume-operator is not installed: the cluster has no nodevolumeintents \(v1alpha1\)\n→ .*kubectl get crd/,
    );
    expect(errorText(notServed("/apis/nodevolume.dev/v1alpha1/nodevolumesets/a"))).to.include("has no nodevolumesets");
    expect(errorText(notServed("/apis/storage.k8s.io/v1/csinodes"))).to.include("404");
    const body = { kind: "Status", reason: "NotFound", message: "no a" };
    const gone = errorOf({ status: 404, body }, "PATCH /apis/nodevolume.dev/v1alpha1/nodevolumesets/a");
    expect(errorText(gone)).to.include("no a").and.not.include("not installed");
  });

  it("says which server cannot be reached, and what to do", () => {
    const error = new TransportError("GET /x: late", { cause: new Error("no answer within 30 s") });
    expect(errorText(error, "https://192.0.2.1:6443")).to.equal(
      "the cluster cannot be reached: no answer within 30 s (https://192.0.2.1:6443)\n→ Check the API server: kubectl get --raw /readyz. What is mounted on the nodes stays.",
    );
  });
});
