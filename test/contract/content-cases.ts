import { readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import type { Case } from "./case.ts";

const canary = "canary,of: a Secret";

/** Volumes that show content of the API, which is handed to them here. */
export const contentCases: readonly Case[] = [
  {
    title: "configMap",
    source(node) {
      node.contents.set("cm", { version: "u/1", data: new Map([["key", Buffer.from("value")]]) });
      return { configMap: { namespace: "default", name: "cm" } };
    },
    shows: (path) => expect(readFileSync(`${path}/key`, "utf8")).to.equal("value"),
    keepsData: false,
    readOnly: true,
  },
  {
    title: "secret",
    source(node) {
      node.contents.set("s", { version: "u/1", data: new Map([["key", Buffer.from(canary)]]) });
      return { secret: { namespace: "default", secretName: "s", defaultMode: 0o400 } };
    },
    shows(path) {
      expect(readFileSync(`${path}/key`, "utf8")).to.equal(canary);
      expect(statSync(`${path}/key`).mode & 0o777).to.equal(0o400);
    },
    keepsData: false,
    readOnly: true,
    table: { fsType: "tmpfs", options: ["noswap"] },
    secrets: [canary],
  },
  {
    title: "downwardAPI",
    source(node) {
      node.contents.set("node", { version: "u/1", data: new Map([["metadata.name", Buffer.from("node")]]) });
      return { downwardAPI: { items: [{ path: "a/name", fieldRef: { fieldPath: "metadata.name" } }] } };
    },
    shows: (path) => expect(readFileSync(`${path}/a/name`, "utf8")).to.equal("node"),
    keepsData: false,
    readOnly: true,
  },
  {
    title: "projected",
    source(node) {
      node.contents.set("cm", { version: "u/1", data: new Map([["key", Buffer.from("value")]]) });
      node.contents.set("sa", { version: "t/1", data: new Map([["token", Buffer.from(canary)]]) });
      const token = { namespace: "default", serviceAccountName: "sa", path: "token" };
      const sources = [{ configMap: { namespace: "default", name: "cm" } }, { serviceAccountToken: token }];
      return { projected: { defaultMode: 0o400, sources } };
    },
    shows(path) {
      expect(readFileSync(`${path}/key`, "utf8")).to.equal("value");
      expect(readFileSync(`${path}/token`, "utf8")).to.equal(canary);
      expect(statSync(`${path}/token`).mode & 0o777).to.equal(0o400);
    },
    keepsData: false,
    readOnly: true,
    table: { fsType: "tmpfs", options: ["noswap"] },
    secrets: [canary],
  },
];
