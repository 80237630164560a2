import * as net from "node:net";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { framed } from "../lib/api-proxy/framed.ts";
import { isInModel } from "../lib/api-proxy/model.ts";
import { all, mutated } from "../lib/api-proxy/mutated-request.ts";
import { type Asked, Proxied } from "../lib/api-proxy/proxied.ts";
import { collectedMemory } from "../lib/asserts/collected-memory.ts";
import { tryAll } from "../lib/mutate/tries.ts";

/** Connections at once, each with one request and what is to be read behind it. */
const together = 200;
/** Milliseconds without a byte after which a connection is left, before its first answer and after. */
const [patience, rest] = [150, 25];
const headers = ["accept", "authorization", "connection", "host", "impersonate-user", "user-agent"];
const written = [...headers, "content-length", "content-type"];

describe("a hostile client of the API proxy's socket", function () {
  this.timeout(1_200_000);
  let world: Proxied;
  beforeEach(async () => {
    world = await Proxied.start();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  /** What comes back on one connection. */
  const answersTo = (bytes: Buffer): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect(world.socket);
      let text = "";
      socket.setTimeout(patience, () => socket.destroy());
      socket.setEncoding("latin1").on("data", (chunk) => {
        text += chunk;
        socket.setTimeout(rest);
      });
      socket.on("error", () => {}); // the proxy has closed it: what it said before counts
      socket.on("close", () => resolve(text));
      socket.write(bytes);
    });

  slow("reaches the API server with 100,000 requests by nothing that an agent of this node may not ask", async () => {
    const codes = new Map<string, number>();
    let rounds = 0;
    let reached = 0;
    let before = 0;
    await tryAll({
      what: "times two hundred hostile requests",
      usual: 500,
      whole: 10_000,
      reaches: {},
      async attempt(random) {
        const requests = Array.from({ length: together }, () => {
          const request = random.pick(all);
          return framed(random.chance(0.6) ? mutated(request, random) : request, random);
        });
        for (const text of await Promise.all(requests.map(answersTo)))
          for (const [, code = ""] of text.matchAll(/HTTP\/1\.1 (\d+) /g)) codes.set(code, (codes.get(code) ?? 0) + 1);
        const asked = world.asked.splice(0);
        for (const one of asked) expectAllowed(one);
        reached += asked.length;
        world.lines.length = 0;
        if (++rounds === 50) before = collectedMemory();
        return "judged";
      },
    });
    console.log(`      ${reached} reached the API server; ${[...codes].sort().join(" ").replaceAll(",", ": ")}`);
    for (const code of ["200", "400", "403"]) expect(codes.get(code), code).to.be.greaterThan(1_000);
    expect(reached).to.be.greaterThan(10_000);
    await until(
      "the last requests to end",
      20_000,
      () => world.proxy.inFlight.requests + world.proxy.inFlight.watches === 0,
    );
    expect(await world.transport.request({ method: "GET", path: (all[0] as { target: string }).target })).to.include({
      status: 200,
    });
    if (before > 0) expect(collectedMemory() / before, "what is kept, to what was after a tenth").to.be.lessThan(1.5);
  });
});

/**
 * @throws Error if no agent of node-1 may ask for it, or if it has anything of the client's in it but what a rule lets
 *   through
 */
function expectAllowed({ method, url, headers: said, body }: Asked): void {
  const asUser = said["impersonate-user"] as string | undefined;
  const what = JSON.stringify({ method, url, said, body: body.slice(0, 1_000) });
  const isIts = isInModel({ method, path: url, asUser, body: body === "" ? undefined : body });
  const known = body === "" ? headers : written;
  const strange = Object.keys(said).filter((name) => !known.includes(name));
  const isOurs = said.authorization === "Bearer token-1" && said["user-agent"] === "proxy/1";
  if (!isIts || !isOurs || strange.length > 0) throw new Error(`reached the API server: ${what}`);
}
