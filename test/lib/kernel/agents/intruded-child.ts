import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { Intruded } from "../programs/intruded-child-main.ts";
import { RealNode } from "../real-node.ts";

const main = fileURLToPath(new URL("../programs/intruded-child-main.ts", import.meta.url));

const kernel = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled"];

/** A node, and somebody who runs code in one of the agent's children that fetch. */
export class IntrudedChild implements AsyncDisposable {
  readonly #node = new RealNode();
  readonly #own = `${this.#node.path}/src/own`;
  readonly #canary = `${this.#node.path}/src/canary`;
  readonly layout = `${this.#node.path}/src/layout`;
  /** Paths of the node that a child has nothing of. */
  readonly ofNode: readonly string[] = [
    ...[this.#canary, ...kernel, "/etc/shadow", "/dev/sda", "/dev/mem"],
    ...[`/proc/${process.pid}/root${this.#canary}`, `/proc/1/root${this.#canary}`, `/proc/${process.pid}/mem`],
  ];

  static async make(): Promise<IntrudedChild> {
    const made = new IntrudedChild();
    mkdirSync(made.#own, 0o700);
    mkdirSync(made.layout);
    writeFileSync(`${made.layout}/index.json`, "of the layout");
    writeFileSync(made.#canary, "kept", { mode: 0o600 });
    return made;
  }

  /** What comes of it, with attempts on these paths. */
  intrude(kind: "unpack" | "checkOut", paths: readonly string[]): Intruded {
    const args = [main, kind, this.#own, this.layout, ...paths];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Intruded;
  }

  /** It has its own directory, sees nothing of the paths `gone`, and only reads the others. */
  expectNothingOfTheNode(intruded: Intruded, gone: readonly string[], readOnly: readonly string[]): void {
    const nowhere = { read: "ENOENT", readInPool: "ENOENT", write: "ENOENT", chmod: "ENOENT", chown: "ENOENT" };
    for (const path of gone) {
      const { make, ...others } = intruded.paths[path] ?? {};
      expect(others, path).to.deep.equal(nowhere);
      expect(make, path).to.be.oneOf(["ENOENT", "EROFS"]);
    }
    const seen = { read: "succeeded", readInPool: "succeeded", write: "EROFS", chmod: "EROFS", chown: "EROFS" };
    for (const path of readOnly) {
      const { make, ...others } = intruded.paths[path] ?? {};
      expect(others, path).to.deep.equal(seen);
      expect(make, path).to.be.oneOf(["EROFS", "ENOENT"]);
    }
    const absent = ["sys", "home", "root", "var"].filter((folder) => !main.startsWith(`/${folder}/`));
    for (const folder of absent) expect(intruded.root).to.not.include(folder);
    expect(statSync(`${this.#own}/new`).isDirectory(), "its own directory").to.equal(true);
    expect(readFileSync(this.#canary, "utf8")).to.equal("kept");
    expect(statSync(this.#canary)).to.include({ mode: 0o100600, uid: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#node[Symbol.asyncDispose]();
  }
}
