// A status that no Worker's answer can have. The engine writes 500, and where a reason would stand the status that it means
// (codec/respond.ts); no backend's and no client's words get there.

const STATED = /^HTTP\/1\.1 500 ([6-9]\d\d)\r\n/
const LENGTH = 'HTTP/1.1 500 600\r\n'.length
const BEGIN = Buffer.from('HTTP/1.1 500 ')
/** The first digit shows for most answers that nothing has to change. */
const STATUS_AT = 'HTTP/1.1 '.length
const FIVE = 0x35

/**
 * @param data the beginning of an engine's answer
 * @returns the same for the client
 */
export function withStatedStatus(data: Buffer): Buffer {
  if (data[STATUS_AT] !== FIVE || !BEGIN.equals(data.subarray(0, BEGIN.length))) return data
  const status = STATED.exec(data.toString('latin1', 0, LENGTH))?.[1]
  if (status === undefined) return data
  // as Go's server names one that it has no name for
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} status code ${status}\r\n`), data.subarray(LENGTH)])
}
