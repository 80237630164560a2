import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { ask, type RefusalOf } from "../../../../../src/host/linux/image/connection.ts";
import { isOwnAddress } from "../../../../../src/host/linux/image/own-addresses.ts";
import { Registry } from "../../../../../src/host/linux/image/registry.ts";

describe("isOwnAddress", () => {
  for (const [address, own] of [
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["0.0.0.0", true],
    ["169.254.169.254", true],
    ["::1", true],
    ["::", true],
    ["fe80::1", true],
    ["::ffff:127.0.0.1", true],
    ["::ffff:7f00:1", true],
    ["64:ff9b::7f00:1", true],
    ["64:ff9b::a9fe:a9fe", true],
    ["10.0.0.1", false],
    ["128.0.0.1", false],
    ["2001:db8::1", false],
    ["64:ff9b::808:808", false],
    ["::ffff:192.0.2.1", false],
  ] as const) {
    it(`of ${address} is ${own}`, () => expect(isOwnAddress(address)).to.equal(own));
  }
});

describe("ask", () => {
  const server = createServer((_request, response) => response.end("answer"));
  before((listening) => void server.listen(0, "127.0.0.1", () => listening()));
  after(() => void server.close());

  const refusalOf: RefusalOf = (address) =>
    isOwnAddress(address) ? new VolumeError("RepositoryRefused", "final", `not ${address}`) : undefined;
  const asked = (host: string, ...refusal: readonly RefusalOf[]) =>
    ask(new URL(`http://${host}:${(server.address() as AddressInfo).port}/`), {}, ...refusal).then(
      (answer) => {
        answer.leave();
        return `${answer.status}`;
      },
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it("asks nothing of an address that is refused, whatever name it has", async () => {
    expect(await asked("localhost", refusalOf)).to.match(/^VolumeError: not (127\.0\.0\.1|::1)$/);
    expect(await asked("127.0.0.1", refusalOf)).to.equal("VolumeError: not 127.0.0.1");
    expect(await asked("[::ffff:7f00:1]", refusalOf)).to.equal("VolumeError: not ::ffff:7f00:1");
    expect(await asked("localhost")).to.equal("200");
    expect(await asked("localhost", () => undefined)).to.equal("200");
  });

  it("says of a name that there is none that the connection is broken", async () => {
    expect(await asked("nowhere.invalid", refusalOf)).to.match(/^BrokenConnection: /);
  });

  it("follows no registry to the node itself by an address that does not look like it", async () => {
    server.removeAllListeners("request");
    server.on("request", (_request, response) => {
      response.writeHead(307, { Location: "https://[64:ff9b::7f00:1]/layer" }).end();
    });
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const digest = `sha256:${"0".repeat(64)}`;
    const image = { registry: "registry.example", address: `http://${host}`, repository: "team/model", digest };
    const refused = await new Registry(image).manifest(digest, []).then(
      () => undefined,
      (error: VolumeError) => error,
    );
    expect(refused).to.include({ reason: "RepositoryRefused", errorClass: "final" });
    expect(refused?.message).to.match(/which is the node itself \(64:ff9b::7f00:1\): no request is sent there$/);
  });
});
