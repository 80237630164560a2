import { readdirSync } from "node:fs";
import { expect } from "chai";
import type { Case } from "./case.ts";

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
  },
  {
    title: "cifs",
    needs: ["cifs-client", "smb-server"],
    source(node) {
      const data = { username: "ua", password: "ua,pw", domain: "TEST" };
      const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
      node.contents.set("files", { version: "u/1", data: new Map(entries) });
      const server = process.env["NODEVOLUME_SMB_SERVER"] ?? "";
      return { cifs: { server, share: "a", secretRef: { namespace: "default", name: "files" } } };
    },
    spec: { mountOptions: ["vers=3.1.1", "actimeo=1"] },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
  },
];
