/**
 * Keys are owned by slots: a key's hash names its slot, and each slot belongs to one member by rendezvous
 * hashing. A member that comes or goes moves only its own share of the slots, and who owns a slot follows
 * from the names of the members alone.
 */

/** Enough that sixty members get shares within a few percent of each other. */
export const slotCount = 1_024;

/** A member as the assignment sees it. */
export interface SlotMember {
  /** What is hashed: the same name gets the same slots again. */
  readonly name: string;
  /** Tells members of one name apart. */
  readonly uid: string;
}

export function slotOf(key: string): number {
  return mix(hash(key)) % slotCount;
}

/** The index of each slot's owner in `members`. */
export function assignSlots(members: readonly SlotMember[]): Uint16Array {
  const owners = new Uint16Array(slotCount);
  const seeds = members.map(({ name }) => hash(name));
  for (let slot = 0; slot < slotCount; slot++) owners[slot] = ownerOf(slot, members, seeds);
  return owners;
}

function ownerOf(slot: number, members: readonly SlotMember[], seeds: readonly number[]): number {
  let owner = 0;
  let best = -1;
  for (const [index, seed] of seeds.entries()) {
    const score = mix(seed ^ mix(slot + 1));
    // Equal names have equal scores; the UID decides, so that all members agree.
    const isFirst = score === best && (members[index]?.uid ?? "") < (members[owner]?.uid ?? "");
    if (score < best || (score === best && !isFirst)) continue;
    owner = index;
    best = score;
  }
  return owner;
}

/** FNV-1a over UTF-16 code units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value;
}

/** MurmurHash3's finaliser: each bit of the input decides about half of those of the result. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
