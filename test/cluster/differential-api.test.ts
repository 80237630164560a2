import { expect } from "chai";
import { untilEnforced } from "../../hack/lib/control-plane/install.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { resource } from "../../src/api/names.ts";
import { createHttpTransport, type HttpTransport } from "../../src/kube/client/http-transport.ts";
import { resourcePath } from "../../src/kube/client/resource-path.ts";
import type { ApiResponse, Transport } from "../../src/kube/client/transport.ts";
import { realSystem } from "../../src/system.ts";
import { full } from "../lib/asserts/requirements.ts";
import { testCluster } from "../lib/cluster/cluster.ts";
import { compact } from "../lib/cluster/etcd.ts";
import { intentOn } from "../lib/cluster/policy-world.ts";
import { type ApiPair, apiDifference, simTransport } from "../sim/differential/api-compare.ts";
import { markerSpec, randomRequests } from "../sim/differential/api-generate.ts";
import { SeededRandom } from "../sim/random.ts";
import { Sightings } from "../sim/sightings.ts";

const requestsEach = 12;
const sequencesAtOnce = 4;
/** Sequences in which every answer comes up. */
const enough = 300;
const first = Number(process.env["NODEVOLUME_SIM_FIRST_SEED"] ?? 1);
const count = Number(process.env["NODEVOLUME_SIM_SEEDS"] ?? (full() ? 5_000 : 300));

/** What a run must have met: a rule that holds because its case never occurs proves nothing. */
const expectedAnswers = [
  ...["201", "400 BadRequest", "409 AlreadyExists", "422 Invalid", "500 Failure"].map((answer) => `create: ${answer}`),
  ...["200", "201", "400 BadRequest", "404 NotFound", "409 Conflict", "422 Invalid"].map((answer) => `put: ${answer}`),
  ...["200", "404 NotFound", "409 Conflict", "422 Invalid"].map((answer) => `patch: ${answer}`),
  ...["200", "404 NotFound", "409 Conflict", "422 Invalid"].map((answer) => `patchStatus: ${answer}`),
  ...["200", "200 Success", "404 NotFound", "409 Conflict"].map((answer) => `delete: ${answer}`),
  ...["200", "404 NotFound"].map((answer) => `get: ${answer}`),
  "list: 200",
  ...["all", "now", "start"].flatMap((from) =>
    ["ADDED", "MODIFIED", "DELETED"].map((type) => `watch from ${from}: ${type}`),
  ),
  "watch from all: BOOKMARK NodeVolumeIntent",
];

describe("the simulated API server", () => {
  let real: HttpTransport;

  before(async function () {
    const { controlPlane } = await testCluster(this);
    const { server, ca, credentials } = controlPlane;
    const token = { current: async () => credentials.adminToken, refused: () => {} };
    real = createHttpTransport({ system: realSystem(silent), server, ca, token, userAgent: "differential" });
  });
  after(() => real?.close());

  slow("answers, keeps and tells what the real one does, whatever is asked", async function () {
    this.timeout(30 * 60_000);
    const sightings = new Sightings();
    const pair: ApiPair = { real, sightings, markerSpec };
    let seed = first;
    // Sequences do not meet: their objects have names and a label of their own.
    const worker = async () => {
      while (seed < first + count) {
        const own = seed++;
        const operations = randomRequests(new SeededRandom(own, "differential"), requestsEach);
        const found = await apiDifference(pair, `d${own}`, operations);
        if (found === undefined) continue;
        const told = operations.map((operation) => `  ${JSON.stringify(operation)}`).join("\n");
        throw new Error(`seed ${own}:\n${told}\n${found}`);
      }
    };
    await Promise.all(Array.from({ length: sequencesAtOnce }, worker));
    const missing = sightings.missing(expectedAnswers);
    console.log(`    ${count} sequences of ${requestsEach} requests, and what came of them:\n${sightings}`);
    if (count >= enough) expect(missing, "never seen").to.deep.equal([]);
  });

  it("says of what it has forgotten what the real one says", async function () {
    this.timeout(120_000);
    const { controlPlane } = await testCluster(this);
    const simulated = simTransport();
    const path = resourcePath(resource.intents);
    const said: { [whose: string]: string[] } = {};
    for (const [whose, transport] of Object.entries({ real, simulated: simulated.transport })) {
      for (const name of ["forgotten-a", "forgotten-b"]) {
        const body = { ...intentOn({ name: "node-1", uid: "u" }, name), metadata: { name } };
        await transport.request({ method: "POST", path, body });
      }
      const { body } = await transport.request({ method: "GET", path, query: { limit: "1" } });
      const { continue: token, resourceVersion } = (body as { metadata: { [key: string]: string } }).metadata;
      await transport.request({ method: "DELETE", path: `${path}/forgotten-a` });
      if (whose === "simulated") simulated.server.compact();
      else {
        await compact(controlPlane, path);
        // It would go on answering from what it has in memory.
        await controlPlane.stopApiServer();
        await controlPlane.startApiServer();
        await untilEnforced(controlPlane);
      }
      await transport.request({ method: "DELETE", path: `${path}/forgotten-b` });
      const page = await transport.request({ method: "GET", path, query: { limit: "1", continue: token ?? "" } });
      said[whose] = [told(page)];
      said[whose]?.push(...(await watchFrom(transport, path, "1")));
      expect(Number(resourceVersion)).to.be.above(1);
    }
    expect(said["simulated"]).to.deep.equal(said["real"]);
    expect(said["real"]).to.deep.equal(["410 Expired", "line ERROR 410 Expired", "closed"]);
  });
});

/** What a watch tells that ends by itself. */
function watchFrom(transport: Transport, path: string, resourceVersion: string): Promise<string[]> {
  const lines: string[] = [];
  return new Promise((resolve) => {
    const query = { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: "30", resourceVersion };
    transport.stream(
      { method: "GET", path, query },
      {
        onObject(line) {
          const { type, object } = line as { type: string; object: { code?: number; reason?: string } };
          lines.push(`line ${type} ${object.code} ${object.reason}`);
        },
        onEnd: ({ response, error }) =>
          resolve([...lines, response === undefined ? (error === undefined ? "closed" : "broken") : told(response)]),
      },
    );
  });
}

function told({ status, body }: ApiResponse): string {
  return `${status} ${(body as { reason?: string }).reason ?? ""}`.trim();
}
