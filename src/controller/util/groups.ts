/** Names in groups: each name is in one group at most. */
export interface Groups<Group extends string = string> {
  /** @returns the group that the name was in before, if it was another */
  put(name: string, group: Group): Group | undefined;
  /** @returns the group that the name was in */
  remove(name: string): Group | undefined;
  of(group: Group): string[];
}

/** An empty index of names by group; a name is in one group at a time. */
export function createGroups<Group extends string = string>(): Groups<Group> {
  const groupOf = new Map<string, Group>();
  const members = new Map<Group, Set<string>>();

  function remove(name: string): Group | undefined {
    const group = groupOf.get(name);
    if (group === undefined) return undefined;
    groupOf.delete(name);
    const rest = members.get(group);
    rest?.delete(name);
    if (rest?.size === 0) members.delete(group);
    return group;
  }

  return {
    put(name, group) {
      if (groupOf.get(name) === group) return undefined;
      const before = remove(name);
      groupOf.set(name, group);
      members.set(group, (members.get(group) ?? new Set()).add(name));
      return before;
    },
    remove,
    of: (group) => [...(members.get(group) ?? [])],
  };
}

/** Objects of a store in such groups. */
export interface ObjectGroups<T, Group extends string = string> extends Omit<Groups<Group>, "of"> {
  /** Those of the group that are in the store now. */
  of(group: Group): T[];
}

/** An empty index of the objects of a store by group. */
export function createObjectGroups<T, Group extends string = string>(store: {
  get(name: string): T | undefined;
}): ObjectGroups<T, Group> {
  const { of, ...groups } = createGroups<Group>();
  return { ...groups, of: (group) => of(group).flatMap((name) => store.get(name) ?? []) };
}
