/** The other side does not speak SPDY, or more of it than is held: the connection ends. */
export class SpdyError extends Error {}
