import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { selfSigned } from "../../src/http/self-signed.ts";
import { ContractRegistry, tarOf } from "../lib/servers/contract-registry.ts";
import { DebianRegistry } from "../lib/servers/debian-registry.ts";
import type { Case } from "./case.ts";

const secretRef = { namespace: "team", name: "pull" };
const certificate = selfSigned("registry");
const [password, wrong] = ["pa55:word-of-nobody-else", "wr0ng-word-of-the-contract"];
const auth = (word: string) => Buffer.from(`reader:${word}`).toString("base64");
/** Of the password, by bcrypt, which the registry wants. */
const htpasswd = "reader:$2b$04$zE03eOIwcWWjGL0WbHgkeuBorIcMB7EaUVhJODkC2ZvH7hj3s2yXW\n";
const layer = () => tarOf({ name: "bin/run", content: "value", mode: 0o755, uid: 1000 });

const plain = {
  shows(path: string) {
    expect(readFileSync(`${path}/bin/run`, "utf8")).to.equal("value");
    const { mode, uid } = statSync(`${path}/bin/run`);
    expect([mode & 0o7777, uid]).to.deep.equal([0o755, 1000]);
  },
  keepsData: false,
  readOnly: true,
} as const satisfies Partial<Case>;

/** What the second case is served by. */
class PrivateRegistry implements AsyncDisposable {
  readonly #path = mkdtempSync(join(tmpdir(), "nvo-registry-"));
  registry: DebianRegistry | undefined;
  reference = "";

  async begin(context: Mocha.Context): Promise<this> {
    using open = await DebianRegistry.start(context, this.#path);
    const image = await open.pushImage(gzipSync(layer()));
    this.registry = await DebianRegistry.start(context, this.#path, { certificate, letsIn: { htpasswd } });
    this.reference = this.registry.reference(image);
    return this;
  }

  secret(word: string): Map<string, string> {
    const auths = { [`127.0.0.1:${this.registry?.port}`]: { auth: auth(word) } };
    return new Map(Object.entries({ ".dockerconfigjson": JSON.stringify({ auths }), "ca.crt": certificate.cert }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.registry?.[Symbol.dispose]();
    rmSync(this.#path, { recursive: true });
  }
}

let served: PrivateRegistry | undefined;

/** From what stands for a registry (ContractRegistry), and from a real one that wants a password. */
export const imageCases: readonly Case[] = [
  {
    ...plain,
    title: "image",
    async source(node) {
      const registry = node.keep(new ContractRegistry());
      await registry.listen();
      return { image: { reference: registry.reference(registry.image(registry.layer(layer()))) } };
    },
    parts: () => ({ client: "the agent", server: "ContractRegistry, which is no registry" }),
  },
  {
    ...plain,
    title: "image with a Secret",
    async open(context) {
      served = await new PrivateRegistry().begin(context);
      return served;
    },
    source(node) {
      if (served === undefined) throw new Error("the case is not open");
      node.secrets.set(secretRef.name, served.secret(password));
      return { image: { reference: served.reference, secretRef } };
    },
    secrets: [password, auth(password)],
    refuses(node) {
      if (served !== undefined) node.secrets.set(secretRef.name, served.secret(wrong));
      return [wrong, auth(wrong)];
    },
    cutOffs: "some",
    parts: () => ({ client: "the agent", server: "docker-registry 2.8 of Debian, by TLS with a password" }),
  },
];
