/** A unix socket in the file system. */
export interface SocketFile {
  readonly path: string;
  /** Another one for each file that has had the path. */
  readonly identity: string;
}

/** Unix sockets of the node that others make: where drivers and their registrars listen. */
export interface Sockets {
  /** What is at a path, links followed; undefined if nothing. */
  kindOf(path: string): Promise<"socket" | "other" | undefined>;
  /**
   * @param onChange called soon after something came, went or was renamed in what the last read has gone through.
   *   Nothing rests on it: where the kernel tells of nothing, whoever reads does so from time to time
   */
  watch(directory: string, onChange: () => void): WatchedSockets;
}

/** The sockets of a directory, and whether changes of it are reported. */
export interface WatchedSockets {
  /**
   * Every socket in the directory and those beneath it, oldest first. Names that begin with a dot are left out; links
   * to directories are not followed. Nothing, if there is no such directory. Rejects if it cannot be read completely.
   */
  read(): Promise<readonly SocketFile[]>;
  /** The reason why changes cannot be watched; undefined if they are watched. */
  unavailable(): string | undefined;
  close(): void;
}
