import { VolumeError } from "../../../errors.ts";
import type { ProgramResult } from "../../ports/programs.ts";
import { staysMark } from "../child/leave-cgroup.ts";

/**
 * PURE. What is said to cryptsetup(8) to make a header. Its key is derived by Argon2id with 64 MiB, about the second
 * choice of RFC 9106: the same memory is needed at each opening, beside the agent, and cryptsetup's own default is up
 * to 1 GiB (decision 0053).
 */
export function formatArgs(uuid: string): string[] {
  const derivation = [
    "--pbkdf",
    "argon2id",
    "--pbkdf-memory",
    "65536",
    "--pbkdf-parallel",
    "4",
    "--pbkdf-force-iterations",
    "4",
  ];
  return ["luksFormat", "--batch-mode", "--type", "luks2", "--uuid", uuid, ...derivation, "--key-file", "-"];
}

/** Exit codes of cryptsetup(8). */
const exit = { noPermission: 2, outOfMemory: 3, wrongDevice: 4, busy: 5 } as const;

/** PURE. What became of a call of cryptsetup(8) that failed. @param what device or name that it was called for */
export function cryptFailure(what: string, command: string, { code, stdout, stderr }: ProgramResult): VolumeError {
  const words = ((stderr || stdout).trim().split("\n").at(-1) ?? "").slice(-512); // it repeats what it tries again
  const on = { kind: "Device", name: what };
  if (code === exit.noPermission) {
    const message = `the passphrase does not open ${what}: put the right one into the Secret, or add this one to the disk (cryptsetup luksAddKey). It is retried when the Secret changes`;
    return new VolumeError("PassphraseRefused", "final", message, { on });
  }
  if (code === exit.outOfMemory) {
    const [, why] = stderr.split(staysMark);
    const bound =
      why === undefined
        ? ""
        : `, of which it gets 128 MiB as it cannot leave the agent's container (${why.split("\n")[0]})`;
    const message = `${what} is made to be opened with more memory than there is (${words})${bound}: make it need less (cryptsetup luksConvertKey --pbkdf-memory 65536 ${what})`;
    return new VolumeError("SetUpFailed", "transient", message, { on });
  }
  if (code === exit.busy) return new VolumeError("DeviceBusy", "transient", `${what} is in use: ${words}`, { on });
  const reason = command === "luksFormat" ? "FormatFailed" : command === "close" ? "TearDownFailed" : "SetUpFailed";
  return new VolumeError(reason, "transient", `cryptsetup ${command} of ${what} ended with ${code}: ${words}`, { on });
}
