/** URIs among the alternative names of a certificate or of a request for one, as Go reads them (crypto/x509). */
import { parseReference } from '../go/url.ts'
import { goQuote } from '../go/quote.ts'
import type { AlternativeNames } from './certificate-request.ts'

/** Go's error for the first URI that it cannot read. Programs in Go read nothing of a certificate that has one. */
export function uriProblem({ uris }: AlternativeNames): string | undefined {
  for (const uri of uris) {
    const url = parseReference(uri)
    const why = 'problem' in url ? url.problem : isHost(url.host) ? undefined : 'invalid domain'
    if (why !== undefined) return `x509: cannot parse URI ${goQuote(uri)}: ${why}`
  }
  return undefined
}

/** Labels of visible ASCII, none of them empty. */
const isHost = (host: string): boolean => host === '' || /^[!-\-/-~]+(?:\.[!-\-/-~]+)*$/.test(host)
