import type { ApiRequest } from '../../request/context.ts'

/** The client wants to change the protocol of this connection. */
export const wantsUpgrade = ({ headers }: Pick<ApiRequest, 'headers'>): boolean =>
  /\bupgrade\b/i.test(headers.get('Connection') ?? '') && (headers.get('Upgrade') ?? '') !== ''
