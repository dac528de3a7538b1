/**
 * Decides which texts of this isolate are packed, and when. The latest ones stay plain, because an object that was
 * written is often written again a moment later. Packing is not urgent, so it goes in slices, after the request that
 * brought the texts.
 */
import { PackedText } from '../api/packed-text.ts'
import { turnOfOthers } from '../api/slices.ts'

/** UTF-16 units of the texts that stay plain: a hundred definitions. */
const MAX_PLAIN = 2 * 1024 * 1024
/** The texts that one turn packs: a millisecond. */
const SLICE = 64 * 1024

/** In the order in which they came. Bound: MAX_PLAIN, once packed; until then what snapshots hold. */
let plain: PackedText[] = []
let length = 0
let begun = 0

export function packedLater(text: string): PackedText {
  const packed = new PackedText(text)
  plain.push(packed)
  length += packed.plainLength
  return packed
}

/** Packs all but the last. It goes on where an earlier call is, which ends: a request may end in the middle of one. */
export async function packOld(turn: () => Promise<void> = turnOfOthers): Promise<void> {
  const mine = ++begun
  while (length > MAX_PLAIN) {
    await turn()
    if (mine !== begun) return
    packSlice()
  }
}

function packSlice(): void {
  let packed = 0
  let count = 0
  while (packed < SLICE && length > MAX_PLAIN) {
    const text = plain[count++]!
    packed += text.plainLength
    length -= text.plainLength
    text.pack()
  }
  plain = plain.slice(count)
}
