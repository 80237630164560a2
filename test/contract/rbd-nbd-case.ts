import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { expect } from "chai";
import { unmapArgs } from "../../src/host/linux/rbd/rbd-text.ts";
import { full } from "../lib/asserts/requirements.ts";
import type { Case } from "./case.ts";
import { eachOnce, keyOfVM, rbdOfVM, secretOfVM, wrongKey } from "./ceph-kernel-cases.ts";
import { versionOf } from "./parts.ts";

/** Each test has one of its own: who serves one that a test has left keeps others out of it. */
export const nbdImages = Array.from({ length: full() ? 16 : 3 }, (_, index) => `nbd-${index + 1}`);

const nextImage = eachOnce(nbdImages);

export const rbdNBDCase: Case = {
  title: "rbd, by rbd-nbd",
  needs: ["ceph-cluster"],
  open: async () => ({ [Symbol.asyncDispose]: async () => disconnectAll() }),
  source(node) {
    node.contents.set("ceph", secretOfVM());
    return { rbd: rbdOfVM({ image: nextImage(), fsType: "ext4", client: "NBD" }) };
  },
  shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
  keepsData: true,
  table: { fsType: "ext4", source: /^\/dev\/nbd\d+$/ },
  secrets: [keyOfVM()],
  refuses(node) {
    node.contents.set("ceph", secretOfVM(wrongKey));
    return [wrongKey];
  },
  parts: () => ({ client: versionOf("rbd-nbd", "--version"), server: "Ceph 16.2.15" }),
};

/** Of the one kernel, whatever the namespace: devices that somebody serves, or did. */
export function servedDevices(): string[] {
  return readdirSync("/sys/block").filter((name) => name.startsWith("nbd") && existsSync(`/sys/block/${name}/pid`));
}

/** Ends what tests have left: what mounted it is gone with their sandboxes. */
export function disconnectAll(): void {
  using all = new DisposableStack();
  for (const name of servedDevices()) all.defer(() => execFileSync("rbd-nbd", unmapArgs(`/dev/${name}`)));
}
