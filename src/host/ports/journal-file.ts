/** The file that the journal is in. All reject with VolumeError. */
export interface JournalFile {
  /** The whole journal; empty if there was one that is gone, undefined if there never was. */
  read(): Promise<string | undefined>;
  /** Appends text and makes it durable. */
  append(text: string): Promise<void>;
  /** Replaces the whole journal, atomically and durably. */
  replace(text: string): Promise<void>;
  /**
   * Keeps the journal as it is, byte by byte, durably, in a file beside it. A copy that is there already is never
   * written over; one that is equal serves. @returns the path of the copy
   */
  keepCopy(suffix: string): Promise<string>;
  /** Lets go of the file. It may be used again afterwards. */
  close(): Promise<void>;
}
