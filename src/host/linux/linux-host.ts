import type { System } from "../../ports.ts";
import type { MountTable } from "../mount-table/mount-table.ts";
import type { MountTier } from "../mount-table/mount-table-source.ts";
import { defaultFlocker, type FlockerPlace } from "../ports/flocker.ts";
import type { Effects, HostPorts, OperationContext } from "../ports/host-ports.ts";
import type { RemoteMount } from "../ports/servers.ts";
import { ChildRunner } from "./child/child-runner.ts";
import { LinuxPrograms } from "./child/linux-programs.ts";
import { LinuxDevices } from "./device/linux-devices.ts";
import { LinuxSwapSource, LinuxSwaps } from "./device/linux-swaps.ts";
import { usersByChild } from "./evidence/child-users.ts";
import { LinuxEvidence } from "./evidence/linux-evidence.ts";
import { LinuxTraces } from "./evidence/linux-traces.ts";
import { LinuxDirectories } from "./files/linux-directories.ts";
import { LinuxJournalFile } from "./files/linux-journal-file.ts";
import { LinuxOwnership } from "./files/linux-ownership.ts";
import { LinuxFlocker } from "./flocker/linux-flocker.ts";
import { linuxRepositories } from "./git/linux-repositories.ts";
import { linuxImages } from "./image/linux-images.ts";
import { LinuxLayers } from "./layers/linux-layers.ts";
import { ChildMounter } from "./mount/child-mounter.ts";
import { InProcessMounter } from "./mount/in-process-mounter.ts";
import { LinuxClients } from "./mount/linux-fuse-clients.ts";
import { LinuxServers } from "./mount/linux-servers.ts";
import { mountOfByID } from "./mount/mount-of.ts";
import { RoutedMounter } from "./mount/routed-mounter.ts";
import { allTiers, LinuxMountTable } from "./mount-table/linux-mount-table.ts";
import { LinuxNBD } from "./rbd/linux-nbd.ts";
import { LinuxRBD } from "./rbd/linux-rbd.ts";
import { LinuxISCSI, type Turns } from "./scsi/linux-iscsi.ts";
import { LinuxScsi } from "./scsi/linux-scsi.ts";
import type { Libc } from "./syscall/libc.ts";
import { loadMountCalls } from "./syscall/mount-calls.ts";
import { linuxWakes } from "./wakeups/wake-sources.ts";

/** Options of the real host. */
export interface LinuxHostOptions {
  readonly stateDir: string;
  /** Whether an agent has used the state directory before this process. */
  readonly ranBefore: boolean;
  /** Our own program in the role `child`. */
  readonly childCommand: readonly [string, ...string[]];
  readonly system: System;
  readonly libc: Libc;
  /** The node's root as the agent sees it; / if not given. */
  readonly hostRoot?: string;
  readonly flocker?: FlockerPlace;
  /** Ways to keep the mount tables, best first; all if not given. */
  readonly mountTiers?: readonly MountTier[];
  /** A process in the node's mount namespace, if this one is not in it. */
  readonly nodeProcess?: number;
}

/** The real host: all ports on the Linux kernel. */
export interface LinuxHost extends HostPorts {
  readonly mountTable: LinuxMountTable;
  /** Closes what is open beside the journal, and ends the child that waits to be needed. Nothing is used afterwards. */
  close(): void;
}

/** The real node. */
export function linuxHost(options: LinuxHostOptions): LinuxHost {
  const { stateDir, ranBefore, childCommand, system, libc, hostRoot = "/", nodeProcess } = options;
  const flocker = new LinuxFlocker(options.flocker ?? defaultFlocker, hostRoot);
  const { mountTiers: tiers = allTiers } = options;
  const { timers } = system;
  const turns: Turns = new Map();
  // Options of a file system change in both namespaces, and the kernel tells that of one.
  const mountTable: LinuxMountTable = new LinuxMountTable("self", system, tiers, () => nodeTable?.compareNext());
  const nodeTable =
    nodeProcess === undefined
      ? undefined
      : new LinuxMountTable(nodeProcess, system, tiers, () => mountTable.compareNext());
  const calls = loadMountCalls();
  const entering = { command: childCommand, timers };
  const mountOf = mountOfByID(libc, calls);
  const here = (known: MountTable) => new InProcessMounter(libc, known, mountOf);
  const runner = new ChildRunner({ timers, command: childCommand });
  const swaps = new LinuxSwapSource(hostRoot);
  const wakeups = linuxWakes({ libc, system, mountTable, onChildEnded: (ended) => runner.onEnded(ended) });
  return {
    mountTable,
    ...(nodeTable && { nodeTable }),
    directories: new LinuxDirectories({ libc, trash: `${stateDir}/trash`, runner }),
    evidence: new LinuxEvidence(nodeProcess ?? "self", usersByChild(runner), calls, entering),
    traces: new LinuxTraces(
      nodeProcess === undefined ? "/" : `/proc/${nodeProcess}/root`,
      nodeProcess,
      calls,
      entering,
    ),
    servers: new LinuxServers(timers),
    swaps,
    journal: new LinuxJournalFile(`${stateDir}/journal`, ranBefore),
    wakeups,
    close() {
      mountTable.close();
      nodeTable?.close();
      runner.close();
    },
    effects(operation: OperationContext): Effects {
      const child = (waitsFor?: RemoteMount) => new ChildMounter(runner, operation, waitsFor);
      const mounter = new RoutedMounter(mountTable, here, child);
      const devices = new LinuxDevices(mounter, runner, operation);
      const ownership = new LinuxOwnership(mountTable, runner, operation);
      const node = { hostRoot, nodeProcess };
      const programsWithin = (within: OperationContext) =>
        new LinuxPrograms({ table: mountTable, mounter, runner, operation: within, node });
      const programs = programsWithin(operation);
      const layers = new LinuxLayers({ programs, hostRoot });
      const patient = programsWithin({ ...operation, deadlineMs: operation.formatDeadlineMs });
      const swapping = new LinuxSwaps({ source: swaps, programs, patient, hostRoot, timers });
      const repositories = linuxRepositories(runner, operation);
      const images = linuxImages(runner, operation);
      const clients = new LinuxClients({ runner, operation, wakeups, timers, log: system.log, hostRoot });
      const scsi = new LinuxScsi(runner, programs, operation);
      const iscsi = new LinuxISCSI({ runner, operation, turns, wakeups, timers, nodeProcess });
      const rbd = new LinuxRBD(runner, programs, operation);
      const nbd = new LinuxNBD({ runner, operation, hostRoot }, programs, clients);
      const fetched = { repositories, images };
      const disks = { devices, scsi, iscsi, rbd, nbd, layers, swaps: swapping };
      return { mounter, ownership, programs, flocker, clients, ...fetched, ...disks };
    },
  };
}
