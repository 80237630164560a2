import type { HostPorts } from "../../../src/host/ports/host-ports.ts";
import { noClients } from "../../lib/fakes/no-clients.ts";
import { noISCSI } from "../../lib/fakes/no-iscsi.ts";
import { noLayers } from "../../lib/fakes/no-layers.ts";
import { noFlocker, noNBD, noPrograms, noRBD } from "../../lib/fakes/no-programs.ts";
import { noScsi } from "../../lib/fakes/no-scsi.ts";
import { noSwaps } from "../../lib/fakes/no-swaps.ts";
import type { HostDeps } from "./host-deps.ts";
import { SimDevices } from "./sim-devices.ts";
import { SimDirectories } from "./sim-directories.ts";
import { SimEvidence } from "./sim-evidence.ts";
import { SimFetched } from "./sim-fetched.ts";
import { SimJournalFile } from "./sim-journal-file.ts";
import { SimMountTable } from "./sim-mount-table.ts";
import { SimMounter } from "./sim-mounter.ts";
import { SimOwnership } from "./sim-ownership.ts";
import { SimWakes } from "./sim-wakes.ts";

/** The ports of one agent process to its simulated machine. */
export function simHost(deps: HostDeps): HostPorts {
  let operations = 0;
  return {
    mountTable: new SimMountTable(deps, deps.namespace),
    ...(deps.machine.place === "pod" && { nodeTable: new SimMountTable(deps, deps.machine.kernel.host) }),
    directories: new SimDirectories(deps),
    evidence: new SimEvidence(deps),
    journal: new SimJournalFile(deps),
    wakeups: new SimWakes(deps),
    effects(operation) {
      const mounter = new SimMounter(deps, operation, operations++);
      const devices = new SimDevices(deps, mounter, operation);
      const ownership = new SimOwnership(deps, operation);
      const fetched = new SimFetched(deps, operation);
      return {
        mounter,
        devices,
        ownership,
        programs: noPrograms,
        flocker: noFlocker,
        rbd: noRBD,
        nbd: noNBD,
        repositories: fetched,
        images: fetched,
        clients: noClients,
        scsi: noScsi,
        iscsi: noISCSI,
        layers: noLayers,
        swaps: noSwaps,
      };
    },
  };
}
