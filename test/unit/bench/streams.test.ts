import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { createCluster } from "../../../hack/bench/scale/generator/cluster.ts";
import { namesOf } from "../../../hack/bench/scale/generator/shape.ts";
import { serveWatch } from "../../../hack/bench/scale/generator/streams.ts";
import { resource, systemNamespace } from "../../../src/api/names.ts";

describe("a watch of the generator", () => {
  it("says nothing after its end, though the other side has not read that yet", async () => {
    const names = namesOf({
      nodes: 1,
      podsPerNode: 1,
      podsPerNamespace: 1,
      oneInUses: 1,
      ordinary: 0,
      ours: 0,
      attached: false,
      established: false,
      spare: 0,
    });
    const cluster = createCluster(names);
    const served = cluster.served("/apis/coordination.k8s.io/v1", "leases");
    if (served === undefined) throw new Error("no leases");
    const response = Object.assign(new PassThrough(), { writeHead() {} });
    const errors: unknown[] = [];
    response.on("error", (error) => errors.push(error));
    const ended = new Promise((resolve) => response.on("prefinish", resolve));
    const watch = { served, namespace: undefined, selector: undefined, from: cluster.version(), timeoutSeconds: 0.01 };
    await serveWatch(cluster, watch, response as unknown as ServerResponse);
    await ended;
    const version = cluster.nextVersion();
    cluster.of(resource.leases).put(`${systemNamespace}/n`, '{"metadata":{"name":"n"}}', version);
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).to.deep.equal([]);
    response.destroy();
  });
});
