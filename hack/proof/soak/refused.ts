import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { selfSigned } from "../../../src/http/self-signed.ts";
import type { SecretOrder } from "../../lib/agent-on-kernel/agent-words.ts";
import type { IntentInput } from "../../lib/agent-on-kernel/intent.ts";
import type { Canaries } from "../steady/canaries.ts";

/** A volume that can never be had, with a Secret for that. */
interface Refused {
  readonly name: string;
  readonly source: IntentInput["source"];
  readonly secret: SecretOrder;
}

export interface RefusedVolumes {
  readonly volumes: readonly Refused[];
  /** How often somebody has shown what the Secret says. */
  shown(): number;
}

/**
 * Volumes whose servers take what the Secret says and refuse it, so that each try fails with that in its hands: of git,
 * whose server repeats it in its answer; and of SMB, where nobody listens.
 */
export async function refusedVolumes(canaries: Canaries, kept: AsyncDisposableStack): Promise<RefusedVolumes> {
  const { key, cert } = selfSigned("soak");
  let shown = 0;
  const server = createServer({ key, cert }, ({ headers }, response) => {
    if (headers.authorization !== undefined) shown += 1;
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="soak"', "Content-Type": "text/plain" });
    response.end(`fatal: not with ${headers.authorization}\n`);
  });
  kept.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const login = { username: canaries.value(40), password: canaries.value(40, 1) };
  const [git, cifs] = ["soak-git", "soak-cifs"].map((namespace) => ({ namespace, name: "login" })) as [Ref, Ref];
  const repository = `https://127.0.0.1:${port}/app.git`;
  const volumes = [
    {
      name: "node.refused-git",
      source: { git: { repository, revision: "0".repeat(40), secretRef: git } },
      secret: { ...git, values: { ...login, "ca.crt": cert } },
    },
    {
      name: "node.refused-cifs",
      source: { cifs: { server: "127.0.0.1", share: "a", secretRef: cifs } },
      secret: { ...cifs, values: login },
    },
  ];
  return { volumes, shown: () => shown };
}

interface Ref {
  readonly namespace: string;
  readonly name: string;
}
