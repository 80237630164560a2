/**
 * `major:minor` that a device node stands for, of what stat(2) says of it as glibc puts it together (gnu_dev_makedev).
 */
export function deviceNumberOf({ rdev }: { readonly rdev: number }): string {
  return `${(rdev >> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >> 12) & 0xfff00)}`;
}
