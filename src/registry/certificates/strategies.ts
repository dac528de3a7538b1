import type { Strategy } from '../strategy.ts'
import { certificateSigningRequests } from './certificate-signing-requests.ts'

/** The store hands a strategy only objects of its own kind, decoded by that kind's schema. */
export const certificateStrategies: Readonly<Record<string, Strategy>> = {
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequests as unknown as Strategy,
}
