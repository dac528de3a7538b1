/**
 * Decides which texts of this isolate are packed, and when. The latest ones stay plain, because an object is often
 * written again a moment later. Packing is not urgent, so it runs in slices after the request that brought the texts.
 */
import { PackedText } from '../base/packed-text.ts'
import { turnOfOthers } from '../base/slices.ts'

/** UTF-16 units of the texts that stay plain: a hundred definitions. */
const MAX_PLAIN = 2 * 1024 * 1024
/** UTF-16 units that one turn packs: a millisecond. */
const SLICE = 64 * 1024

/** In the order of arrival. Bound: MAX_PLAIN after packing; until then the texts that snapshots hold. */
let plain: PackedText[] = []
let length = 0
let begun = 0

export function packedLater(text: string): PackedText {
  const packed = new PackedText(text)
  plain.push(packed)
  length += packed.plainLength
  return packed
}

/**
 * Packs all but the latest texts. It continues where an earlier call stopped, because a request may end in the middle
 * of one.
 */
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
