import type { RequestHeaders } from './request-headers.ts'

/**
 * The IP address of the client. The local server's front sends it beside the request, Cloudflare in a header that
 * clients cannot set.
 */
export function addressSeen({ cf }: Request, headers: Pick<RequestHeaders, 'get'>): string | undefined {
  const address: unknown = cf?.clientAddress
  return typeof address === 'string' ? address : (headers.get('CF-Connecting-IP') ?? undefined)
}
