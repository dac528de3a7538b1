// Statuses that a Worker's answer cannot have. The engine writes 500, with the real status in place of the reason
// (codec/respond.ts). No text of a backend or a client gets there.

const STATED = /^HTTP\/1\.1 500 ([6-9]\d\d)\r\n/
const LENGTH = 'HTTP/1.1 500 600\r\n'.length
const BEGIN = Buffer.from('HTTP/1.1 500 ')
/** For most answers the first digit of the status shows that nothing has to change. */
const STATUS_AT = 'HTTP/1.1 '.length
const FIVE = 0x35

/**
 * @param data the start of an engine's answer
 * @returns the start of the answer for the client
 */
export function withStatedStatus(data: Buffer): Buffer {
  if (data[STATUS_AT] !== FIVE || !BEGIN.equals(data.subarray(0, BEGIN.length))) return data
  const status = STATED.exec(data.toString('latin1', 0, LENGTH))?.[1]
  if (status === undefined) return data
  // Go's server writes this reason for a status without a name
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} status code ${status}\r\n`), data.subarray(LENGTH)])
}
