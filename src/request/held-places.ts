/**
 * How many places a request takes that lasts as long as its client likes. The engine keeps a head of 120,000 octets in
 * four times the memory, until the request ends.
 */
import { placesOf } from '../storage/watch/watch-places.ts'
import type { ApiRequest } from './context.ts'
import { SHORT_HEAD } from './short-head.ts'

export const heldPlacesOf = ({ request, headers }: Pick<ApiRequest, 'request' | 'headers'>): number =>
  placesOf(request.url.length + Math.max(0, headers.length - SHORT_HEAD))
