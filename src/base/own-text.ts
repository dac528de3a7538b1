const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/**
 * A copy for a cache. V8 keeps the whole text that a slice was cut from, so a cached line of a list keeps the lines
 * beside it. @param text well-formed UTF-16
 */
export const ownText = (text: string): string => decoder.decode(encoder.encode(text))
