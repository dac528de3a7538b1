/**
 * Makes the values of `Warning` headers, one for each text (apiserver's filters/warning, apimachinery's
 * NewWarningHeader).
 */

/** If all texts exceed this many characters, each is cut to `MAX_TEXT`, and the answer has only those that fit. */
const MAX_TOTAL = 4096
const MAX_TEXT = 256

/** Drops repeated texts and texts with control characters. */
export function warningHeaders(texts: readonly string[]): string[] {
  const once = [...new Set(texts)].filter((text) => text !== '')
  if (once.length === 0) return []
  if (lengthOf(once) <= MAX_TOTAL) return once.filter(isSendable).map(header)
  return truncated(once).filter(isSendable).map(header)
}

const characters = (text: string): string[] => [...text]
const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + (isSendable(text) ? characters(text).length : 0), 0)

/** Keeps texts up to the one that exceeds the limit, with that text. */
function truncated(texts: readonly string[]): string[] {
  const out: string[] = []
  let whole = 0
  let written = 0
  for (const text of texts) {
    if (!isSendable(text)) continue
    whole += characters(text).length
    if (written >= MAX_TOTAL && whole > MAX_TOTAL) break
    const cut = characters(text).slice(0, MAX_TEXT)
    written += cut.length
    out.push(cut.join(''))
  }
  return out
}

const isSendable = (text: string): boolean => !/[\0-\x1f\x7f-\x9f]/.test(text)

/** The engine writes header values in UTF-8, as kube-apiserver does. */
const header = (text: string): string => `299 - "${text.replace(/["\\]/g, '\\$&')}"`
