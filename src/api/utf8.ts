/** Bytes of a text in UTF-8, which is what kube-apiserver counts. A surrogate alone takes three, as U+FFFD does. */
export function byteLength(text: string): number {
  if (text.length > 64 && /^[\0-\x7f]*$/.test(text)) return text.length
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    length += unit < 0x800 ? 1 : 2
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    if (isPair) i++ // four bytes for two units
  }
  return length
}
