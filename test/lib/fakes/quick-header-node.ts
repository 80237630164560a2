import { execFileSync } from "node:child_process";
import type { OperationContext } from "../../../src/host/ports/host-ports.ts";
import { RealNode } from "../kernel/real-node.ts";

const quick = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];

/**
 * A real node, whose LUKS headers take no time to be opened: Argon2id takes 6 s under emulation, each time. What makes
 * the headers of the product is tried in test/real/layer-programs.test.ts; all else is the product's and the node's
 * programs.
 */
export class QuickHeaderNode extends RealNode {
  constructor() {
    super();
    this.#wrap();
  }

  override async restart(): Promise<void> {
    await super.restart();
    this.#wrap();
  }

  #wrap(): void {
    const { host } = this;
    const effects = (operation: OperationContext) => {
      const given = host.effects(operation);
      given.layers.formatLUKS = formatLUKS;
      return given;
    };
    this.host = { ...host, effects };
  }
}

async function formatLUKS(
  { path }: { path: string },
  passphrase: Uint8Array,
  { uuid }: { uuid: string },
): Promise<void> {
  const args = ["luksFormat", "--batch-mode", "--type", "luks2", "--uuid", uuid, ...quick, "--key-file", "-", path];
  execFileSync("cryptsetup", args, { input: passphrase, stdio: "pipe" });
}
