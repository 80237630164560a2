import { expect } from "chai";
import { loadModule } from "../../../../../src/host/linux/rbd/load-module.ts";
import type { ProgramResult, Programs } from "../../../../../src/host/ports/programs.ts";

const nowhere = "/sys/module/there is none";

/** Not the node: a modprobe, or none, that ends so. */
function node(modprobe?: ProgramResult): Programs {
  return {
    identify: async (path) => (modprobe === undefined ? undefined : path),
    run: async () => modprobe as ProgramResult,
  };
}

async function said(programs: Programs): Promise<unknown> {
  return loadModule(programs, "nbd", nowhere, "NBD").catch((error: unknown) => error);
}

describe("a module of the node's kernel", () => {
  it("that modprobe does not load: its words are told, and not to try the same again", async () => {
    const stderr = "modprobe: FATAL: Module nbd not found in directory /lib/modules/6.1.0\n";
    const error = await said(node({ code: 1, stdout: "", stderr }));
    expect(error).to.include({ reason: "FilesystemUnsupported", errorClass: "final" });
    expect(error).to.have.property("message").that.contains(`ended with 1: ${stderr.trim()}`).and.contains("NBD");
  });

  it("that is loaded and does not show is told so", async () => {
    const error = await said(node({ code: 0, stdout: "", stderr: "" }));
    expect(error).to.have.property("message").that.contains("ended with 0").and.contains(nowhere);
  });

  it("without a modprobe is for somebody else to load", async () => {
    expect(await said(node()))
      .to.have.property("message")
      .that.contains("no modprobe")
      .and.contains("load its module nbd");
  });

  it("that is there is not asked for", async () => {
    await loadModule(node({ code: 1, stdout: "", stderr: "" }), "x", "/sys", "X");
  });
});
