import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { FlockerContractServer } from "../lib/fakes/flocker-contract-server.ts";
import type { Case } from "./case.ts";

/** By a contract server, which is not Flocker: nobody can run that any more. */
export const flockerCase: Case = {
  title: "flocker",
  needs: ["openssl"],
  async source(node) {
    const server = node.keep(new FlockerContractServer());
    const flocker = await server.listen();
    node.through((host) => ({ ...host, effects: (operation) => ({ ...host.effects(operation), flocker }) }));
    server.mount();
    writeFileSync(join(server.path, "here"), "");
    return { flocker: { datasetName: "data" } };
  },
  shows: (path) => expect(readdirSync(path)).to.include("here"),
  keepsData: true,
  parts: () => ({ client: "the agent", server: "FlockerContractServer, which is not Flocker" }),
  table: { fsType: "tmpfs", source: /^dataset$/ },
};
