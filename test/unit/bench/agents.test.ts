import { expect } from "chai";
import { fitsOf, type SizeFigures, tableOf } from "../../../hack/bench/scale/agents/figures.ts";
import { fitOf } from "../../../hack/bench/scale/agents/fit.ts";
import { added } from "../../../hack/bench/scale/agents/fleet.ts";
import { parseOptions } from "../../../hack/bench/scale/agents/options.ts";
import { countsIn, named } from "../../../hack/bench/scale/agents/server-metrics.ts";
import { indicesOf, volumeName, volumesOf } from "../../../hack/bench/scale/agents/volumes.ts";
import { namesOf } from "../../../hack/bench/scale/generator/shape.ts";
import type { NodeVolumeIntent, NodeVolumeState } from "../../../src/api/types.gen.ts";
import { parseIntent } from "../../../src/api/validate.ts";

describe("the benchmark of many agents", () => {
  it("parseOptions says what is wrong", () => {
    const options = parseOptions(["--agents", "index", "--sizes", "10,30"]);
    if (options === "help") throw new Error("no help was asked for");
    expect(options).to.deep.include({ ways: ["index"], sizes: [10, 30], nodes: 30, volumes: 2, herd: "each" });
    expect(() => parseOptions(["--agents", "poll"])).to.throw("--agents takes watch or index, not poll");
    expect(() => parseOptions(["--sizes", "30,10"])).to.throw("--sizes must grow");
    expect(() => parseOptions(["--sizes", "0"])).to.throw("--sizes takes whole numbers from 1 to 100000, not 0");
    expect(() => parseOptions(["--herd", "twice"])).to.throw("--herd takes each, last or none, not twice");
    expect(() => parseOptions(["--changes", "1.5"])).to.throw("--changes takes whole numbers");
    expect(() => parseOptions(["--converge", "--volumes", "1"])).to.throw("--volumes must be 0 with --converge");
    expect(parseOptions(["--help"])).to.equal("help");
  });

  it("countsIn reads what a kube-apiserver says of itself", () => {
    const text = [
      "# HELP apiserver_request_total requests",
      'apiserver_request_total{code="200",resource="nodevolumeintents",subresource="status",verb="PATCH"} 3',
      'apiserver_request_total{code="409",resource="nodevolumeintents",subresource="status",verb="PATCH"} 1',
      'apiserver_request_total{code="429",resource="nodevolumestates",subresource="",verb="WATCH"} 7',
      'apiserver_current_inflight_requests{request_kind="mutating"} 2',
      'apiserver_current_inflight_requests{request_kind="readOnly"} 5',
      'apiserver_flowcontrol_current_inqueue_requests{flow_schema="a",priority_level="b"} 11',
      'apiserver_longrunning_requests{resource="nodevolumestates",verb="WATCH"} 1.5e+03',
      'apiserver_longrunning_requests{resource="pods",verb="CONNECT"} 1',
      "go_memstats_heap_alloc_bytes 1.024e+06",
    ].join("\n");
    expect(countsIn(text)).to.deep.equal({
      requests: { "PATCH nodevolumeintents/status": 4 },
      refused: 7,
      inFlight: 7,
      queued: 11,
      watches: 1500,
      heapBytes: 1_024_000,
    });
    expect(named({ "PATCH nodes/status": 2, "LIST pods": 1 })).to.deep.equal({
      "patch nodes/status": 2,
      "list pods": 1,
    });
  });

  it("fitOf draws a line through three points and more, and says how far they are from it", () => {
    const on = fitOf([1, 2, 4].map((x) => ({ x, y: 3 + 2 * x })));
    expect(on?.at0).to.be.closeTo(3, 1e-9);
    expect(on?.perX).to.be.closeTo(2, 1e-9);
    expect(on?.r2).to.be.closeTo(1, 1e-9);
    const off = fitOf([
      { x: 0, y: 0 },
      { x: 1, y: 2 },
      { x: 2, y: 1 },
    ]);
    expect(off?.perX).to.be.closeTo(0.5, 1e-9);
    expect(off?.r2).to.be.closeTo(0.25, 1e-9);
    expect(fitOf([{ x: 1, y: 1 }])).to.equal(undefined);
  });

  it("tableOf has a column for each way and size, fitsOf a line for each way", () => {
    const metered = { seconds: 10, cpuSeconds: 1, peakCores: 1, rssMiB: 400, peakMiB: 500 };
    const size = (agents: number): SizeFigures => ({
      way: "watch",
      agents,
      agentsMiB: 100,
      grown: { added: agents, connectedMs: 1, server: metered, idle: { ...metered, rssMiB: 100 + agents } },
    });
    const figures = {
      commit: "",
      noise: {} as never,
      volumes: 2,
      sizes: [size(500), size(1000), size(2000)],
      failures: [],
    };
    expect(tableOf(figures).split("\n")[2]).to.equal(
      "| server's memory (RSS) with all of them connected | 600 MiB | 1100 MiB | 2100 MiB |",
    );
    expect(fitsOf(figures)).to.include("| watch | server's memory (RSS), MiB | 100.0 | 1000.00 | 1.000 | 15100.0 |");
    expect(fitsOf({ ...figures, sizes: figures.sizes.slice(1) })).to.equal("");
    const noise = [
      size(500),
      { ...size(500), agents: 1000 },
      { ...size(501), agents: 2000 },
      { ...size(500), agents: 4000 },
    ];
    expect(fitsOf({ ...figures, sizes: noise })).to.include("| no line |");
  });

  it("added sums what the processes count", () => {
    const one = { agents: 1, connected: 1, opening: 2, said: { Mounted: 1 }, restarts: {}, failures: { "429": 1 } };
    const other = { ...one, said: { Released: 4 }, failures: { "429": 2 } };
    expect(added(one, other)).to.deep.equal({
      agents: 2,
      connected: 2,
      opening: 4,
      said: { Mounted: 1, Released: 4 },
      restarts: {},
      failures: { "429": 3 },
    });
  });

  it("volumesOf writes intents that an agent would understand, and indicesOf names them", () => {
    const shape = { nodes: 2, podsPerNode: 0, podsPerNamespace: 1, oneInUses: 1, ordinary: 0, ours: 0 };
    const names = namesOf({ ...shape, attached: false, established: true, spare: 0 });
    const stored = [...volumesOf(names, 2)];
    expect(stored.map(({ key }) => key)).to.include(
      `/registry/nodevolume.dev/nodevolumeintents/${volumeName("node-000001", 1)}`,
    );
    for (const { text } of stored) expect(parseIntent(JSON.parse(text))).to.include({ ok: true });
    const texts = [0, 1].map((at) => ({ text: `{"metadata":{"name":"${names.node(at)}"}}` }));
    const indexed = [...indicesOf(texts, 2)].flatMap(({ text }) => (JSON.parse(text) as NodeVolumeState).spec?.intents);
    const entries = stored.map(({ text }) => (JSON.parse(text) as NodeVolumeIntent).metadata);
    expect(indexed).to.deep.equal(entries.map(({ name, uid, generation }) => ({ name, uid, generation })));
  });
});
