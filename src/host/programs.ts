/**
 * Programs that stand on the node and set volumes up by means of their own: vendors' drivers. They run as the node's own programs do:
 * in its mount namespace, whatever the agent's.
 */
export interface Programs {
  /**
   * What tells the program at a path of the node from another that comes in its place; undefined if nothing that may be run is there.
   * @throws VolumeError
   */
  identify(path: string): Promise<string | undefined>;
  /**
   * Runs the program without a shell, in a disposable child that leads a process group of its own. At the deadline the whole group is
   * killed.
   * @throws VolumeError TimedOut, OperationAbandoned: uncertain; ToolMissing
   */
  run(path: string, args: readonly string[]): Promise<ProgramResult>;
}

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
