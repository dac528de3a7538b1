/** Octets of headers that cost no request anything beside it. Tokens and a proxy's headers have that many. */
export const SHORT_HEAD = 8_192
