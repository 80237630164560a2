import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locateUnpacked } from "../../../hack/lib/tools/unpacked.ts";
import { until } from "../../../hack/lib/until.ts";
import { need } from "../asserts/requirements.ts";
import { freePort } from "./free-port.ts";

/** Debian's sshd on loopback, which lets root in by one key. */
export class SSHServer implements Disposable {
  readonly #path: string;
  #sshd: ChildProcess | undefined;
  port = 0;
  /** Private keys of OpenSSH: that of who may come in, and that of somebody else. */
  readonly key: string;
  readonly otherKey: string;

  /** Skips the test, by name, where there is none to be had. @param path directory of its own */
  static async start(context: Mocha.Context, path: string): Promise<SSHServer> {
    need(context, "root", "ssh");
    const options = { env: process.env, report: (line: string) => console.log(line) };
    // libwrap0 is what only sshd needs: a machine without an SSH server has no such library.
    const packages = ["openssh-server", "libwrap0"];
    const unpacked = await locateUnpacked({ name: "openssh-server", packages, has: "usr/sbin/sshd" }, options);
    if (typeof unpacked !== "string") skipBecause(context, unpacked.missing);
    const server = new SSHServer(path);
    await server.#begin(unpacked);
    return server;
  }

  private constructor(path: string) {
    this.#path = path;
    mkdirSync(`${path}/run`, { recursive: true });
    [, this.key = "", this.otherKey = ""] = ["host", "user", "other"].map((name) => {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", `${path}/${name}`]);
      return readFileSync(`${path}/${name}`, "utf8");
    });
  }

  address(repository: string): string {
    return `ssh://root@127.0.0.1:${this.port}${repository}`;
  }

  get otherPublicKey(): string {
    return readFileSync(`${this.#path}/other.pub`, "utf8").trim();
  }

  get knownHosts(): string {
    return `[127.0.0.1]:${this.port} ${readFileSync(`${this.#path}/host.pub`, "utf8")}`;
  }

  async #begin(unpacked: string): Promise<void> {
    this.port = await freePort();
    const path = this.#path;
    const settings = [
      `Port ${this.port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${path}/host`,
      `AuthorizedKeysFile ${path}/user.pub`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin prohibit-password",
      "PidFile none",
    ];
    writeFileSync(`${path}/sshd_config`, `${settings.join("\n")}\n`);
    // It wants a user of its own, and a directory that no setting changes.
    const user = "sshd:x:2147480001:65534::/run/sshd:/usr/sbin/nologin\n";
    writeFileSync(`${path}/passwd`, readFileSync("/etc/passwd", "utf8").replace(/^sshd:.*\n/m, "") + user);
    const places = `mount --bind ${path}/run /run && mkdir -p /run/sshd && mount --bind ${path}/passwd /etc/passwd`;
    const begin = `${places} && exec ${unpacked}/usr/sbin/sshd -D -e -f ${path}/sshd_config`;
    const own = ["--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--propagation=private"];
    const env = { ...process.env, LD_LIBRARY_PATH: globSync(`${unpacked}/{lib,usr/lib}/*-linux-gnu`).join(":") };
    this.#sshd = spawn("unshare", [...own, "sh", "-c", begin], { stdio: ["ignore", "ignore", "pipe"], env });
    let said = "";
    this.#sshd.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await until("sshd to listen", 20_000, () => {
      if (this.#sshd?.exitCode !== null) throw new Error(`sshd ended: ${said}`);
      return said.includes("listening on");
    });
  }

  [Symbol.dispose](): void {
    this.#sshd?.kill("SIGKILL");
  }
}
