import { readdirSync } from "node:fs";
import { expect } from "chai";
import type { RealNode } from "../lib/kernel/real-node.ts";
import type { Case } from "./case.ts";
import { versionOf } from "./parts.ts";

/** Volumes of servers: those that test/vm starts on loopback. */
export const networkCases: readonly Case[] = [
  {
    title: "nfs",
    needs: ["nfs-client", "nfs-export"],
    source() {
      const [server = "", path = ""] = (process.env["NODEVOLUME_NFS_EXPORT"] ?? "").split(/:(?=\/)/);
      return { nfs: { server, path } };
    },
    spec: { mountOptions: ["vers=4.2", "actimeo=1"] },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    keepsData: true,
    parts: () => ({ client: versionOf("mount.nfs", "-V"), server: "the kernel's" }),
    table: { fsType: "nfs4", options: ["vers=4.2", "acregmin=1"] },
  },
  {
    title: "cifs",
    needs: ["cifs-client", "smb-server"],
    source(node) {
      user(node, "ua,pw");
      const server = process.env["NODEVOLUME_SMB_SERVER"] ?? "";
      return { cifs: { server, share: "a", secretRef: { namespace: "default", name: "files" } } };
    },
    spec: { mountOptions: ["vers=3.1.1", "actimeo=1"] },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
    parts: () => ({ client: versionOf("mount.cifs", "-V"), server: versionOf("smbd", "-V") }),
    table: { fsType: "cifs", options: ["vers=3.1.1", "username=ua"] },
    secrets: ["ua,pw"],
    refuses(node) {
      user(node, "canary,of: another");
      return ["canary,of: another"];
    },
    secretsToldTo: { program: "mount.cifs", by: "environment" },
    onlyFull: ["partly", "busy", "journal alone"], // nfs, of which all is asked, has the same code for them
  },
];

/** What the Secret says whom to log in as. */
function user(node: RealNode, password: string): void {
  const data = Object.entries({ username: "ua", password, domain: "TEST" });
  const version = `u/${password.length}`;
  node.contents.set("files", { version, data: new Map(data.map(([key, value]) => [key, Buffer.from(value)])) });
}
