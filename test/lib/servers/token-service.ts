import { randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { SelfSigned } from "../../../src/http/self-signed.ts";

/**
 * What a registry sends for tokens to: it gives them, signed, to who has this authorization, to pull what is asked for.
 */
export class TokenService implements Disposable {
  readonly #server: Server;
  /** With which authorization it was asked. */
  readonly asked: (string | undefined)[] = [];

  constructor(certificate: SelfSigned, wanted: string) {
    this.#server = createServer(certificate, (request, response) => {
      const { authorization } = request.headers;
      this.asked.push(authorization);
      const [, name = ""] =
        /^repository:(.*):pull$/.exec(new URL(request.url ?? "", "https://x").searchParams.get("scope") ?? "") ?? [];
      if (authorization === wanted) response.end(JSON.stringify({ token: tokenFor(certificate, name) }));
      else response.writeHead(401).end("{}");
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get realm(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/token`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** As the registry wants it (distribution, docs/spec/auth/jwt.md). */
function tokenFor({ key, cert }: SelfSigned, name: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: "tokens",
    sub: "reader",
    aud: "registry",
    iat: now,
    nbf: now - 60,
    exp: now + 300,
    jti: randomUUID(),
  };
  const access = [{ type: "repository", name, actions: ["pull"] }];
  const x5c = [cert.replace(/-----[^-]*-----|\n/g, "")];
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ typ: "JWT", alg: "ES256", x5c })}.${part({ ...claims, access })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
