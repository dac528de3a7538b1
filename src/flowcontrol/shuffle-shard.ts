/**
 * The queues that a flow may use (KEP 1040): a few of many, the same for each of its requests. Two flows seldom share
 * all their queues, so a flow that fills its own leaves empty ones for others.
 */

/**
 * Deals different queues to a flow.
 * @param decks the number of queues
 * @param hand the number of dealt ones
 */
export function dealtQueues(flow: string, decks: number, hand: number): number[] {
  let left = hashOf(flow)
  const dealt: number[] = []
  for (let n = 0; n < Math.min(hand, decks); n++) {
    const remaining = decks - n
    let card = left % remaining
    left = Math.floor(left / remaining)
    // the card counts only those that are still in the deck
    for (const earlier of [...dealt].sort((a, b) => a - b)) if (card >= earlier) card++
    dealt.push(card)
  }
  return dealt
}

/** 53 bits from two FNV-1a hashes, of the text and of the reversed text. */
function hashOf(text: string): number {
  let forwards = 0x811c9dc5
  let backwards = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    forwards = Math.imul(forwards ^ text.charCodeAt(at), 0x01000193)
    backwards = Math.imul(backwards ^ text.charCodeAt(text.length - 1 - at), 0x01000193)
  }
  return (backwards & 0x1fffff) * 2 ** 32 + (forwards >>> 0)
}
