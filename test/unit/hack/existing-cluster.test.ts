import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type ApiClient, createApiClient } from "../../../hack/lib/api-client.ts";
import type { Kubectl } from "../../../hack/lib/kubectl.ts";
import { liveHolder } from "../../../hack/quickstart/existing-checks.ts";
import { removeMade } from "../../../hack/quickstart/existing-removal.ts";
import type { Manifest } from "../../../hack/quickstart/inventory.ts";
import { createScreen } from "../../../hack/quickstart/screen.ts";

describe("quickstart on a cluster that refuses", () => {
  const crd: Manifest = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "nodevolumesets.nodevolume.dev" },
  };
  let directory: string;
  let server: Server;
  let client: ApiClient;
  let status: number;
  let commands: string[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "refusing-api-"));
    const socketPath = join(directory, "api.sock");
    commands = [];
    server = createServer((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "Status", message: "the server says why", items: [] }));
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    client = createApiClient({ socketPath });
  });
  afterEach(async () => {
    client.close();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });

  const removal = () => {
    const kubectl = {
      run: async (args: readonly string[], input: string) => {
        for (const { kind } of (JSON.parse(input) as { items: Manifest[] }).items) commands.push(`${args[0]} ${kind}`);
        return "";
      },
    } as unknown as Kubectl;
    return removeMade({
      kubectl,
      client,
      node: "node-1",
      made: [crd],
      sample: [],
      screen: createScreen({ write: () => undefined }),
    });
  };

  it("keeps the CRDs if nobody can say whether there are sets of somebody else", async () => {
    status = 403;
    const error = await removal().then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).to.match(/^GET .*nodevolumesets.*: 403 the server says why$/);
    expect(commands).to.deep.equal([]);
  });

  it("removes what is left if the kinds are gone already", async () => {
    status = 404;
    await removal();
    expect(commands).to.include("delete CustomResourceDefinition");
  });

  it("takes a Lease that it cannot read for nobody's only if there is none", async () => {
    status = 404;
    expect(await liveHolder(client, "node-1")).to.equal(undefined);
    status = 500;
    const error = await liveHolder(client, "node-1").catch((reason: Error) => reason);
    expect(String(error)).to.include("500 the server says why");
  });
});
