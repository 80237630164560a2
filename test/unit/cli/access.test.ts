import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect } from "chai";
import { silent } from "../../../hack/lib/silent-log.ts";
import { resource } from "../../../src/api/names.ts";
import { connect } from "../../../src/cli/access.ts";
import { selfSigned } from "../../../src/http/self-signed.ts";
import { realSystem } from "../../../src/system.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("connect", () => {
  const authority = selfSigned("server");
  const person = selfSigned("jane");
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-access-"));
  const seen: { authorization: string | undefined; certificate: string | undefined; url: string | undefined }[] = [];
  let server: https.Server;
  let address: string;

  before(async () => {
    const options = { ...authority, requestCert: true, rejectUnauthorized: false };
    server = https.createServer(options, ({ headers, url, socket }, response) => {
      const name = (socket as TLSSocket).getPeerCertificate()?.subject?.CN;
      seen.push({
        authorization: headers.authorization,
        certificate: typeof name === "string" ? name : undefined,
        url,
      });
      response.end(
        JSON.stringify({ kind: "NodeList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });

  async function askAs(user: object, cluster: object = {}, context: object = {}) {
    const path = join(directory, "config");
    const config = {
      "current-context": "c",
      clusters: [
        { name: "k", cluster: { server: address, "certificate-authority-data": base64(authority.cert), ...cluster } },
      ],
      users: [{ name: "u", user }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u", ...context } }],
    };
    writeFileSync(path, JSON.stringify(config));
    seen.length = 0;
    const access = connect({ kubeconfig: path }, realSystem(silent), "test");
    try {
      await access.client.list(resource.nodes);
    } finally {
      access.close();
    }
    return { request: seen[0], access };
  }

  it("shows a client certificate", async () => {
    const { request } = await askAs({
      "client-certificate-data": base64(person.cert),
      "client-key-data": base64(person.key),
    });
    expect(request?.certificate).to.equal("jane");
    expect(request?.authorization).to.equal(undefined);
  });

  it("runs the program that gives a token", async () => {
    const answer = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: "from-a-program" },
    };
    const exec = {
      apiVersion: answer.apiVersion,
      command: "echo",
      args: [JSON.stringify(answer)],
      interactiveMode: "Never",
    };
    const { request } = await askAs({ exec });
    expect(request?.authorization).to.equal("Bearer from-a-program");
  });

  it("says which program is not there", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-program",
      interactiveMode: "Never",
    };
    const failed = await askAs({ exec }).catch((error: Error) => error.message);
    expect(failed).to.include("the kubeconfig's credentials cannot be used").and.include("no-such-program");
  });

  it("takes a server beneath a path, and the namespace of the context", async () => {
    const { request, access } = await askAs(
      { token: "t" },
      { server: `${address}/k8s/clusters/c-1` },
      { namespace: "shop" },
    );
    expect(request?.url).to.match(/^\/k8s\/clusters\/c-1\/api\/v1\/nodes\?/);
    expect(access.namespace).to.equal("shop");
  });

  it("does not trust a server that the authority has not signed, unless it is told to", async () => {
    const failed = await askAs({ token: "t" }, { "certificate-authority-data": base64(person.cert) }).catch(
      (error: Error) => error.message,
    );
    expect(failed).to.match(/certificate|self-signed/);
    const insecure = { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true };
    expect((await askAs({ token: "t" }, insecure)).request?.authorization).to.equal("Bearer t");
  });
});
