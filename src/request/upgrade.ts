import type { RequestHeaders } from './request-headers.ts'

/**
 * Whether the client wants to change the protocol of this connection (RFC 9110, section 7.8). A platform in front of a
 * Worker may keep `Connection` to itself, because it is about the platform's connection.
 */
export const wantsUpgrade = (headers: RequestHeaders): boolean =>
  connectionUpgrades(headers) && (headers.get('Upgrade') ?? '') !== ''

/** Whether `Connection` says so, whatever the protocol. */
export const connectionUpgrades = (headers: RequestHeaders): boolean =>
  /\bupgrade\b/i.test(headers.get('Connection') ?? (headers.get('Upgrade') === null ? '' : 'upgrade'))

export const wantsWebSocket = (headers: RequestHeaders): boolean =>
  connectionUpgrades(headers) && headers.get('Upgrade')?.toLowerCase() === 'websocket'
