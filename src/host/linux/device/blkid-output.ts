/** What blkid(8) has found on a device. */
export interface Found {
  readonly type?: string;
  readonly uuid?: string;
  readonly label?: string;
}

/**
 * PURE. The output of blkid -o udev. Its names are escaped as udev's are, which alone can be read back: -o export
 * writes é and M-CM-) in the same way.
 */
export function parseBlkid(output: string): Found {
  const value = (key: string) => {
    const text = new RegExp(`^${key}=(.+)$`, "m").exec(output)?.[1];
    return text === undefined ? undefined : unescaped(text);
  };
  const type = value("ID_FS_TYPE") ?? value("ID_PART_TABLE_TYPE");
  const uuid = value("ID_FS_UUID_ENC");
  const label = value("ID_FS_LABEL_ENC");
  return {
    ...(type !== undefined && { type }),
    ...(uuid !== undefined && { uuid }),
    ...(label !== undefined && { label }),
  };
}

/** \xHH is a byte, and a backslash is \x5c. */
function unescaped(text: string): string {
  const bytes = Buffer.from(text)
    .toString("latin1")
    .replace(/\\x([\da-f]{2})/g, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
